"""What can be asked on the command line: the commands with their options, by what they are for."""

from __future__ import annotations

import argparse
import functools
import importlib
from collections.abc import Callable
from typing import NoReturn

from . import options
from .terminal import OK, USAGE, Stop

# Adds a command: its name, its text, and the module whose function of that name runs it.
Adds = Callable[..., argparse.ArgumentParser]

OUTSIDE = "the model, where the source keeps it outside the body"
CHECKED = "check calls against their tools' schemas"
SHOWN = "how it is shown"
KEEPS = "a string that stays"


@functools.cache
def parser() -> argparse.ArgumentParser:
    """Return what reads a command line: `command` runs what was asked; made once."""
    made = argparse.ArgumentParser(
        prog="wireglot",
        description="Convert what goes over the wire to and from language models.",
        epilog="Exit status: 0 ok, 1 conversion, JSON or rules failed, 2 usage, "
        "3 a note was forbidden.",
        allow_abbrev=False,
    )
    made.add_argument("--version", action=_Version, nargs=0, help="print the version")
    added = made.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, text: str, module: str = "commands") -> argparse.ArgumentParser:
        one = added.add_parser(name, help=text, description=text, allow_abbrev=False)
        one.set_defaults(command=functools.partial(_run, module, name))
        return one

    for group in (_conversions, _batches, _streams, _requests, _sessions, _servers, _rule_sets,
                  _changes, _rule_files, _payloads):  # fmt: skip
        group(command)
    shell = command("completion", "print what completes commands in a shell", "parser")
    shell.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="of which shell")
    return made


def _run(module: str, name: str, arguments: argparse.Namespace) -> int:
    """Run a command: a process imports the one that it was asked for."""
    found = importlib.import_module(f".{module}", __package__)
    run: Callable[[argparse.Namespace], int] = getattr(found, name)
    return run(arguments)


# -- what commands do with payloads ---------------------------------------------------------------


def _conversions(command: Adds) -> None:
    """Add what converts one value, and what tells of it."""
    convert = command("convert", "convert JSON; the notes go to stderr")
    explain = command("explain", "say where a value of the output comes from")
    report = command("report", "show a conversion side by side, as one HTML file")
    for made in (convert, explain, report):
        options.reads(made, OUTSIDE)
        options.option(made)
        options.pair(made)
        add = made.add_argument
        add("--stream", action="store_const", const=True, help="the request asks for a stream")
        add("--check-arguments", action="store_true", help=CHECKED)
    options.writes(convert)
    add = explain.add_argument
    add("path", nargs="?", metavar="PATH", help="a JSON pointer into the output (default: all)")
    add("--input", metavar="PATH", help="say what became of this place of the input")
    add("--json", action="store_true", help="print the trace as JSON")
    add("--select", metavar="EXPR", help="print what a jmespath expression selects from this JSON")
    options.output(report)
    audit = command("audit", "say what converting does with each field, from the rules alone")
    add = audit.add_argument
    add("--from", dest="source", metavar="D", help="the dialect of the input (alone: to all)")
    add("--to", dest="target", metavar="D", help="the dialect to write (alone: from all)")
    add("--both", action="store_true", help="the way back, too")
    add("--unit", action="append", metavar="U", help="request, response, error or session")
    add("--model", metavar="M", help="for this model only")
    options.option(audit)
    add("--examples", action="store_true", help="with a payload for each line, in JSON")
    words = ("terminal", "markdown", "html", "json")
    add("--format", choices=words, default="terminal", help=SHOWN)
    options.output(audit)
    options.rules(convert, explain, report, audit)


def _batches(command: Adds) -> None:
    """Add what converts the lines of many files into one."""
    batch = command("batch", "convert the JSON lines of files of any size", "batchcli")
    add = batch.add_argument
    text = "JSON lines, .gz and .zst too, Parquet; a folder or glob of them; - is stdin (default)"
    add("files", nargs="*", metavar="FILE", help=text)
    options.pair(batch, "the dialect of the lines", "what a line is")
    add("--model", metavar="M", help="the model, where the lines do not name it")
    options.option(batch)
    add("--check-arguments", action="store_true", help=CHECKED)
    add("--at", default="", metavar="POINTER", help="what is converted in a line; the rest stays")
    add("--text", action="store_true", help="a text of JSON stands at --at, and shall again")
    options.output(batch, "write here instead of stdout; .gz and .zst pack, .parquet is a table")
    add("--bad", metavar="FILE", help="where refused lines go (OUTPUT.bad.jsonl; else stderr)")
    add("--notes", metavar="FILE", help="write every note here, as JSON lines")
    words = "as for `convert`; a forbidden note stops, and what stands before is kept"
    add("--policy", action="append", default=[], metavar="P", help=words)
    add("--forbidden", choices=("stop", "aside"), default="stop", help="`aside`: such a line is "
        "refused, and the others go on")  # fmt: skip
    text = "processes (default: one a processor)"
    add("--workers", type=options.processes, metavar="N", help=text)
    add("--resume", action="store_true", help="go on where a run that was stopped has ended")
    add("--force", action="store_true", help="begin anew, over files that are there")
    add("--quiet", action="store_true", help="no progress, and no table of notes")
    options.rules(batch)


