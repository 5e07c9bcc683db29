# SPDX-License-Identifier: GPL-2.0
"""A new policy out of a shipped one: the same code under a new name, with lessons in it.

There is one copy of each policy. What is added here stands before the function
that answers an event, wherever the policy has it.
"""

import re
import textwrap

from ..base import paths
from ..builder.leftovers import LOCK
from ..builder.modules import OWN_MODULES
from ..builder.names import fault_in_form
from ..builder.policies import LIB

# What the author has to decide in each routine.
LESSONS = {
    "new_prepare": "Where shall a thread start? Any CPU that it may use; a wish, so change nothing here.",
    "unblock_prepare": "Where shall a waking thread run? A wish, as in new_prepare.",
    "new_place": "Which queue of this core, and with what data? A new thread must be queued here.",
    "unblock_place": "Which queue of this core, and what has the thread earned by sleeping?",
    "requeue": "Where does a thread wait that had the CPU and could go on?",
    "block": "What is to be remembered of a thread that stops being runnable?",
    "tick": "Has the running thread had enough? SAAKM_READY_TICK asks for an election.",
    "running": "What is to be noted when an elected thread gets the CPU?",
    "wakeup_preempt": "Shall the woken thread take the CPU at once? True asks for an election.",
    "attr_changed": "Does a new nice value or parameter change who should run?",
    "schedule": "Who runs next: a thread queued on this core, or the current one? Change nothing "
    "here: the core may ask again, and may run another.",
    "newly_idle": "This core has nothing to run: from which queue may it take a thread?",
    "balancing_select": "Time to look around: who has too much? See balance_interval_ms.",
    "init": "Which kind of queue: FIFO, or LIST and RBTREE with an order of your own?",
}
# For functions that answer several events.
_SHARED: dict[tuple[str, ...], str] = {
    ("new_prepare", "unblock_prepare"): "Where shall a thread run that starts or wakes? Any CPU "
    "that it may use; a wish, so change nothing here.",
    ("new_place", "unblock_place"): "Which queue of this core? Called when a thread starts, wakes, "
    "or leaves the CPU and could go on. It must be queued here.",
}
_PROMISES = {
    True: "What does saakm check hold it to? saakm check --list says what there is.",
    False: 'To promise it: MODULE_INFO(saakm_promises, "fairness"). saakm check --list',
}
_PER_THREAD = "What must be remembered of each thread? The class allocates it, zeroed."
_HEADER = """\
// SPDX-License-Identifier: GPL-2.0
/*
 * {name}: say here who runs, where, and for how long.
 *
 * Made from {origin}. Each routine, its context and its default: <linux/saakm.h>.
 */
"""
_README = """\
# {name}
Say in three lines who runs, where, and for how long; and what is special about it. Made from
{origin}.

**Parameters:** {parameters}. **Balancing:** see {name}.c.

**Production ready?** No.
"""
_WIDTH = 80
_TAB = 8
# Identifiers in the shipped policies that another name would collide with are found in the code.
_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto
if inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while asm typeof bool true false NULL"""
# NAME_init() and the like exist in the kernel's headers.
_TAKEN_PREFIXES = """sched module task cpu cpuset cpumask percpu kernel init current rcu irq list rb
rbtree mutex spin timer hrtimer workqueue work page mem idle topology rq fork exit user cred signal
thread core policy event process trace perf bpf saakm"""
# Of the class's functions, and of policies that saakm cost loads.
_OUR_PREFIXES = ("saakm_", "bystander")


def fault_in_name(name: str, source: str) -> str | None:
    """Why a policy made of `source` cannot be called `name`."""
    if why := fault_in_form(name):
        return why
    if name in (LIB, LOCK, *_our_modules()) or name.startswith(_OUR_PREFIXES):
        return "SaaKM's own files or modules are called so"
    if name in _KEYWORDS.split():
        return "it is a word of C"
    if name in _TAKEN_PREFIXES.split():
        return f"the kernel has functions called {name}_*"
    if re.search(rf"\b{name}(_\w+)?\b", source):
        return "the code already uses this name for something else"
    return None


def _our_modules() -> list[str]:
    """They are built beside policies. Of the guest tests' a checkout alone has the directories."""
    return [path.name for path in (*OWN_MODULES, *paths.GUEST_MODULES.glob("*"))]


