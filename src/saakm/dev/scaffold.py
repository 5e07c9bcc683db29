# SPDX-License-Identifier: GPL-2.0
"""A new policy out of a shipped one: the same code under a new name, with lessons in it.

There is one copy of each policy. What is added here stands before the function
that answers an event, wherever the policy has it, or before the line of
SAAKM_POLICY() that names a ready-made one.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping

from ..base import paths
from ..builder.leftovers import LOCK
from ..builder.modules import OWN_MODULES
from ..builder.names import fault_in_form
from ..builder.policies import LIB
from .clashes import fault_in_compiler

# What the author has to decide in each handler, and by each attribute.
LESSONS = {
    "prepare": "Where shall a thread run that starts or wakes? Any CPU that it may use; a wish, "
    "so change nothing here.",
    "new_prepare": "Where shall a thread start? Any CPU that it may use; a wish, so change nothing here.",
    "unblock_prepare": "Where shall a waking thread run? A wish, as in new_prepare.",
    "place": "With what key, or in which queue, does a thread wait that starts or wakes? The class "
    "inserts it in core->rq if you have not queued it.",
    "new_place": "With what key, or in which queue, does a new thread wait? The class inserts it in "
    "core->rq if you have not queued it.",
    "unblock_place": "What has the thread earned by sleeping? As new_place.",
    "requeue": "Where does a thread wait that had the CPU and could go on?",
    "block_delay": "Shall a thread that goes to sleep stay queued until it would be elected?",
    "unblock_delayed": "What has a thread earned that woke before?",
    "block": "What is to be remembered of a thread that stops being runnable?",
    "tick": "Has the running thread had enough? SAAKM_READY_TICK asks for an election.",
    "used": "What does CPU time cost the thread? Called before every event that could depend on it.",
    "running": "What is to be noted when an elected thread gets the CPU?",
    "wakeup_preempt": "Shall the woken thread take the CPU at once?",
    "attr_changed": "Does a new nice value or parameter change who should run?",
    "moved": "What of its data was relative to the core that it leaves?",
    "exec": "Another program has begun: what that was learnt of the last one is still true?",
    "schedule": "Who runs next: a thread queued on this core, or the current one? Change nothing "
    "here: the core may ask again, and may run another.",
    "refill": "Nobody waits in core->rq: is a thread to be taken from a shared queue?",
    "newly_idle": "Nothing to run here: whose threads may this core take?",
    "balancing_select": "Time to look around: who has too much?",
    "init": "What has the policy of its own, beside core->rq, core->data and event->data?",
    "queue": "Which kind of queue: FIFO, or LIST and RBTREE with a key?",
    "key": "Who goes first? The least key. It is read when the thread is queued.",
    "bound": "Who is eligible? The second key, of which saakm_rq_first_within() asks.",
    "slice_us": "How long may a thread run while others wait? 0: no end.",
}
# For functions that answer several events.
_SHARED: dict[tuple[str, ...], str] = {
    ("new_prepare", "unblock_prepare"): LESSONS["prepare"],
    ("new_place", "unblock_place"): LESSONS["place"],
}
_PROMISES = {
    True: "What does saakm check hold it to? saakm check --list says what there is.",
    False: 'To promise it: MODULE_INFO(saakm_promises, "fairness"). saakm check --list',
}
# What must be remembered: by the end of the struct's name.
_REMEMBERED = {
    "task": "What must be remembered of each thread? The class allocates it, zeroed.",
    "core": "What must be remembered of each core? The class allocates it, zeroed.",
}
_HEADER = """\
// SPDX-License-Identifier: GPL-2.0
/*
 * {name}: say here who runs, where, and for how long.
 *
{origin}
 */
"""
_FROM_POLICY = " * Made from {origin}. Attributes, handlers and their defaults: <linux/saakm.h>."
_FROM_NOTHING = """\
 * As it stands the class decides: each core has a queue, core->rq; a thread starts
 * and wakes on an idle core, if there is one; whoever waits longest is next, and
 * runs until it blocks or yields. What changes that: <linux/saakm.h>."""
# Of which saakm new makes a policy that is made from no other.
SMALLEST = {
    "Kbuild": "# SPDX-License-Identifier: GPL-2.0\nobj-m := smallest.o\n",
    "smallest.c": "#include <linux/saakm.h>\n\nSAAKM_POLICY(smallest);\n",
}
_README = """\
# {name}
Say in three lines who runs, where, and for how long; and what is special about it. {origin}

**Parameters:** {parameters}. **Balancing:** see {main}.

**Production ready?** No.
"""
_PROMISE = r"^MODULE_INFO\(saakm_promises"
_WIDTH = 80
_TAB = 8
_INSIDE = "\t     "  # below the parenthesis of SAAKM_POLICY(
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


def fault_in_name(name: str, sources: Mapping[str, str]) -> str | None:
    """Why a policy made of `sources` cannot be called `name`."""
    if why := fault_in_form(name):
        return why
    if name in (LIB, LOCK, *_our_modules()) or name.startswith(_OUR_PREFIXES):
        return "SaaKM's own files or modules are called so"
    if name in _KEYWORDS.split():
        return "it is a word of C"
    if name in _TAKEN_PREFIXES.split():
        return f"the kernel has functions called {name}_*"
    if why := fault_in_compiler(name):
        return why
    if any(re.search(rf"\b{name}(_\w+)?\b", text) for text in sources.values()):
        return "the code already uses this name for something else"
    return None


def _our_modules() -> list[str]:
    """They are built beside policies. Of the guest tests' a checkout alone has the directories."""
    return [path.name for path in (*OWN_MODULES, *paths.GUEST_MODULES.glob("*"))]


