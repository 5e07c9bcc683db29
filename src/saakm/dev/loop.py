# SPDX-License-Identifier: GPL-2.0
"""A guest whose policy is replaced on every save, while a workload goes on."""

import json
import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.errors import SaakmError
from ..builder.policies import module_name
from ..vm.guest import Guest, Result
from .saves import Saves
from .versions import CompileError, Versions

# Its rounds go on under whatever policy stands in the file; after an ejection until there is one.
_WORKLOAD = """
echo {name} >/tmp/saakm-policy
echo 1 >/tmp/saakm-version
setsid sh -c 'while :; do
	read begin _ </proc/uptime
	saakmctl exec "$(cat /tmp/saakm-policy)" -- {command} >/tmp/saakm-output 2>&1
	status=$?
	read end _ </proc/uptime
	echo $status $begin $end $(cat /tmp/saakm-version) >>/tmp/saakm-rounds
	[ $status = 0 ] || sleep 0.3
done' >/dev/null 2>&1 &
"""
# One script for all of it: each call of the guest takes a tenth of a second. The policy of the module
# schedules when it has given a CPU to a thread. The number of the version is renamed into place,
# because a round that ends just then would find a file that is written to empty.
_PUT_IN_PLACE = """
rows() {{ sed 1d /proc/saakm/policies; }}
active=$(rows | awk '$2 == "{name}" && $5 == "active" {{ print $1 }}')
if [ "$active" ]; then
	saakmctl --json replace "$active" {file} || exit 1
else
	for id in $(rows | awk '$2 == "{name}" {{ print $1 }}'); do saakmctl unload "$id" >&2; done
	saakmctl --json load {file} || exit 1
fi
echo {version} >/tmp/saakm-next && mv /tmp/saakm-next /tmp/saakm-version
i=0
while [ $i -lt 3000 ]; do
	while read -r id name module priority state threads new terminated switches; do
		[ "$module" = {module} ] || continue
		[ $i -gt 0 ] || echo "$name" >/tmp/saakm-policy
		[ "$switches" = 0 ] || exit 0
	done </proc/saakm/policies
	i=$((i + 1))
done
exit {idle}
"""
_IDLE = 3  # exit status: loaded, but no thread was elected


@dataclass
class Update:
    """What became of a save. Seconds are the host's."""

    version: int  # that schedules now
    outcome: str  # replaced, reloaded, compile-error or refused
    seconds: float = 0.0  # from the save until the new version schedules
    build_seconds: float = 0.0
    replacement: dict[str, Any] = field(default_factory=dict)  # as saakmctl has it
    complaints: list[str] = field(default_factory=list)
    saves: int = 1  # that it answers: those that come during a build wait for its end


def start_workload(guest: Guest, policy: str, workload: list[str]) -> None:
    """Goes on with it, again and again."""
    quoted = shlex.join(workload)
    # Within the quotes of sh -c.
    script = _WORKLOAD.format(name=policy, command=quoted.replace("'", "'\\''"))
    guest.run(script).check()


class Session:
    def __init__(self, guest: Guest, source: Path, workload: list[str]):
        self.guest, self.workload = guest, workload
        self.versions = Versions(guest.kernel, source)
        self.policy = module_name(source)  # as /proc/saakm/policies has it
        self.version = 0
        self._saves: Saves | None = None

    def start(self) -> None:
        """The first version. That it compiles is not taken for granted."""
        self._saves = Saves(self.versions.digest)
        file = self.versions.build()
        self._load(file)
        start_workload(self.guest, self.policy, self.workload)

    def saved(self) -> int:
        """How many saves there were since it was asked last."""
        return self._saves.take() if self._saves else 0

    def update(self, saves: int = 1) -> Update:
        """Builds what was saved, and puts it in the place of the old version."""
        update = self._update()
        update.saves = saves
        return update

    def _update(self) -> Update:
        saved, begin = self.versions.saved_at(), time.time()
        # A file may be put in place with an old date.
        saved = saved if begin - 2 < saved <= begin else begin
        try:
            file = self.versions.build()
        except CompileError as error:
            return Update(self.version, "compile-error", complaints=error.lines)
        built = time.time()
        try:
            answer, complaints = self._put_in_place(file)
        except SaakmError as error:
            return Update(self.version, "refused", complaints=error.why.splitlines())
        outcome = "replaced" if "replacement" in answer else "reloaded"
        return Update(
            self.version, outcome, time.time() - saved, built - begin,
            answer.get("replacement") or {}, complaints,
        )  # fmt: skip

    def close(self) -> None:
        if self._saves:
            self._saves.close()
        self.versions.close()

    def _load(self, file: Path) -> None:
        answer = self._answer(self.guest.run(shlex.join(["saakmctl", "--json", "load", str(file)])))
        self.policy, self.version = answer["policies"][0]["name"], self.versions.accept()

    def _put_in_place(self, file: Path) -> tuple[dict[str, Any], list[str]]:
        """Loads it in place of the old version or, where that was ejected, as the first one."""
        script = _PUT_IN_PLACE.format(
            name=self.policy,
            file=shlex.quote(str(file)),
            module=file.stem,
            version=self.version + 1,
            idle=_IDLE,
        )
        done = self.guest.run(script)
        answer = self._answer(done)
        self.policy, self.version = answer["policies"][0]["name"], self.versions.accept()
        # One without threads has nobody to elect before the workload's next round.
        taken = (answer.get("replacement") or {}).get("threads", 0)
        idle = done.status == _IDLE and taken > 0
        complaints = ["it has not given a CPU to any thread yet"] if idle else []
        return answer, complaints

    @staticmethod
    def _answer(done: Result) -> dict[str, Any]:
        """What saakmctl said."""
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout.strip() else {}
        if done.status not in (0, _IDLE):
            failures = answer.get("failures") or [
                {"what": "saakmctl failed", "why": done.stderr.strip()}
            ]
            why = "\n".join(f"{f['what']}: {f['why']}" for f in failures)
            raise SaakmError("the new version cannot be loaded", why, "mend it and save again")
        return answer
