"""The entry point of the command line: each expected failure ends in one sentence and an exit code.

====  =====================================================================
code  meaning
====  =====================================================================
1     the machine failed: a full disk, too little memory, a closed output, no network
2     bad input: an option, a file or a folder
130   stopped by Ctrl-C
143   stopped by SIGTERM, which is treated like Ctrl-C
====  =====================================================================

Any other exception is a bug in whiffclock, and its traceback is shown. Hardly more than the interpreter has already
loaded is imported here, so that Ctrl-C is handled while the rest is imported.
"""

import codecs
import errno
import os
import signal
import sys

from whiffclock.escapes import escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

#: Errors of the machine, and of paths that cannot be used; others are not expected.
#: Not every system has all of them.
_MACHINE, _PATHS = (
    {getattr(errno, name) for name in names.split() if hasattr(errno, name)}
    for names in (
        "ENOSPC EDQUOT EIO ENOMEM EMFILE ENFILE EFBIG EAGAIN",
        "EACCES EPERM EROFS ENOENT EEXIST ENOTDIR EISDIR ENOTEMPTY ELOOP ENAMETOOLONG EBUSY ENXIO EINVAL EXDEV ETXTBSY",
    )
)
_PLAIN = {"±": "+-", "τ": "tau", "γ": "gamma", "…": "...", "−": "-", "–": "-", "×": "x", "·": ".", "²": "^2"}


def main() -> None:
    """Run the command line and exit."""
    terminated: list[int] = []

    def terminate(number: int, frame: object) -> None:
        terminated.append(number)
        raise KeyboardInterrupt

    try:
        _prepare_streams()
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminate)
        code = _run()
    except KeyboardInterrupt:
        code = 130
    for number in (signal.SIGINT, signal.SIGTERM):  # there is nothing left to stop
        signal.signal(number, signal.SIG_IGN)
    exec("")  # else CPython would end with SIGINT, not with our code, if an exec (as of a dataclass) was interrupted
    sys.exit(_flush(143 if terminated else code))


def _run() -> int:
    """Run the command line, print the sentence of a failure, and return the exit code."""
    sys.unraisablehook = _interrupt_again
    try:
        from whiffclock.cli import app

        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # while a class was made, such as an Enum
            return 130
        found = _expected(error)
        if found is None:
            raise
        code, sentence = found
        _say(sentence)
        return code
    return 0


def _interrupt_again(ignored: "sys.UnraisableHookArgs") -> None:
    """For ``sys``: repeat a Ctrl-C that would be lost, since it came in a callback from compiled code, such as LLVM."""
    if isinstance(ignored.exc_value, KeyboardInterrupt):
        import _thread
        import threading

        threading.Timer(0.02, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(ignored)


def _expected(error: Exception) -> tuple[int, str] | None:
    """Exit code and sentence for an error; None if it is a bug in whiffclock."""
    from whiffclock.params import InputError
    from whiffclock.runs.engine import EngineError

    if isinstance(error, EngineError):
        return 1, f"{error}."
    if isinstance(error, InputError):
        cause = error.__cause__
        machine = isinstance(cause, MemoryError | ConnectionError) or (
            isinstance(cause, OSError) and cause.errno in _MACHINE
        )
        return 1 if machine else 2, str(error)
    if isinstance(error, MemoryError):
        details = str(error).splitlines()[:1]
        return 1, "There is not enough memory" + (f": {details[0].rstrip('.')}." if details else ".")
    if isinstance(error, RecursionError):
        return 2, "An input is nested too deeply."
    if isinstance(error, BrokenPipeError):
        return 1, ""
    if isinstance(error, OSError) and error.errno in _MACHINE | _PATHS:
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes | os.PathLike) else ""
        if error.errno in _MACHINE or where:
            return 1 if error.errno in _MACHINE else 2, f"{where}{error.strerror}."
    return None


def _say(sentence: str) -> None:
    """Print a sentence on stderr, if that is possible."""
    if sentence:
        try:
            print("whiffclock: " + escaped(sentence).replace("\n", "\\n"), file=sys.stderr, flush=True)
        except OSError:  # stderr is full or closed, too
            _discard(2)


def _prepare_streams() -> None:
    """Make any text printable: characters that an encoding lacks are replaced. A closed stream becomes /dev/null."""
    codecs.register_error("whiffclock", _encoded)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # else the next file that is opened would take its place
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(os.devnull, "w" if number else "r"))  # noqa: SIM115
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="whiffclock")
            setattr(sys, name, _EscapingStream(stream))


class _EscapingStream:
    """A stream of text without control characters."""

    def __init__(self, stream: "TextIO") -> None:
        self.unescaped = stream

    def __getattr__(self, name: str) -> "Any":
        return getattr(self.unescaped, name)

    def write(self, text: str) -> int:
        return self.unescaped.write(escaped(text))


def _encoded(error: UnicodeError) -> tuple[str | bytes, int]:
    """For ``codecs``: bytes of a file name unchanged, known characters in ASCII, others as escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00]), error.start + 1
    escaped = character.encode("ascii", "backslashreplace").decode()
    return _PLAIN.get(character, escaped), error.start + 1


def _flush(code: int) -> int:
    """Flush the outputs; a full one is reported, and neither is tried again when the interpreter ends."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except BrokenPipeError:
            _discard(number)
            code = code or 1
        except (OSError, ValueError) as error:
            _discard(number)
            code = code or 1
            if number == 1 and isinstance(error, OSError):
                _say(f"The output cannot be written: {error.strerror}.")
    return code


def _discard(number: int) -> None:
    """Send all further output to /dev/null."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)
