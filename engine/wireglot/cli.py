"""The command line: runs one command, and says what went wrong.

Exit status: 0 ok, 1 conversion, JSON or rules failed, 2 usage, 3 a note was forbidden.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence

from .commandline import terminal
from .commandline.parser import parser
from .commandline.terminal import FAILED, FORBIDDEN, USAGE, Stop
from .errors import UsageError, WireglotError
from .results import PolicyError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        return _run(argv)
    finally:
        if argv is None:  # the process ends, and need not look for garbage in all that is there
            gc.freeze()


def _run(argv: Sequence[str] | None) -> int:
    if sys.stderr is None:  # closed; what is said there must not end up in the result
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    arguments = _arguments(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        if sys.stdout is None and getattr(arguments, "output", None) is None:
            raise Stop(FAILED, "stdout is closed, so nothing can be printed")
        status = command(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except Stop as stop:
        return _say(stop, stop.status)
    except UsageError as error:
        return _say(error, USAGE)
    except PolicyError as error:
        terminal.print_notes(error.conversion.notes if error.conversion else (), arguments.notes)
        return _say(error, FORBIDDEN)
    except WireglotError as error:
        return _say(error, FAILED)
    except BrokenPipeError:
        _drop()
        return 128 + 13
    except OSError as error:
        _drop()
        return _say(Stop(FAILED, f"stdout cannot be written: {error.strerror}"), FAILED)
    except KeyboardInterrupt:
        return 128 + 2


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; the PATH of `explain` may stand behind the options."""
    reads = parser()
    given = list(sys.argv[1:] if argv is None else argv)
    # What stands behind `--` is the agent's.
    end = given.index("--") if given[:1] == ["run"] and "--" in given else len(given)
    arguments, rest = reads.parse_known_args(given[:end])
    arguments.passed = given[end + 1 :]
    if rest and getattr(arguments, "path", "") is None and not rest[0].startswith("-"):
        arguments.path = rest.pop(0)
    if rest:
        arguments.subparser.error(f"unrecognized arguments: {' '.join(rest)}")
    return arguments


def _drop() -> None:
    """Let what is still buffered go nowhere: it must not raise again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(error: Exception, status: int) -> int:
    print(f"wireglot: {error}", file=sys.stderr)
    return status
