// SPDX-License-Identifier: GPL-2.0
//! The system of an agent whose kernel is a simulator in another process: what it asks for goes
//! there through a socket. Each agent has a thread, as elsewhere, and the simulator waits for it.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};
use std::mem::{offset_of, size_of};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::slice;

use nix::errno::Errno;

use crate::protocol::{self, Attach, State};

/// As in sim/start/elsewhere.c.
#[derive(Clone, Copy)]
enum Kind {
    Settle,
    Join,
    Open,
    Ioctl,
    Map,
    Close,
    Exists,
    Nudge,
    Computes,
    Ended,
}

const NO_POINTER: u64 = u64::MAX;

/// The one simulator of this thread, if it is an agent there.
pub(crate) struct Link {
    socket: UnixStream,
    /// The process of the simulator.
    simulator: u32,
    tid: Cell<i32>,
    /// Messages that get no answer, and go out with the next one that does.
    unsent: RefCell<Vec<u8>>,
    over: Cell<bool>,
    rounds: Cell<u64>,
    /// The agent is to end by itself after so many rounds, each time.
    ends_after: Option<u64>,
}

thread_local! {
    static OWN: RefCell<Option<Rc<Link>>> = const { RefCell::new(None) };
}

/// Of the calling thread; None: its kernel is the one of this machine.
pub(crate) fn own() -> Option<Rc<Link>> {
    OWN.with_borrow(Clone::clone)
}

impl Link {
    /// The calling thread is an agent from now on.
    pub(crate) fn begin(socket: UnixStream, simulator: u32, ends_after: Option<u64>) -> Rc<Self> {
        let link = Rc::new(Link {
            socket,
            simulator,
            tid: Cell::new(0),
            unsent: RefCell::new(Vec::new()),
            over: Cell::new(false),
            rounds: Cell::new(0),
            ends_after,
        });
        OWN.set(Some(link.clone()));
        link
    }

    /// Waits until the simulator wants this agent. False: it has ended.
    pub(crate) fn is_wanted(&self) -> bool {
        self.rounds.set(0);
        let answer = self.answer(&mut []);
        answer.map(|tid| self.tid.set(tid as i32)).is_ok()
    }

    /// This agent has ended.
    pub(crate) fn has_ended(&self) {
        self.say(Kind::Ended, 0, 0);
        // Nobody is left to tell if that fails.
        let _ = self.send();
    }

    /// The id of the thread in the simulator.
    pub(crate) fn tid(&self) -> i32 {
        self.tid.get()
    }

    pub(crate) fn settle_on(&self, words: &[u64]) -> Result<(), Errno> {
        let mut text: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.call(Kind::Settle, [0, 0, NO_POINTER], &mut text)
            .map(drop)
    }

    pub(crate) fn join_policy(&self, name: &str) -> Result<(), Errno> {
        let mut text = name.as_bytes().to_vec();
        self.call(Kind::Join, [0, 0, NO_POINTER], &mut text)
            .map(drop)
    }

    pub(crate) fn exists(&self, pid: u32) -> bool {
        let exists = self.call(Kind::Exists, [pid.into(), 0, NO_POINTER], &mut []);
        exists.is_ok_and(|exists| exists != 0)
    }

    pub(crate) fn nudge(&self, tid: i32) {
        self.say(Kind::Nudge, tid as u64, 0);
    }

    /// The agent has gone round. True: it is to end.
    pub(crate) fn computes(&self, events: u64, decisions: u64) -> bool {
        self.say(Kind::Computes, events, decisions);
        self.rounds.set(self.rounds.get() + 1);
        self.over.get() || Some(self.rounds.get()) == self.ends_after
    }

    pub(crate) fn open(&self) -> Result<(), Errno> {
        let mut text = protocol::DEVICE.as_bytes().to_vec();
        self.call(Kind::Open, [0, 0, NO_POINTER], &mut text)
            .map(drop)
    }

    pub(crate) fn close(&self) {
        // What could be done if it failed? The simulator has ended then.
        let _ = self.call(Kind::Close, [0, 0, NO_POINTER], &mut []);
    }

