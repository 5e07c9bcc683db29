# SPDX-License-Identifier: GPL-2.0
"""A guest whose agent is replaced on every save: the new one takes over, while a workload goes on."""

import os
import shlex
import shutil
import time
from pathlib import Path

from ..base.errors import SaakmError
from ..base.files import hash_named
from ..base.process import TAIL_LINES
from ..builder import agents
from ..builder.agents import Agent
from ..vm.guest import Guest
from .loop import Update, start_workload
from .saves import Saves

TAKE_OVER = "--take-over"  # what an agent has to understand for this
_MOST_LINES = 12

# Each has a file for what it says. The number of the version is renamed into place: see loop.py.
_START = """
said=/tmp/saakm-agent-{version}
attached=/sys/module/user/parameters/agents
is_alive() {{ grep -q '^[^)]*) [^ZX]' /proc/$1/stat 2>/dev/null; }}
old=$(cat /tmp/saakm-agent 2>/dev/null)
[ "$old" ] && is_alive $old || old=
setsid sh -c {agent} >$said 2>&1 </dev/null &
new=$!
i=0
until is_alive $new && read -r domains <$attached && [ "$domains" != 0 ] && ! is_alive ${{old:-0}}; do
	if ! is_alive $new || [ $i -ge 200 ]; then
		tail -n 20 $said >&2
		is_alive $new && echo "it lives, but has not taken the CPUs over within 10 s" >&2
		kill $new 2>/dev/null
		exit 1
	fi
	sleep 0.05
	i=$((i + 1))
done
echo $new >/tmp/saakm-agent
echo {version} >/tmp/saakm-next && mv /tmp/saakm-next /tmp/saakm-version
cat $said
[ "$old" ] || exit {first}
"""
_FIRST = 3  # exit status: there was no other to take over from
_LEFT = """
awk '$2 == "user" && $5 != "active" {{ print $1 }}' /proc/saakm/policies | grep -q . || exit 0
kill "$(cat /tmp/saakm-agent)" 2>/dev/null
rmmod user && insmod {module}
"""


class AgentSession:
    """As loop.Session is for a policy."""

    policy = agents.POLICY

    def __init__(self, guest: Guest, agent: Agent, module: Path, workload: list[str]):
        self.guest, self.workload, self.version = guest, workload, 0
        self._agent, self._module = agent, module
        self._saves: Saves | None = None
        self._builds = 0

    def start(self) -> None:
        self._saves = Saves(self._digest)
        words = self._built()
        self.guest.load(self._module)
        self._put_in_place(words)
        start_workload(self.guest, self.policy, self.workload)

    def saved(self) -> int:
        """How many saves there were since it was asked last."""
        return self._saves.take() if self._saves else 0

    def update(self, saves: int = 1) -> Update:
        """Builds what was saved, and lets it take over."""
        update = self._update()
        update.saves = saves
        return update

    def _update(self) -> Update:
        begin = time.time()
        saved = max((file.stat().st_mtime for file in self._agent.sources()), default=0.0)
        saved = saved if begin - 2 < saved <= begin else begin
        try:
            words = self._built()
        except SaakmError as error:
            return Update(self.version, "compile-error", complaints=_complaints(error))
        built = time.time()
        try:
            self.guest.run(_LEFT.format(module=shlex.quote(str(self._module)))).check()
            outcome, said = self._put_in_place([*words, TAKE_OVER])
        except SaakmError as error:
            return Update(self.version, "refused", complaints=error.why.splitlines())
        seconds = time.time() - saved
        return Update(self.version, outcome, seconds, built - begin, complaints=said)

    def close(self) -> None:
        if self._saves:
            self._saves.close()

    def _built(self) -> list[str]:
        """Its words. Files of a script are copied, each time elsewhere: a guest goes on serving what
        it has read once. Cargo's programs have places of their own already."""
        words = self._agent.command()
        if self._agent.project:
            return words
        self._builds += 1
        copies = self.guest.exchange / f"agent-{self._builds}"
        copies.mkdir()
        return [str(shutil.copy(word, copies)) if os.path.isfile(word) else word for word in words]

    def _put_in_place(self, words: list[str]) -> tuple[str, list[str]]:
        """What that was, and what the agent has said so far."""
        line = f"cd {shlex.quote(str(Path.cwd()))} 2>/dev/null; exec {shlex.join(words)}"
        script = _START.format(agent=shlex.quote(line), version=self.version + 1, first=_FIRST)
        done = self.guest.run(script)
        if done.status not in (0, _FIRST):
            raise SaakmError(
                f"the agent '{self._agent.text}' does not decide",
                done.stderr.strip() or "it has ended without a word",
                "mend it and save again",
            )
        self.version += 1
        outcome = "replaced" if done.status == 0 else "reloaded"
        return outcome, done.stdout.splitlines()[-_MOST_LINES:]

    def _digest(self) -> str:
        """Changes with what is saved."""
        try:
            return hash_named({str(file): file for file in self._agent.sources()})
        except FileNotFoundError:  # an editor is just renaming
            return ""


def _complaints(error: SaakmError) -> list[str]:
    """From the compiler's first error on."""
    lines = error.why.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("error")), 0)
    return lines[first : first + TAIL_LINES][:_MOST_LINES]
