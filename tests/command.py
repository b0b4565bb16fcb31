"""The command line in the process of the tests: the same words, exit codes and streams, without a start."""

import contextlib
import io
import os
import signal
import sys
from typing import NamedTuple

from whiffclock.entry import main


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def whiffclock(*words, answer="", cwd=None):
    """Run ``whiffclock WORDS``; ``answer`` is what the user types."""
    # As the streams of a process are: bytes beneath text, and no terminal.
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before = sys.argv, sys.stdin, sys.unraisablehook
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    sys.argv, sys.stdin = ["whiffclock", *map(str, words)], io.StringIO(answer)
    try:
        with contextlib.chdir(cwd or os.curdir), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        return Done(end.code or 0, *(stream.buffer.getvalue().decode() for stream in (out, err)))
    finally:
        sys.argv, sys.stdin, sys.unraisablehook = before
        for number, handler in handlers.items():
            signal.signal(number, handler)
    raise AssertionError("the entry point returned")
