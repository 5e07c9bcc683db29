// SPDX-License-Identifier: GPL-2.0
//! The system calls of an agent, and the device that has them.

use std::ptr::null_mut;

use nix::errno::Errno;
use saakm::failure::Failure;
use saakm::host::Host;

use crate::area::Area;
use crate::cpus::Cpus;
use crate::protocol::{self, Attach, Page, State, NAME_LEN, PROTOCOL, STATE_MAX};
use crate::system::{self, File};

/// What an agent asks of the kernel. Tests have a kernel of their own.
pub trait Bridge {
    /// Carries out the decisions, and returns when there is something to do.
    fn park(&self) -> Result<(), Errno>;
    /// Carries out the decisions.
    fn submit(&self) -> Result<(), Errno>;
    /// Leaves a state to the next agent.
    fn save(&self, state: &[u8]) -> Result<(), Errno>;
    /// Takes the state that the last one has left.
    fn load(&self) -> Result<Vec<u8>, Errno>;
}

/// /dev/saakm_user, opened and attached by the thread that has this.
pub struct Device {
    file: File,
    /// Whom this agent has replaced, in the kernel's words; or nothing.
    pub sentence: String,
}

impl Device {
    /// Becomes the agent of a set of CPUs. The calling thread is in the policy already.
    pub fn attach(
        host: &Host,
        cpus: &Cpus,
        flags: u32,
        name: &str,
    ) -> Result<(Self, Area), Failure> {
        let what = format!("cannot schedule CPUs {cpus}");
        let file = File::open(host).map_err(|why| {
            Failure::new(&what, why).hint("load the policy with: saakmctl load user; and be root")
        })?;
        let mut attach = Attach {
            protocol: PROTOCOL,
            flags,
            cpus: cpus.words().as_ptr() as u64,
            cpus_bytes: size_of_val(cpus.words()) as u32,
            unused: 0,
            name: [0; NAME_LEN],
            sentence: [0; 128],
        };
        // The last byte stays 0.
        for (to, from) in attach.name[..NAME_LEN - 1].iter_mut().zip(name.bytes()) {
            *to = from;
        }
        let result = file.ioctl(protocol::ATTACH, std::ptr::addr_of_mut!(attach).cast());
        let sentence = text_of(&attach.sentence);
        result.map_err(|errno| explain(&what, errno, &sentence))?;
        let area = map(&file).map_err(|why| Failure::new(&what, why))?;
        Ok((Device { file, sentence }, area))
    }
}

fn explain(what: &str, errno: Errno, sentence: &str) -> Failure {
    let why = match sentence {
        "" => format!("the kernel refused it ({errno:?}: {})", errno.desc()),
        sentence => sentence.to_owned(),
    };
    let failure = Failure::new(what, why);
    match errno {
        Errno::EBUSY => failure.hint("--take-over replaces the agent that has them"),
        Errno::EPROTO => failure.hint("use the schedulers that come with this kernel module"),
        _ => failure,
    }
}

fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

/// The first page says how long the whole is.
fn map(file: &File) -> Result<Area, String> {
    let failed = |error| format!("its memory cannot be mapped: {error}");
    let page = file.map(4096).map_err(failed)?;
    // SAFETY: the page is mapped, and the kernel has filled it in. It writes other fields by now,
    // so there may be no reference to the whole.
    let bytes = unsafe {
        let bytes =
            std::ptr::addr_of!((*page.cast::<Page>().as_ptr()).bytes).read_volatile() as usize;
        system::unmap(page, 4096);
        bytes
    };
    if bytes < 4096 {
        return Err(format!("its memory would have {bytes} bytes"));
    }
    let base = file.map(bytes).map_err(failed)?;
    // SAFETY: it is the mapping just made.
    unsafe { Area::from_mapping(base, bytes) }.map_err(|why| format!("its memory: {why}"))
}

impl Device {
    /// As much as there is room for; returns how much there is.
    fn load_into(&self, room: &mut [u8]) -> Result<usize, Errno> {
        let mut argument = State {
            data: room.as_mut_ptr() as u64,
            bytes: room.len() as u64,
        };
        self.file
            .ioctl(protocol::LOAD, std::ptr::addr_of_mut!(argument).cast())?;
        Ok(argument.bytes as usize)
    }
}

impl Bridge for Device {
    #[inline]
    fn park(&self) -> Result<(), Errno> {
        self.file.ioctl(protocol::PARK, null_mut()).map(drop)
    }

    fn submit(&self) -> Result<(), Errno> {
        self.file.ioctl(protocol::SUBMIT, null_mut()).map(drop)
    }

    fn save(&self, state: &[u8]) -> Result<(), Errno> {
        let mut argument = State {
            data: state.as_ptr() as u64,
            bytes: state.len() as u64,
        };
        self.file
            .ioctl(protocol::SAVE, std::ptr::addr_of_mut!(argument).cast())
            .map(drop)
    }

    fn load(&self) -> Result<Vec<u8>, Errno> {
        // All agents of a process load at once, and the greatest state for each may be more than
        // its arena has: ask for the length first.
        let bytes = self.load_into(&mut [])?;
        let mut state = vec![0; bytes.min(STATE_MAX)];
        let bytes = self.load_into(&mut state)?;
        state.truncate(bytes);
        Ok(state)
    }
}
