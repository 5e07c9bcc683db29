# SPDX-License-Identifier: GPL-2.0
"""Workloads in rt-app's JSON (https://github.com/scheduler-tools/rt-app, doc/tutorial.txt).

What is taken:

    top         tasks, global, resources (which has no effect in rt-app, either)
    global      duration, default_policy; calibration and what is about logs has no effect;
                with pi_enabled all mutexes are PTHREAD_PRIO_INHERIT
    task        instance, loop, phases, policy, priority, cpus, delay, saakm, and events if there are
                no phases
    phase       loop, policy, priority, cpus, saakm, events
    events      run, runtime, sleep, timer, lock, unlock, wait, signal, broad, sync, barrier, suspend, resume,
                yield, fork; with a number, or _ or - and a word, behind it; a key of an event, or the
                name of a phase, may come again (as for workgen; rt-app itself takes the last
                one only: rtapp_export.py numbers them)

Whatever else there is gets refused by name. Where rt-app's documentation, its code and its
versions differ:

    - SCHED_OTHER means the policy that the run is for, as it is the default of each file. The extension
      `"saakm": "NAME"` of a task or phase says which policy of SaaKM instead, and `"saakm": "fair"`
      that it is the kernel's fair class. rt-app ignores the key.
    - `loop` of a task without phases is how often the events happen at all (rt-app 1.0, which Debian
      has, repeats them for ever).
    - `sync` locks and unlocks its mutex, as documented, unless the task holds it (the code
      of rt-app never does).
    - a phase's policy is set each time that the phase begins, and its CPUs when they differ from
      the phase before. rt-app 1.0 ignores policies of phases, and does not know `fork`.
    - a timer of a forked task would count from the start of the run in rt-app; here from the fork.
    - a `priority` of SCHED_IDLE is refused, which rt-app ignores.

Results have an iteration for each round of a phase, and the mark `timer`: from when a timer was
due until the thread went on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .builder import Builder, ThreadBuilder
from .errors import Place, quoted, refusal
from .located import Member, parse
from .program import CpuList, Program
from .rtapp_events import Events, Task
from .rtapp_keys import LOGGING, Fields, integer, members_of, wrong_type
from .rtapp_policy import Attributes, attributes_of, cpu_list, default_attributes

_RESOURCES = (
    "mutex",
    "timer",
    "wait",
    "signal",
    "broadcast",
    "sync",
    "barrier",
    "suspend",
    "resume",
)
_PHASE = ("loop", "policy", "priority", "cpus", "saakm")
_TASK = (*_PHASE, "instance", "delay", "phases")
_MAX_INSTANCES = 1_000_000
_MAX_SECONDS = 1_000_000
_US = 1_000
_S = 1_000_000_000


def read(path: Path, cpus: int) -> Program:
    """`cpus`: how many the simulated machine has."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors begin it with a mark
    except OSError as error:
        raise refusal(Place(str(path)), "it cannot be read", str(error), "name a file") from error
    except UnicodeError as error:
        raise refusal(
            Place(str(path)), "this is no text in UTF-8", str(error), "save it as JSON in UTF-8"
        ) from error
    return translate(text, str(path), cpus)


def translate(text: str, file: str, cpus: int) -> Program:
    root = Fields(parse(text, file), "the file", ("tasks", "global", "resources"))
    default, duration_ns, pi = _global(root.get("global"))
    _check_resources(root.get("resources"))
    found = root.get("tasks")
    if found is None:
        raise root.refuse(root.place, "no 'tasks'", "there is nothing to run")
    bodies = _bodies(members_of(found.node, "'tasks'"))
    build = Builder()
    tasks = {
        name: Task(
            number,
            name,
            body.integer("instance", 1, 0, _MAX_INSTANCES),
            _phases(body),
            body_is_phase=body.get("phases") is None,
        )
        for number, (name, body) in enumerate(bodies.items())
    }
    events = Events(build, tasks, pi)
    for name, body in bodies.items():
        _add_task(build, tasks[name], body, events, default, cpus)
    events.declare()
    return build.program(file, duration_ns)