def _streams(command: Adds) -> None:
    """Add what makes a response of frames, and the other way round."""
    collect = command(
        "collect", "make the response of a stream's frames; the notes go to stderr", "streamcli"
    )
    frames = command("frames", "write the frames of a stream that makes a response", "streamcli")
    for made in (collect, frames):
        made.add_argument("file", nargs="?", default="-", metavar="FILE", help="- is stdin")
        made.add_argument("--dialect", required=True, metavar="D", help="the dialect of both")
        options.output(made, "write here instead of stdout")
        options.notes(made)
    collect.add_argument("--indent", type=options.spaces, metavar="N", help="indent the result")
    options.rules(collect, frames)


def _requests(command: Adds) -> None:
    """Add what looks for faults of a request, and what heals them."""
    diagnose = command("diagnose", "say what a provider would refuse in a request")
    repair = command("repair", "heal a request; the notes go to stderr")
    for made in (diagnose, repair):
        options.reads(made, "the model, where the body does not name it")
        options.option(made)
        made.add_argument("--dialect", required=True, metavar="D", help="the request's dialect")
    diagnose.add_argument("--json", action="store_true", help="print the findings as a JSON list")
    options.writes(repair)
    options.rules(diagnose, repair)


def _sessions(command: Adds) -> None:
    """Add what finds sessions of agents, and moves them."""
    sessions = command("sessions", "list the sessions of agents that lie here", "movecli")
    sessions.add_argument("--json", action="store_true", help="as JSON, with the files")
    options.rules(sessions)
    move = command("move", "write a session of one agent where another finds it", "movecli")
    add = move.add_argument
    add("session", metavar="SESSION", help="its id, the beginning of that, or its file")
    add("--to", dest="target", required=True, metavar="NAME", help="the agent that it goes to")
    add("--from", dest="source", metavar="NAME", help="whose a file is that lies elsewhere")
    add("--cwd", metavar="DIR", help="the folder that it shall be about (default: as it says)")
    add("--id", metavar="ID", help="what it shall be called (default: as it is)")
    add("--dry-run", action="store_true", help="write nothing; say what would be lost, and where")
    options.rules(move)


def _servers(command: Adds) -> None:
    """Add what puts clients before providers."""
    serve = command("serve", "let clients of any dialect talk to any provider")
    options.stands(serve)
    add = serve.add_argument
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="where it listens (127.0.0.1)")
    add("--port", type=int, default=8080, metavar="N", help="0: any that is free (default: 8080)")
    add("--client-key-env", metavar="NAME", help="the variable with the key clients must have")
    add("--watch", action="store_true", help="follow rule files and the file of --config")
    run = command("run", "start a coding agent before a provider of any dialect")
    run.add_argument("starts", metavar="PROGRAM", help="which one; its own words stand after `--`")
    run.add_argument("--log", metavar="FILE", help="where a line for each request goes")
    options.stands(run)
    replay = command("replay", "what recorded requests would become now")
    replay.add_argument("dir", metavar="DIR", help="the folder of `wireglot serve --record DIR`")
    text = "the file of the server: rules, options and policy of now"
    replay.add_argument("--config", metavar="FILE", help=text)
    options.rules(serve, run, replay)


def _payloads(command: Adds) -> None:
    """Add what makes payloads safe to show."""
    redact = command("redact", "make payloads safe to show: what they say goes", "rewritecli")
    add = redact.add_argument
    text = "JSON, JSON lines or a stream; - is stdin (default); equal strings of all stay equal"
    add("files", nargs="*", metavar="FILE", help=text)
    add("-o", "--output", metavar="PATH", help="write here; of several files a folder for them")
    add("--keep", action="append", default=[], metavar="WORD", help=KEEPS)
    options.folder(redact)
    case = command("case", "make a small, redacted case of a payload with a fault", "casecli")
    options.reads(case, OUTSIDE)
    options.pair(case)
    wrong = case.add_mutually_exclusive_group()
    text = "what should stand at a JSON pointer into the output; without =JSON nothing should"
    wrong.add_argument("--expect", metavar="POINTER=JSON", help=text)
    wrong.add_argument("--note", metavar="CODE", help="a note that should not be there")
    add = case.add_argument
    add("--keep", action="append", default=[], metavar="WORD", help=KEEPS)
    add("--name", metavar="TITLE", help="what the case is called (default: what is wrong)")
    options.output(case)
    options.rules(case)