def policy_files(name: str, origin: str, source: str) -> dict[str, str]:
    """The files of a new policy by name; `source` is the C file of the policy `origin`."""
    parameters = ", ".join(f"`{p}`" for p in re.findall(r"module_param\((\w+)", source)) or "none"
    return {
        f"{name}.c": policy_source(name, origin, source),
        "Kbuild": f"# SPDX-License-Identifier: GPL-2.0\nobj-m := {name}.o\n",
        "README.md": _README.format(name=name, origin=origin, parameters=parameters),
    }


def policy_source(name: str, origin: str, source: str) -> str:
    body = source[source.index("#include") :]
    body = _teach(body)
    body = _rename(body, origin, name)
    body = re.sub(r'(MODULE_DESCRIPTION\(")[^"]*', rf"\g<1>SaaKM: {name}", body)
    return _HEADER.format(name=name, origin=origin) + body


def _teach(body: str) -> str:
    """Puts each lesson before the function that its routine names."""
    routines: dict[str, list[str]] = {}
    for routine, function in re.findall(r"^\t\.(\w+)\s*= (\w+),$", body, re.M):
        if routine in LESSONS:
            routines.setdefault(function, []).append(routine)
    for function, answers in routines.items():
        lesson = _SHARED.get(tuple(answers)) or LESSONS[answers[0]]
        definition = rf"^static [\w *]+\b{function}\("
        body = re.sub(
            definition, _comment(lesson).replace("\\", r"\\") + r"\g<0>", body, flags=re.M
        )
    promises = re.search(r"^MODULE_INFO\(saakm_promises", body, re.M)
    at = promises or re.search(r"^MODULE_DESCRIPTION", body, re.M)
    assert at, "a policy describes itself"
    body = body[: at.start()] + _comment(_PROMISES[bool(promises)]) + body[at.start() :]
    return re.sub(r"^struct \w+_task \{", lambda m: _comment(_PER_THREAD) + m[0], body, flags=re.M)


def _comment(text: str) -> str:
    if len(text) <= _WIDTH - 6:
        return f"/* {text} */\n"
    lines = textwrap.wrap(text, _WIDTH - 3)
    return "/*\n" + "".join(f" * {line}\n" for line in lines) + " */\n"


def _rename(body: str, old: str, new: str) -> str:
    """Renames what has file scope; members may be named after what they are."""
    outer = "\n".join(line for line in body.split("\n") if line[:1] not in ("\t", " "))
    names = {*re.findall(rf"\b{old}(?:_\w+)?\b", outer)}
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(names, key=len, reverse=True))})\b")
    lines = body.split("\n")
    renamed = [pattern.sub(lambda m: new + m[0][len(old) :], line) for line in lines]
    return "\n".join(_aligned(lines, renamed))


def _aligned(lines: list[str], renamed: list[str]) -> list[str]:
    """Continuation lines stay below the parenthesis that they continue."""
    before = after = 0
    result = []
    for old, line in zip(lines, renamed):
        continues = before and _indent(old) == before
        if continues:
            line = "\t" * (after // _TAB) + " " * (after % _TAB) + line.lstrip()
        if not continues or _open_column(old) or old.count(")") > old.count("("):
            before, after = _open_column(old), _open_column(line)
        result.append(line)
    return result


def _open_column(line: str) -> int:
    """The column after the last parenthesis that the line leaves open; 0 if none."""
    columns, column = [], 0
    for char in line:
        column += _TAB - column % _TAB if char == "\t" else 1
        if char == "(":
            columns.append(column)
        elif char == ")" and columns:
            columns.pop()
    return columns[-1] if columns else 0


def _indent(line: str) -> int:
    expanded = line.expandtabs(_TAB)
    return len(expanded) - len(expanded.lstrip())
