# SPDX-License-Identifier: GPL-2.0
"""Runs a shell script and prints, as JSON, how long it took and what it said.

Started under the scheduler that is measured, so that loading this program is
not part of the figure. Output goes to a file: a pipe would wake this process
up in the middle. The system's own Python runs this, with nothing installed.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

_MOST_OUTPUT = 64 * 1024


def main() -> None:
    before = os.sched_getscheduler(0)
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        done = subprocess.run(
            ["sh", sys.argv[1]], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        seconds = time.monotonic() - begin
        size = output.tell()
        output.seek(max(0, size - _MOST_OUTPUT))
        text = output.read().decode(errors="replace")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        json.dumps(
            {
                "status": done.returncode,
                "output": text,
                "seconds": seconds,
                "user": usage.ru_utime,
                "system": usage.ru_stime,
                "switches": usage.ru_nvcsw + usage.ru_nivcsw,
                "involuntary": usage.ru_nivcsw,
                # An ejected policy's threads go on in another class.
                "classes": [before, os.sched_getscheduler(0)],
                "pid": os.getpid(),
            }
        )
    )


main()