    /// The memory of the device, as a file.
    pub(crate) fn memory(&self) -> Result<std::fs::File, Errno> {
        let fd = self.call(Kind::Map, [0, 0, NO_POINTER], &mut [])?;
        let path = format!("/proc/{}/fd/{fd}", self.simulator);
        let opened = std::fs::File::options().read(true).write(true).open(path);
        opened.map_err(|error| errno_of(&error))
    }

    /// # Safety
    /// The argument is what this request takes, and so is all that it refers to.
    pub(crate) unsafe fn ioctl(&self, request: u32, argument: *mut u8) -> Result<i32, Errno> {
        // SAFETY: as the caller says.
        unsafe {
            match request {
                protocol::ATTACH => {
                    let attach = &mut *argument.cast::<Attach>();
                    let (data, bytes) = (attach.cpus, attach.cpus_bytes as usize);
                    let at = offset_of!(Attach, cpus);
                    let result = self.refers(request, attach, at, data as *mut u8, bytes);
                    attach.cpus = data;
                    result
                }
                protocol::SAVE | protocol::LOAD => {
                    let state = &mut *argument.cast::<State>();
                    let (data, bytes) = (state.data, state.bytes as usize);
                    let at = offset_of!(State, data);
                    let result = self.refers(request, state, at, data as *mut u8, bytes);
                    state.data = data;
                    result
                }
                _ => self.call(Kind::Ioctl, [request.into(), 0, NO_POINTER], &mut []),
            }
        }
    }

    /// A request whose argument has, at an offset, the address of so many bytes.
    ///
    /// # Safety
    /// These bytes may be read, and written if the request writes there.
    unsafe fn refers<T>(
        &self,
        request: u32,
        argument: &mut T,
        at: usize,
        data: *mut u8,
        bytes: usize,
    ) -> Result<i32, Errno> {
        let size = size_of::<T>();
        // SAFETY: arguments of the protocol are numbers, with no gaps between them.
        let own = unsafe { slice::from_raw_parts_mut((&raw mut *argument).cast::<u8>(), size) };
        let mut text = own.to_vec();
        // SAFETY: as the caller says; of no bytes the address may be anything.
        if bytes > 0 {
            text.extend(unsafe { slice::from_raw_parts(data, bytes) });
        }
        let numbers = [request.into(), size as u64, at as u64];
        let result = self.call(Kind::Ioctl, numbers, &mut text);
        own.copy_from_slice(&text[..size]);
        if request == protocol::LOAD && bytes > 0 {
            // SAFETY: LOAD writes there.
            unsafe { slice::from_raw_parts_mut(data, bytes) }.copy_from_slice(&text[size..]);
        }
        result
    }

    /// A message that gets no answer.
    fn say(&self, kind: Kind, a: u64, b: u64) {
        self.put(kind, [a, b, NO_POINTER], &[]);
    }

    fn put(&self, kind: Kind, [a, b, pointer_at]: [u64; 3], text: &[u8]) {
        let mut unsent = self.unsent.borrow_mut();
        let numbers = [kind as u64, a, b, pointer_at, text.len() as u64];
        unsent.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
        unsent.extend(text);
    }

    fn send(&self) -> io::Result<()> {
        let mut unsent = self.unsent.borrow_mut();
        (&self.socket).write_all(&unsent)?;
        unsent.clear();
        Ok(())
    }

    /// `text` becomes what the simulator has made of it.
    fn call(&self, kind: Kind, numbers: [u64; 3], text: &mut [u8]) -> Result<i32, Errno> {
        self.put(kind, numbers, text);
        let answered = self.send().and_then(|()| self.answer(text));
        let result = answered.map_err(|error| {
            self.over.set(true);
            errno_of(&error)
        })?;
        match i32::try_from(result) {
            Ok(result) if result >= 0 => Ok(result),
            _ => Err(Errno::from_raw(result.wrapping_neg() as i32)),
        }
    }

    fn answer(&self, text: &mut [u8]) -> io::Result<i64> {
        let mut numbers = [0; 24];
        (&self.socket).read_exact(&mut numbers)?;
        let number =
            |at: usize| u64::from_ne_bytes(numbers[at..at + 8].try_into().expect("8 bytes"));
        if number(8) != 0 {
            self.over.set(true);
        }
        (&self.socket).read_exact(text)?;
        Ok(number(0) as i64)
    }
}

fn errno_of(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EPIPE, Errno::from_raw)
}
