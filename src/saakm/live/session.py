# SPDX-License-Identifier: GPL-2.0
"""A guest whose policy is replaced on every save, while a workload goes on."""

import json
import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import SaakmError
from ..vm import Guest
from .versions import CompileError, Versions

# Its rounds go on under whatever policy stands in the file; after an ejection until there is one.
_WORKLOAD = """
echo {name} >/tmp/saakm-policy
setsid sh -c 'while :; do
	read begin _ </proc/uptime
	saakmctl exec "$(cat /tmp/saakm-policy)" -- {command} >/tmp/saakm-output 2>&1
	status=$?
	read end _ </proc/uptime
	echo $status $begin $end >>/tmp/saakm-rounds
	[ $status = 0 ] || sleep 0.3
done' >/dev/null 2>&1 &
"""
# From the module's loading until the new policy has given a CPU to a thread of its own.
_SCHEDULES = """
i=0
until [ $i -ge 100 ] || awk '$2 == "{name}" && $3 == "{module}" && $9 > 0 {{ found = 1 }} END {{ exit !found }}' \\
	/proc/saakm/policies; do i=$((i + 1)); sleep 0.02; done
[ $i -lt 100 ]
"""


@dataclass
class Update:
    """What became of a save. Seconds are the host's."""

    version: int  # that schedules now
    outcome: str  # replaced, reloaded, compile-error or refused
    seconds: float = 0.0  # from the save until the new version schedules
    build_seconds: float = 0.0
    replacement: dict = field(default_factory=dict)  # as saakmctl has it
    complaints: list[str] = field(default_factory=list)


class Session:
    def __init__(self, guest: Guest, source: Path, workload: list[str]):
        self.guest, self.workload = guest, workload
        self.versions = Versions(guest.kernel, source)
        self.policy = source.name  # as /proc/saakm/policies has it
        self.version = 0
        self._seen = ""

    def start(self) -> None:
        """The first version. That it compiles is not taken for granted."""
        self._seen = self.versions.digest()
        file = self.versions.build()
        self._load(file)
        quoted = shlex.join(self.workload)
        # Within the quotes of sh -c.
        script = _WORKLOAD.format(name=self.policy, command=quoted.replace("'", "'\\''"))
        self.guest.run(script).check()

    def saved(self) -> bool:
        now = self.versions.digest()
        changed = now not in ("", self._seen)
        if changed:
            self._seen = now
        return changed

    def update(self) -> Update:
        """Builds what was saved, and puts it in the place of the old version."""
        saved, begin = self.versions.saved_at(), time.time()
        # A file may be put in place with an old date.
        saved = saved if begin - 2 < saved <= begin else begin
        try:
            file = self.versions.build()
        except CompileError as error:
            return Update(self.version, "compile-error", complaints=error.lines)
        built = time.time()
        try:
            outcome, replacement = self._put_in_place(file)
        except SaakmError as error:
            return Update(self.version, "refused", complaints=error.why.splitlines())
        complaints = self._schedules(file)
        return Update(self.version, outcome, time.time() - saved, built - begin, replacement, complaints)

    def close(self) -> None:
        self.versions.close()

    def _load(self, file: Path) -> None:
        answer = self._saakmctl("load", str(file))
        self.policy, self.version = answer["policies"][0]["name"], self.versions.number

    def _put_in_place(self, file: Path) -> tuple[str, dict]:
        state = self.guest.run(
            f"awk '$2 == \"{self.policy}\" {{ print $1, $5 }}' /proc/saakm/policies"
        ).stdout.split()
        if len(state) == 2 and state[1] == "active":
            answer = self._saakmctl("replace", self.policy, str(file))
            self.policy, self.version = answer["policies"][0]["name"], self.versions.number
            outcome, replacement = "replaced", answer["replacement"] or {}
        else:
            # It was ejected: its threads are fair by now, the next round comes under the new one.
            if state:
                self._saakmctl("unload", state[0])
            self._load(file)
            outcome, replacement = "reloaded", {}
        self.guest.run(f"echo {self.policy} >/tmp/saakm-policy")
        return outcome, replacement

    def _schedules(self, file: Path) -> list[str]:
        script = _SCHEDULES.format(name=self.policy, module=file.stem)
        if self.guest.run(script).status:
            return ["it has not given a CPU to any thread within 2 s"]
        return []

    def _saakmctl(self, *arguments: str) -> dict:
        done = self.guest.run(shlex.join(["saakmctl", "--json", *arguments]))
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        if done.status:
            failures = answer.get("failures") or [{"what": done.stderr.strip(), "why": ""}]
            why = "\n".join(f"{f['what']}: {f['why']}" for f in failures)
            raise SaakmError(f"saakmctl {arguments[0]} failed", why, "mend it and save again")
        return answer