def shipped(origin: str) -> dict[str, str]:
    """The files of a policy of ours, by name, but for its README."""
    files = (paths.POLICIES / origin).iterdir()
    return {
        it.name: it.read_text()
        for it in sorted(files)
        if it.suffix in (".c", ".h") or it.name == "Kbuild"
    }


def policy_files(
    name: str, origin: str | None, sources: Mapping[str, str] = SMALLEST
) -> dict[str, str]:
    """The files of a new policy by name; `sources` are those of the policy `origin`, if any."""
    old = origin or "smallest"
    first = main_file(sources)
    own = [
        f"`{it}`" for text in sources.values() for it in re.findall(r"module_param\((\w+)", text)
    ]
    names = _names(old, sources.values())
    made = {
        _file_name(file, old, name): _rename(
            _teach(text) if file == first else text, old, name, names
        )
        for file, text in sources.items()
    }
    main = _file_name(first, old, name)
    made_from = _FROM_POLICY.format(origin=origin) if origin else _FROM_NOTHING
    code = made[main]
    made[main] = _HEADER.format(name=name, origin=made_from) + code[code.index("#include") :]
    made["README.md"] = _README.format(
        name=name,
        main=main,
        origin=f"Made from {origin}." if origin else "Made from the class's defaults.",
        parameters=", ".join([*own, "those of every policy, `slice_us` among them"]),
    )
    return made


def main_file(sources: Mapping[str, str]) -> str:
    """The one that says what the policy is."""
    return next(file for file, text in sources.items() if re.search(r"^SAAKM_POLICY\(", text, re.M))


def _file_name(file: str, old: str, new: str) -> str:
    return f"{new}{file.removeprefix(old)}" if file.partition(".")[0] == old else file


def _teach(body: str) -> str:
    """Puts each lesson before the function that is asked, else before the line that answers."""
    functions: dict[str, list[str]] = {}
    ready_made = []
    for member, answer in members(body).items():
        if member in LESSONS and re.search(_definition(answer), body, re.M):
            functions.setdefault(answer, []).append(member)
        elif member in LESSONS:
            ready_made.append(member)
    start, end = _policy_span(body)
    body = body[:start] + _teach_members(body[start:end], ready_made) + body[end:]
    for function, answers in functions.items():
        lesson = _SHARED.get(tuple(answers)) or LESSONS[answers[0]]
        body = _put_before(_definition(function), _comment(lesson), body)
    for what, lesson in _REMEMBERED.items():
        body = _put_before(rf"^struct \w+_{what} \{{", _comment(lesson), body)
    if re.search(_PROMISE, body, re.M):
        return _put_before(_PROMISE, _comment(_PROMISES[True]), body)
    return f"{body}\n{_comment(_PROMISES[False])}"


def members(code: str) -> dict[str, str]:
    """What SAAKM_POLICY() is given: attributes and handlers, and their values."""
    start, end = _policy_span(code)
    given = re.sub(r"/\*.*?\*/", "", code[start:end], flags=re.S)
    return dict(re.findall(r"[(,\s]\.(\w+)\s*=\s*([^,]+?)(?:,|\);\n)", given))


def _policy_span(code: str) -> tuple[int, int]:
    """Where SAAKM_POLICY() stands, up to the end of its last line."""
    match = re.search(r"^SAAKM_POLICY\((?:[^()]|\([^()]*\))*\);\n", code, re.M)
    assert match, "a policy is a SAAKM_POLICY()"
    return match.span()


def _teach_members(policy: str, asked: list[str]) -> str:
    """Before a lesson each member needs a line of its own."""
    if not {*asked} <= {*re.findall(r"^\s+\.(\w+)", policy, re.M)}:
        given = [f"{_INSIDE}.{member} = {value}" for member, value in members(policy).items()]
        policy = ",\n".join([policy.partition(",")[0], *given]) + ");\n"
    for member in asked:
        lesson = textwrap.indent(_comment(LESSONS[member], _indent(_INSIDE + "x")), _INSIDE)
        policy = _put_before(rf"^[ \t]+\.{member}\b", lesson, policy)
    return policy


def _definition(function: str) -> str:
    return rf"^static [\w *]+\b{function}\("


def _put_before(pattern: str, comment: str, body: str) -> str:
    return re.sub(pattern, lambda match: comment + match[0], body, flags=re.M)


def _comment(text: str, indent: int = 0) -> str:
    if len(text) <= _WIDTH - 6 - indent:
        return f"/* {text} */\n"
    lines = textwrap.wrap(text, _WIDTH - 3 - indent)
    return "/*\n" + "".join(f" * {line}\n" for line in lines) + " */\n"


def _names(old: str, texts: Iterable[str]) -> set[str]:
    """What has file scope in any of the files; members may be named after what they are."""
    lines = (line for text in texts for line in text.split("\n") if line[:1] not in ("\t", " "))
    return {name for line in lines for name in re.findall(rf"\b{old}(?:_\w+)?\b", line)}


def _rename(body: str, old: str, new: str, names: set[str]) -> str:
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(names, key=len, reverse=True))})\b")
    lines = body.replace(f"{old.upper()}_H", f"{new.upper()}_H").split("\n")
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