# -- what commands do with rules ------------------------------------------------------------------


def _rule_sets(command: Adds) -> None:
    """Add what shows rules."""
    listed = command("dialects", "list the dialects, and what each is")
    listed.add_argument("--format", choices=("terminal", "json"), default="terminal", help=SHOWN)
    show = command("show", "print a dialect without layers: where each line came from")
    add = show.add_argument
    add("dialect", metavar="DIALECT", help="the name of a dialect")
    add("shape", nargs="?", metavar="SHAPE", help="a shape, or a word of the file")
    add("--no-examples", dest="examples", action="store_false", help="only pictures and words")
    add("--code", action="store_true", help="the functions that read and write it, as they run")
    add("--home", action="store_true", help="with --code: those of a dialect to itself")
    options.rules(listed, show)


def _changes(command: Adds) -> None:
    """Add what holds rules against others, and against what SDKs have."""
    diff = command("diff", "say what differs between two rule sets", "changescli")
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
    text = "say what a change of rule files means for users"
    add = command("breaking", text, "changescli").add_argument
    add("dir", nargs="?", metavar="DIR", help="rule files of now (default: the packaged rules)")
    text = "rule files of before: a folder, or a revision of git of DIR"
    add("--against", required=True, metavar="REF", help=text)
    add("--rules-only", action="store_true", help="convert nothing: what the rules say, no pairs")
    words = ("text", "json", "github")
    add("--format", choices=words, default="text", help=f"{SHOWN} (default: text)")
    grades = ("wire", "notes", "prose", "never")
    text = "exit with 1 where something of this grade or of one before it is found (default: wire)"
    add("--fail-on", choices=grades, default="wire", help=text)
    drift = command("drift", "hold rules against the types of the installed SDK", "changescli")
    add = drift.add_argument
    add("dialect", nargs="?", metavar="DIALECT", help="its name; none: all whose SDK is known")
    add("--format", choices=("terminal", "json"), default="terminal", help=SHOWN)
    options.rules(drift)


def _rule_files(command: Adds) -> None:
    """Add what helps to write rule files."""
    check = command("check", "check rule files for mistakes")
    check.add_argument("--json", action="store_true", help="print the findings as a JSON list")
    test = command("test", "run the examples of rule files, and the laws on made payloads")
    for made in (check, test):
        made.add_argument("dir", nargs="?", metavar="DIR", help="default: the packaged rules")
        options.overlay(made)
    add = test.add_argument
    add("--runs", type=int, default=10, metavar="N", help="payloads for each law (default: 10)")
    add("--seed", default="0", metavar="S", help="another seed makes other payloads")
    new = command("new", "start a rule file, from a parent or from samples of an API", "newcli")
    add = new.add_argument
    add("name", metavar="NAME", help="of the dialect or overlay; NAME.yaml is written")
    base = new.add_mutually_exclusive_group()
    base.add_argument("--extends", metavar="D", help="a dialect that differs little")
    text = "propose a file over this dialect from recordings of a vendor"
    base.add_argument("--like", metavar="D", help=text)
    text = "write an overlay of this dialect"
    base.add_argument("--overlay", dest="overlay_of", metavar="D", help=text)
    add("--sample", action="append", default=[], metavar="FILE", help="a JSON payload; several")
    add("--unit", metavar="U", help="what the samples are (default: told by their looks)")
    add("--see", metavar="URL", help="where the provider describes the API")
    add("--examples", action="store_true", help="only make the examples anew, of an edited file")
    add("--dir", default=".", metavar="DIR", help="where the file is written (default: here)")
    add("--force", action="store_true", help="write over a file that is there")
    options.folder(new)
    fmt = command("fmt", "lay rule files out in the one way; comments stay", "rewritecli")
    text = "rewrite rule files of version 1 in the words of version 2"
    migrate = command("migrate", text, "rewritecli")
    for made in (fmt, migrate):
        add = made.add_argument
        add("files", nargs="+", metavar="FILE", help="rule files, or folders of them; - is stdin")
        add("--diff", action="store_true", help="write nothing; print what would change")
    text = "write nothing; say which files would change"
    fmt.add_argument("--check", action="store_true", help=text)
    schema = command("schema", "print the JSON Schema of rule files, for editors")
    schema.add_argument("--ladder", action="store_true", help="that of the ladder's file")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"wireglot {version('wireglot')}")
        parser.exit()


def completion(arguments: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise Stop(USAGE, "completion needs `pip install 'wireglot[completion]'`") from None
    print(shtab.complete(parser(), arguments.shell))
    return OK
