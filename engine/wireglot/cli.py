"""The command line: `convert`, `explain`, `collect`, `diagnose`, `repair`, `dialects`, `show` ...

Exit status: 0 ok, 1 conversion, JSON or rules failed, 2 usage, 3 a note was forbidden.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .commandline import commands, terminal
from .commandline.terminal import FAILED, FORBIDDEN, OK, USAGE, Stop
from .errors import UsageError, WireglotError
from .results import PolicyError

CHECKED = "check calls against their tools' schemas"
RULES = "rule files of your own: a folder or a zip file"
OVERLAY = "an overlay to switch on; several in their order"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
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
    parser = _parser()
    given = list(sys.argv[1:] if argv is None else argv)
    # What stands behind `--` is the agent's.
    end = given.index("--") if given[:1] == ["run"] and "--" in given else len(given)
    arguments, rest = parser.parse_known_args(given[:end])
    arguments.passed = given[end + 1 :]
    if rest and getattr(arguments, "path", "") is None and not rest[0].startswith("-"):
        arguments.path = rest.pop(0)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return arguments


def _later(module: str, name: str, arguments: argparse.Namespace) -> int:
    """Run a command of a module that most commands do without."""
    found = importlib.import_module(f".commandline.{module}", __package__)
    run: Callable[[argparse.Namespace], int] = getattr(found, name)
    return run(arguments)


def _drop() -> None:
    """Let what is still buffered go nowhere: it must not raise again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(error: Exception, status: int) -> int:
    print(f"wireglot: {error}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wireglot",
        description="Convert what goes over the wire to and from language models.",
        epilog="Exit status: 0 ok, 1 conversion, JSON or rules failed, 2 usage, "
        "3 a note was forbidden.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    added = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int] | str, text: str) -> Any:
        made = added.add_parser(name, help=text, description=text, allow_abbrev=False)
        if isinstance(run, str):
            run = functools.partial(_later, run, name)
        made.set_defaults(command=run)
        return made

    convert = command("convert", commands.convert, "convert JSON; the notes go to stderr")
    explain = command("explain", commands.explain, "say where a value of the output comes from")
    report = command("report", commands.report, "show a conversion side by side, as one HTML file")
    for made in (convert, explain, report):
        _reads(made, "the model, where the source keeps it outside the body")
        add = made.add_argument
        add("--from", dest="source", required=True, metavar="D", help="the dialect of the input")
        add("--to", dest="target", required=True, metavar="D", help="the dialect to write")
        add("--unit", default="request", metavar="U", help="what the value is (default: request)")
        add("--stream", action="store_const", const=True, help="the request asks for a stream")
        add("--check-arguments", action="store_true", help=CHECKED)
    _writes(convert)
    add = explain.add_argument
    add("path", nargs="?", metavar="PATH", help="a JSON pointer into the output (default: all)")
    add("--input", metavar="PATH", help="say what became of this place of the input")
    add("--json", action="store_true", help="print the trace as JSON")
    add("--select", metavar="EXPR", help="print what a jmespath expression selects from this JSON")
    report.add_argument("-o", "--output", metavar="FILE", help="write it here instead of stdout")

    audit = command(
        "audit", commands.audit, "say what converting does with each field, from the rules alone"
    )
    _audits(audit)

    show = command(
        "show", commands.show, "print a dialect without layers: where each line came from"
    )
    show.add_argument("dialect", metavar="DIALECT", help="the name of a dialect")
    show.add_argument("shape", nargs="?", metavar="SHAPE", help="a shape, or a word of the file")
    add = show.add_argument
    add("--no-examples", dest="examples", action="store_false", help="only pictures and words")
    add("--code", action="store_true", help="the functions that read and write it, as they run")
    add("--home", action="store_true", help="with --code: those of a dialect to itself")

    diff = command("diff", commands.diff, "say what differs between two rule sets")
    add = diff.add_argument
    add("old", nargs="?", metavar="OLD", help="a folder or a zip file; - or none: as packaged")
    add("new", nargs="?", metavar="NEW", help="the same; with one, it is compared to the packaged")
    add("--overlay", action="append", default=[], metavar="N", help="switched on in NEW")
    add("--old-overlay", action="append", default=[], metavar="N", help="switched on in OLD")
    add("--rules-only", action="store_true", help="convert nothing: what the rules say, no pairs")
    add("--replay", metavar="FILE", help="JSON lines: which recorded payloads come out otherwise")
    add("--from", dest="source", metavar="D", help="the dialect of the recorded payloads")
    add("--to", dest="target", metavar="D", help="the dialect to write them in")
    add("--json", action="store_true", help="print the differences as JSON")

    breaking = command("breaking", "breakingcli", "say what a change of rule files means for users")
    _breaks(breaking)
    case = command("case", "casecli", "make a small, redacted case of a payload with a fault")
    _makes_a_case(case)
    sessions = command("sessions", "movecli", "list the sessions of agents that lie here")
    sessions.add_argument("--json", action="store_true", help="as JSON, with the files")
    move = command("move", "movecli", "write a session of one agent where another finds it")
    _moves(move)
    drift = command("drift", "driftcli", "hold rules against the types of the installed SDK")
    add = drift.add_argument
    add("dialect", nargs="?", metavar="DIALECT", help="its name; none: all whose SDK is known")
    add("--format", choices=("terminal", "json"), default="terminal", help="how it is shown")

    batch = command("batch", "batchcli", "convert the JSON lines of files of any size")
    _batches(batch)
    diagnose = command(
        "diagnose", commands.diagnose, "say what a provider would refuse in a request"
    )
    repair = command("repair", commands.repair, "heal a request; the notes go to stderr")
    for made in (diagnose, repair):
        _reads(made, "the model, where the body does not name it")
        made.add_argument("--dialect", required=True, metavar="D", help="the request's dialect")
    diagnose.add_argument("--json", action="store_true", help="print the findings as a JSON list")
    _writes(repair)

    collect = command("collect", "streamcli", "make the response of a stream's frames")
    frames = command("frames", "streamcli", "write the frames of a stream that makes a response")
    for made in (collect, frames):
        made.add_argument("file", nargs="?", default="-", metavar="FILE", help="- is stdin")
        made.add_argument("--dialect", required=True, metavar="D", help="the dialect of both")
        made.add_argument("-o", "--output", metavar="FILE", help="write here instead of stdout")
    collect.add_argument("--indent", type=_spaces, metavar="N", help="indent the result")

    listed = command("dialects", commands.dialects, "list the dialects, and what each is")
    listed.add_argument(
        "--format", choices=("terminal", "json"), default="terminal", help="how it is shown"
    )
    serve = command("serve", commands.serve, "let clients of any dialect talk to any provider")
    _serves(serve)
    replay = command("replay", commands.replay, "what recorded requests would become now")
    replay.add_argument("dir", metavar="DIR", help="the folder of `wireglot serve --record DIR`")
    replay.add_argument(
        "--config", metavar="FILE", help="the file of the server: rules, options and policy of now"
    )
    run = command("run", commands.run, "start a coding agent before a provider of any dialect")
    run.add_argument("starts", metavar="PROGRAM", help="which one; its own words stand after `--`")
    run.add_argument("--log", metavar="FILE", help="where a line for each request goes")
    _stands(run)
    takes_rules = (
        convert,
        explain,
        report,
        case,
        audit,
        collect,
        frames,
        listed,
        show,
        drift,
        replay,
    )
    for made in (*takes_rules, batch, sessions, move, diagnose, repair, serve, run):
        add = made.add_argument
        add("--rules", action="append", default=[], metavar="DIR", help=RULES)
        add("--plugins", action="store_true", help="rule files of installed packages, too")
        add("--overlay", action="append", default=[], metavar="N", help=OVERLAY)
    check = command("check", commands.check, "check rule files for mistakes")
    check.add_argument("--json", action="store_true", help="print the findings as a JSON list")
    test = command(
        "test", commands.test, "run the examples of rule files, and the laws on made payloads"
    )
    for made in (check, test):
        made.add_argument("dir", nargs="?", metavar="DIR", help="default: the packaged rules")
        made.add_argument("--overlay", action="append", default=[], metavar="N", help=OVERLAY)
    add = test.add_argument
    add("--runs", type=int, default=10, metavar="N", help="payloads for each law (default: 10)")
    add("--seed", default="0", metavar="S", help="another seed makes other payloads")
    new = command("new", "newcli", "start a rule file, from a parent or from samples of an API")
    add = new.add_argument
    add("name", metavar="NAME", help="of the dialect or overlay; NAME.yaml is written")
    base = new.add_mutually_exclusive_group()
    base.add_argument("--extends", metavar="D", help="a dialect that differs little")
    base.add_argument(
        "--like", metavar="D", help="propose a file over this dialect from recordings of a vendor"
    )
    base.add_argument(
        "--overlay", dest="overlay_of", metavar="D", help="write an overlay of this dialect"
    )
    add("--sample", action="append", default=[], metavar="FILE", help="a JSON payload; several")
    add("--unit", metavar="U", help="what the samples are (default: told by their looks)")
    add("--see", metavar="URL", help="where the provider describes the API")
    add("--examples", action="store_true", help="only make the examples anew, of an edited file")
    add("--dir", default=".", metavar="DIR", help="where the file is written (default: here)")
    add("--force", action="store_true", help="write over a file that is there")
    add("--rules", action="append", default=[], metavar="DIR", help=RULES)
    fmt = command("fmt", "rewritecli", "lay rule files out in the one way; comments stay")
    add = fmt.add_argument
    add("files", nargs="+", metavar="FILE", help="rule files, or folders of them; - is stdin")
    add("--check", action="store_true", help="write nothing; say which files would change")
    add("--diff", action="store_true", help="write nothing; print what would change")
    migrate = command(
        "migrate", "rewritecli", "rewrite rule files of version 1 in the words of version 2"
    )
    add = migrate.add_argument
    add("files", nargs="+", metavar="FILE", help="rule files, or folders of them; - is stdin")
    add("--diff", action="store_true", help="write nothing; print what would change")
    completion = command("completion", _complete, "print what completes commands in a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="of which shell")
    redact = command("redact", "rewritecli", "make payloads safe to show: what they say goes")
    add = redact.add_argument
    text = "JSON, JSON lines or a stream; - is stdin (default); equal strings of all stay equal"
    add("files", nargs="*", metavar="FILE", help=text)
    add("-o", "--output", metavar="PATH", help="write here; of several files a folder for them")
    add("--keep", action="append", default=[], metavar="WORD", help="a string that stays")
    add("--rules", action="append", default=[], metavar="DIR", help=RULES)
    schema = command("schema", commands.schema, "print the JSON Schema of rule files, for editors")
    schema.add_argument("--ladder", action="store_true", help="that of the ladder's file")
    return parser


def _reads(made: argparse.ArgumentParser, model: str, options: bool = True) -> None:
    """Let a command read one JSON value; `model` says what its option is for."""
    add = made.add_argument
    add("file", nargs="?", default="-", metavar="FILE", help="a JSON file; - is stdin (default)")
    add("--model", metavar="M", help=model)
    if options:
        add("--option", action="append", default=[], metavar="K=V", help="V is JSON, else text")


def _batches(made: argparse.ArgumentParser) -> None:
    """Let a command convert the lines of many files into one."""
    add = made.add_argument
    text = "JSON lines, .gz and .zst too, Parquet; a folder or glob of them; - is stdin (default)"
    add("files", nargs="*", metavar="FILE", help=text)
    add("--from", dest="source", required=True, metavar="D", help="the dialect of the lines")
    add("--to", dest="target", required=True, metavar="D", help="the dialect to write")
    add("--unit", default="request", metavar="U", help="what a line is (default: request)")
    add("--model", metavar="M", help="the model, where the lines do not name it")
    add("--option", action="append", default=[], metavar="K=V", help="V is JSON, else text")
    add("--check-arguments", action="store_true", help=CHECKED)
    add("--at", default="", metavar="POINTER", help="what is converted in a line; the rest stays")
    add("--text", action="store_true", help="a text of JSON stands at --at, and shall again")
    wide = "write here instead of stdout; .gz and .zst pack, .parquet is a table"
    add("-o", "--output", metavar="FILE", help=wide)
    add("--bad", metavar="FILE", help="where refused lines go (OUTPUT.bad.jsonl; else stderr)")
    add("--notes", metavar="FILE", help="write every note here, as JSON lines")
    words = "as for `convert`; a forbidden note stops, and what stands before is kept"
    add("--policy", action="append", default=[], metavar="P", help=words)
    add("--forbidden", choices=("stop", "aside"), default="stop", help="`aside`: such a line is "
        "refused, and the others go on")  # fmt: skip
    add("--workers", type=_processes, metavar="N", help="processes (default: one a processor)")
    add("--resume", action="store_true", help="go on where a run that was stopped has ended")
    add("--force", action="store_true", help="begin anew, over files that are there")
    add("--quiet", action="store_true", help="no progress, and no table of notes")


def _audits(made: argparse.ArgumentParser) -> None:
    """Let a command name a pair of dialects, or none for all, and a format."""
    add = made.add_argument
    add("--from", dest="source", metavar="D", help="the dialect of the input (alone: to all)")
    add("--to", dest="target", metavar="D", help="the dialect to write (alone: from all)")
    add("--both", action="store_true", help="the way back, too")
    add("--unit", action="append", metavar="U", help="request, response, error or session")
    add("--model", metavar="M", help="for this model only")
    add("--option", action="append", default=[], metavar="K=V", help="V is JSON, else text")
    add("--examples", action="store_true", help="with a payload for each line, in JSON")
    words = ("terminal", "markdown", "html", "json")
    add("--format", choices=words, default="terminal", help="how it is shown")
    add("-o", "--output", metavar="FILE", help="write it here instead of stdout")


def _breaks(made: argparse.ArgumentParser) -> None:
    """Let a command name rule files of now and of before, and what fails a build."""
    add = made.add_argument
    add("dir", nargs="?", metavar="DIR", help="rule files of now (default: the packaged rules)")
    text = "rule files of before: a folder, or a revision of git of DIR"
    add("--against", required=True, metavar="REF", help=text)
    add("--rules-only", action="store_true", help="convert nothing: what the rules say, no pairs")
    words = ("text", "json", "github")
    add("--format", choices=words, default="text", help="how it is shown (default: text)")
    grades = ("wire", "notes", "prose", "never")
    text = "exit with 1 where something of this grade or of one before it is found (default: wire)"
    add("--fail-on", choices=grades, default="wire", help=text)


def _makes_a_case(made: argparse.ArgumentParser) -> None:
    """Let a command name a conversion, and what is wrong with what comes of it."""
    _reads(made, "the model, where the source keeps it outside the body", options=False)
    add = made.add_argument
    add("--from", dest="source", required=True, metavar="D", help="the dialect of the input")
    add("--to", dest="target", required=True, metavar="D", help="the dialect to write")
    add("--unit", default="request", metavar="U", help="what the value is (default: request)")
    wrong = made.add_mutually_exclusive_group()
    text = "what should stand at a JSON pointer into the output; without =JSON nothing should"
    wrong.add_argument("--expect", metavar="POINTER=JSON", help=text)
    wrong.add_argument("--note", metavar="CODE", help="a note that should not be there")
    add("--keep", action="append", default=[], metavar="WORD", help="a string that stays")
    add("--name", metavar="TITLE", help="what the case is called (default: what is wrong)")
    add("-o", "--output", metavar="FILE", help="write it here instead of stdout")


def _moves(made: argparse.ArgumentParser) -> None:
    """Let a command name a session, and the agent that it goes to."""
    add = made.add_argument
    add("session", metavar="SESSION", help="its id, the beginning of that, or its file")
    add("--to", dest="target", required=True, metavar="NAME", help="the agent that it goes to")
    add("--from", dest="source", metavar="NAME", help="whose a file is that lies elsewhere")
    add("--cwd", metavar="DIR", help="the folder that it shall be about (default: as it says)")
    add("--id", metavar="ID", help="what it shall be called (default: as it is)")
    add("--dry-run", action="store_true", help="write nothing; say what would be lost, and where")


def _serves(made: argparse.ArgumentParser) -> None:
    """Let a command say where a server listens, and who may come to it."""
    _stands(made)
    add = made.add_argument
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="where it listens (127.0.0.1)")
    add("--port", type=int, default=8080, metavar="N", help="0: any that is free (default: 8080)")
    add("--client-key-env", metavar="NAME", help="the variable with the key clients must have")
    add("--watch", action="store_true", help="follow rule files and the file of --config")


def _stands(made: argparse.ArgumentParser) -> None:
    """Let a command say which providers stand behind a server."""
    add = made.add_argument
    add("--to", metavar="D", help="the provider's dialect; `demo` is a script that needs none")
    add("--config", metavar="FILE", help="a file that says more: providers, routes, fallbacks")
    add("--model", metavar="M", help="the model to ask for (default: the one a client names)")
    add("--url", metavar="URL", help="where the provider is, without the path of its API")
    add("--key-env", metavar="NAME", help="the environment variable with the provider's key")
    add("--max-body", type=int, metavar="BYTES", help="of a request (32 MB)")
    add("--state", default="memory", metavar="FILE", help="where it remembers conversations, for "
        "restarts and other processes; redis://HOST; `memory` (default) or `none`")  # fmt: skip
    add("--record", metavar="DIR", help="write what becomes of each request into a folder")
    add("--otel", action="store_true", help="tell of each request by OpenTelemetry")


def _writes(made: argparse.ArgumentParser) -> None:
    """Let a command write one JSON value, and notes."""
    add = made.add_argument
    words = "CODE=ignore|note|fail, also effect:NAME=.. and path:POINTER=..; or a policy file"
    add("--policy", action="append", default=[], metavar="P", help=words)
    add("--notes", choices=("text", "json", "none"), default="text", help="how notes are printed")
    add("--indent", type=_spaces, metavar="N", help="indent the result by N spaces")
    add("-o", "--output", metavar="FILE", help="write the result here instead of stdout")


def _spaces(text: str) -> int:
    if not text.isdecimal() or len(text) > 2:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of spaces, 0 to 99")
    return int(text)


def _complete(arguments: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise Stop(USAGE, "completion needs `pip install 'wireglot[completion]'`") from None
    print(shtab.complete(_parser(), arguments.shell))
    return OK


def _processes(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1000:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of processes, 1 to 999")
    return int(text)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"wireglot {version('wireglot')}")
        parser.exit()
