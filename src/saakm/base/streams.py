# SPDX-License-Identifier: GPL-2.0
"""Standard output and error, whose reader may go before all is written, as `head` does."""

import io
import signal
import sys
from typing import Any


class _Output(io.FileIO):
    """Where nobody reads any more the program exits, in the ordinary way, so that guests end.

    After an error it drops what comes, or Python complained at its end of what is left in buffers.
    """

    _failed = False

    def write(self, data: Any) -> int:
        if self._failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self._failed = True
            if isinstance(error, BrokenPipeError):
                # As a shell says it of what SIGPIPE has ended.
                sys.exit(128 + signal.SIGPIPE)
            raise


def end_without_reader() -> None:
    """For all that is written to the two from now on."""
    sys.stdout, sys.stderr = _of(sys.stdout), _of(sys.stderr)


def _of(stream: Any) -> Any:
    if stream is None:  # it is closed
        return None
    stream.flush()
    output = _Output(stream.fileno(), "w", closefd=False)
    # With PYTHONUNBUFFERED there is no buffer.
    unbuffered = isinstance(stream.buffer, io.RawIOBase)
    return io.TextIOWrapper(
        output if unbuffered else io.BufferedWriter(output),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