def _global(member: Member | None) -> tuple[Attributes, int | None, bool]:
    """The default policy, how long the run is to last, and whether mutexes have priority inheritance."""
    if member is None:
        return default_attributes(None), None, False
    allowed = ("duration", "default_policy", "pi_enabled", *LOGGING)
    fields = Fields(member.node, "'global'", allowed)
    for key, kinds in LOGGING.items():
        if (found := fields.get(key)) and type(found.node.value) not in kinds:
            raise wrong_type(found, " or ".join(kind.__name__ for kind in kinds))
    pi = fields.get("pi_enabled")
    if pi and not isinstance(pi.node.value, bool):
        raise wrong_type(pi, "true or false")
    seconds = fields.integer("duration", -1, -1, _MAX_SECONDS)
    if seconds == 0:
        raise fields.refuse(fields.place, "a duration of 0", "nothing would run", "-1 is: no end")
    duration_ns = None if seconds < 0 else seconds * _S
    inherits = bool(pi and pi.node.value)
    return default_attributes(fields.get("default_policy")), duration_ns, inherits


def _check_resources(member: Member | None) -> None:
    for one in members_of(member.node, "'resources'") if member else []:
        fields = Fields(one.node, f"the resource {quoted(one.key)}", ("type",))
        if (kind := fields.string("type")) not in _RESOURCES:
            raise fields.refuse(one.node.place, f"the type {quoted(kind)}", "it is not known here")


def _bodies(members: tuple[Member, ...]) -> dict[str, Fields]:
    bodies: dict[str, Fields] = {}
    for task in members:
        what = f"the task {quoted(task.key)}"
        if task.key in bodies:
            why = "there are two of the name"
            raise refusal(task.place, what, why, "name one differently")
        bodies[task.key] = fields = Fields(task.node, what, _TASK, events=True)
        if fields.get("phases") and fields.events:
            first, why = fields.events[0], "rt-app ignores events beside phases"
            raise fields.refuse(first.place, quoted(first.key), why, "put it into a phase")
    return bodies


def _phases(body: Fields) -> list[Fields]:
    """A task without phases is one itself."""
    phases = body.get("phases")
    if phases is None:
        found = [body]
    else:
        members = members_of(phases.node, "'phases'")
        found = [
            Fields(one.node, f"the phase {quoted(one.key)}", _PHASE, events=True) for one in members
        ]
    for phase in found or [body]:
        if not phase.events:
            why = "rt-app wants at least one event, as run or sleep"
            raise phase.refuse(phase.place, "no event", why)
    return found


def _add_task(
    build: Builder, task: Task, body: Fields, events: Events, default: Attributes, cpus: int
) -> None:
    delay = body.get("delay")
    if delay and task.name in events.forked:
        why = "the task is forked, and rt-app counts from the start of the run"
        raise body.refuse(delay.place, "'delay'", why, "use `sleep`")
    own = attributes_of(body, default) or default
    masks = [_cpus(phase, _cpus(body, CpuList(), cpus), cpus) for phase in task.phases]
    events.begin_task()
    build.line = body.place.line
    with (
        build.group(
            task.name,
            task.instances,
            start_ns=integer(delay, 0) * _US if delay else 0,
            policy=own.policy,
            nice=own.nice,
            cpus=masks[0],
        ) as thread,
        _rounds(thread, body, -1),
    ):
        _add_phases(thread, task, masks, own, events)


def _add_phases(
    thread: ThreadBuilder, task: Task, masks: list[CpuList], now: Attributes, events: Events
) -> None:
    whole = task.body_is_phase
    for index, phase in enumerate(task.phases):
        thread.line = phase.place.line
        # The phase before the first is the last.
        if masks[index] != masks[index - 1]:
            thread.set_cpus(masks[index])
        if not whole and (new := attributes_of(phase, now)):
            now = new
            thread.set_policy(new.policy)
            if not new.real_time:
                thread.set_nice(new.nice)
        with _rounds(thread, None if whole else phase, 1):
            for event in phase.events:
                events.add(thread, task, event)
            thread.iteration()


@contextmanager
def _rounds(thread: ThreadBuilder, fields: Fields | None, default: int) -> Iterator[None]:
    """As often as `loop` says, which -1 makes for ever."""
    rounds = fields.integer("loop", default, -1) if fields else default
    if fields and rounds == 0:
        raise fields.refuse(fields.place, "a loop of 0", "rt-app never ends it", "-1 is: for ever")
    thread.line = fields.place.line if fields else thread.line
    if rounds == 1:
        yield
        return
    with thread.forever() if rounds < 0 else thread.loop(rounds):
        yield


def _cpus(fields: Fields, default: CpuList, cpus: int) -> CpuList:
    member = fields.get("cpus")
    return cpu_list(member, cpus) if member else default
