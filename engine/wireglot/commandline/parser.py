"""What can be asked on the command line: a table of the commands, each with its arguments."""

from __future__ import annotations

import argparse
import functools
import importlib
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import library
from .terminal import OK

Argument = tuple[tuple[str, ...], dict[str, Any]]  # what `add_argument` takes: names, settings
Row = tuple[Argument, ...]


def argument(names: str, **settings: Any) -> Argument:
    """Return an argument of these `names`, as `-o --output`, with what argparse takes else."""
    return tuple(names.split()), settings


def value(names: str, shown: str, text: str, **more: Any) -> Argument:
    """Return an option with a value, or a positional argument; help texts call it `shown`."""
    return argument(names, metavar=shown, help=text, **more)


def several(names: str, shown: str, text: str) -> Argument:
    """Return an option that may be said again, each time with a value."""
    return value(names, shown, text, action="append", default=[])


def flag(name: str, text: str, action: str = "store_true", **more: Any) -> Argument:
    """Return an option without a value."""
    return argument(name, action=action, help=text, **more)


def word(name: str, words: str, text: str) -> Argument:
    """Return an option whose value is one of some words, the first where none is said."""
    known = tuple(words.split())
    return argument(name, choices=known, default=known[0], help=text)


def spaces(text: str) -> int:
    if not text.isdecimal() or len(text) > 2:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of spaces, 0 to 99")
    return int(text)


def processes(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1000:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of processes, 1 to 999")
    return int(text)


def input_arguments(model: str = "the model, where the source keeps it outside the body") -> Row:
    """Return FILE and --model, of commands that read one JSON value; `model` is a help text."""
    text = "a JSON file; - is stdin (default)"
    return value("file", "FILE", text, nargs="?", default="-"), value("--model", "M", model)


def dialect_arguments(
    source: str = "the dialect of the input", unit: str = "what the value is"
) -> tuple[Argument, Argument, Argument]:
    """Return --from, --to and --unit, of each command that converts."""
    return (
        value("--from", "D", source, dest="source", required=True),
        value("--to", "D", "the dialect to write", dest="target", required=True),
        value("--unit", "U", f"{unit} (default: request)", default="request"),
    )


def output(text: str = "write it here instead of stdout") -> Argument:
    return value("-o --output", "FILE", text)


OPTION = several("--option", "K=V", "V is JSON, else text")
CHECKED = flag("--check-arguments", "check calls against their tools' schemas")
CONVERTS = (
    *input_arguments(),
    OPTION,
    *dialect_arguments(),
    flag("--stream", "the request asks for a stream", action="store_const", const=True),
    CHECKED,
)
NOTES = word("--notes", "text json none", "how notes are printed")
WRITES = (
    several("--policy", "P", "CODE=ignore|note|fail, also effect:NAME=.. and path:POINTER=..; or a "
            "policy file"),
    NOTES,
    value("--indent", "N", "indent the result by N spaces", type=spaces),
    output("write the result here instead of stdout"),
)  # fmt: skip
SERVER = (  # of `serve` and `run`
    value("--to", "D", "the provider's dialect; `demo` is a script that needs none"),
    value("--config", "FILE", "a file that says more: providers, routes, fallbacks"),
    value("--model", "M", "the model to ask for (default: the one a client names)"),
    value("--url", "URL", "where the provider is, without the path of its API"),
    value("--key-env", "NAME", "the environment variable with the provider's key"),
    value("--max-body", "BYTES", "of a request (32 MB)", type=int),
    value("--state", "FILE", "where it remembers conversations, for restarts and other processes; "
          "redis://HOST; `memory` (default) or `none`", default="memory"),
    value("--record", "DIR", "write what becomes of each request into a folder"),
    flag("--otel", "tell of each request by OpenTelemetry"),
)  # fmt: skip
FOLDER = several("--rules", "DIR", "rule files of your own: a folder or a zip file")
OVERLAY = several("--overlay", "N", "an overlay to switch on; several in their order")
RULES = (FOLDER, flag("--plugins", "rule files of installed packages, too"), OVERLAY)
SHOWN = "how it is shown"
KEEPS = several("--keep", "WORD", "a string that stays")
RULES_ONLY = flag("--rules-only", "convert nothing: what the rules say, no pairs")
LISTED = word("--format", "terminal json", SHOWN)
FINDINGS = flag("--json", "print the findings as a JSON list")
RULES_DIR = value("dir", "DIR", "default: the packaged rules", nargs="?")
STREAM_FILES = (  # of `collect` and `frames`
    value("file", "FILE", "- is stdin", nargs="?", default="-"),
    value("--dialect", "D", "the dialect of both", required=True),
    output("write here instead of stdout"),
    NOTES,
)
REPAIR = (
    *input_arguments("the model, where the body does not name it"),
    OPTION,
    value("--dialect", "D", "the request's dialect", required=True),
)
# By name: the module whose function of that name runs it, the help, the arguments. Those in a list
# exclude each other.
COMMANDS: dict[str, tuple[str, str, tuple[Argument | list[Argument], ...]]] = {
    "convert": ("commands", "convert JSON; the notes go to stderr", (
        *CONVERTS, *WRITES, *RULES,
    )),
    "explain": ("commands", "say where a value of the output comes from", (
        *CONVERTS,
        value("path", "PATH", "a JSON pointer into the output (default: all)", nargs="?"),
        value("--input", "PATH", "say what became of this place of the input"),
        flag("--json", "print the trace as JSON"),
        value("--select", "EXPR", "print what a jmespath expression selects from this JSON"),
        *RULES,
    )),
    "report": ("commands", "show a conversion side by side, as one HTML file", (
        *CONVERTS, output(), *RULES,
    )),
    "audit": ("commands", "say what converting does with each field, from the rules alone", (
        value("--from", "D", "the dialect of the input (alone: to all)", dest="source"),
        value("--to", "D", "the dialect to write (alone: from all)", dest="target"),
        flag("--both", "the way back, too"),
        value("--unit", "U", "request, response, error or session", action="append"),
        value("--model", "M", "for this model only"),
        OPTION,
        flag("--examples", "with a payload for each line, in JSON"),
        word("--format", "terminal markdown html json", SHOWN),
        output(),
        *RULES,
    )),
    "batch": ("batchcli", "convert the JSON lines of files of any size", (
        value("files", "FILE", "JSON lines, .gz and .zst too, Parquet; a folder or glob of them; "
              "- is stdin (default)", nargs="*"),
        *dialect_arguments("the dialect of the lines", "what a line is"),
        value("--model", "M", "the model, where the lines do not name it"),
        OPTION,
        CHECKED,
        value("--at", "POINTER", "what is converted in a line; the rest stays", default=""),
        flag("--text", "a text of JSON stands at --at, and shall again"),
        output("write here instead of stdout; .gz and .zst pack, .parquet is a table"),
        value("--bad", "FILE", "where refused lines go (OUTPUT.bad.jsonl; else stderr)"),
        value("--notes", "FILE", "write every note here, as JSON lines"),
        several("--policy", "P", "as for `convert`; a forbidden note stops, and what stands before "
                "is kept"),
        word("--forbidden", "stop aside", "`aside`: such a line is refused, and the others go on"),
        value("--workers", "N", "processes (default: one a processor)", type=processes),
        flag("--resume", "go on where a run that was stopped has ended"),
        flag("--force", "begin anew, over files that are there"),
        flag("--quiet", "no progress, and no table of notes"),
        *RULES,
    )),
    "collect": ("streamcli", "make the response of a stream's frames; the notes go to stderr", (
        *STREAM_FILES, value("--indent", "N", "indent the result", type=spaces), *RULES,
    )),
    "frames": ("streamcli", "write the frames of a stream that makes a response", (
        *STREAM_FILES, *RULES,
    )),
    "diagnose": ("commands", "say what a provider would refuse in a request", (
        *REPAIR, FINDINGS, *RULES,
    )),
    "repair": ("commands", "heal a request; the notes go to stderr", (*REPAIR, *WRITES, *RULES)),
    "sessions": ("movecli", "list the sessions of agents that lie here", (
        flag("--json", "as JSON, with the files"), *RULES,
    )),
    "move": ("movecli", "write a session of one agent where another finds it", (
        value("session", "SESSION", "its id, the beginning of that, or its file"),
        value("--to", "NAME", "the agent that it goes to", dest="target", required=True),
        value("--from", "NAME", "whose a file is that lies elsewhere", dest="source"),
        value("--cwd", "DIR", "the folder that it shall be about (default: as it says)"),
        value("--id", "ID", "what it shall be called (default: as it is)"),
        flag("--dry-run", "write nothing; say what would be lost, and where"),
        *RULES,
    )),
    "serve": ("commands", "let clients of any dialect talk to any provider", (
        *SERVER,
        value("--host", "ADDRESS", "where it listens (127.0.0.1)", default="127.0.0.1"),
        value("--port", "N", "0: any that is free (default: 8080)", type=int, default=8080),
        value("--client-key-env", "NAME", "the variable with the key clients must have"),
        flag("--watch", "follow rule files and the file of --config"),
        *RULES,
    )),
    "run": ("commands", "start a coding agent before a provider of any dialect", (
        value("starts", "PROGRAM", "which one; its own words stand after `--`"),
        value("--log", "FILE", "where a line for each request goes"),
        *SERVER,
        *RULES,
    )),
    "replay": ("commands", "what recorded requests would become now", (
        value("dir", "DIR", "the folder of `wireglot serve --record DIR`"),
        value("--config", "FILE", "the file of the server: rules, options and policy of now"),
        *RULES,
    )),
    "dialects": ("commands", "list the dialects, and what each is", (LISTED, *RULES)),
    "show": ("commands", "print a dialect without layers: where each line came from", (
        value("dialect", "DIALECT", "the name of a dialect"),
        value("shape", "SHAPE", "a shape, or a word of the file", nargs="?"),
        flag("--no-examples", "only pictures and words", dest="examples", action="store_false"),
        flag("--code", "the functions that read and write it, as they run"),
        flag("--home", "with --code: those of a dialect to itself"),
        *RULES,
    )),
    "diff": ("changescli", "say what differs between two rule sets", (
        value("old", "OLD", "a folder or a zip file; - or none: as packaged", nargs="?"),
        value("new", "NEW", "the same; with one, it is compared to the packaged", nargs="?"),
        several("--overlay", "N", "switched on in NEW"),
        several("--old-overlay", "N", "switched on in OLD"),
        RULES_ONLY,
        value("--replay", "FILE", "JSON lines: which recorded payloads come out otherwise"),
        value("--from", "D", "the dialect of the recorded payloads", dest="source"),
        value("--to", "D", "the dialect to write them in", dest="target"),
        flag("--json", "print the differences as JSON"),
    )),
    "breaking": ("changescli", "say what a change of rule files means for users", (
        value("dir", "DIR", "rule files of now (default: the packaged rules)", nargs="?"),
        value("--against", "REF", "rule files of before: a folder, or a revision of git of DIR",
              required=True),
        RULES_ONLY,
        word("--format", "text json github", f"{SHOWN} (default: text)"),
        word("--fail-on", "wire notes prose never", "exit with 1 where something of this grade or "
             "of one before it is found (default: wire)"),
    )),
    "drift": ("changescli", "hold rules against the types of the installed SDK", (
        value("dialect", "DIALECT", "its name; none: all whose SDK is known", nargs="?"),
        LISTED,
        *RULES,
    )),
    "check": ("commands", "check rule files for mistakes", (FINDINGS, RULES_DIR, OVERLAY)),
    "test": ("commands", "run the examples of rule files, and the laws on made payloads", (
        RULES_DIR,
        OVERLAY,
        value("--runs", "N", "payloads for each law (default: 10)", type=int, default=10),
        value("--seed", "S", "another seed makes other payloads", default="0"),
    )),
    "new": ("newcli", "start a rule file, from a parent or from samples of an API", (
        value("name", "NAME", "of the dialect or overlay; NAME.yaml is written"),
        [
            value("--extends", "D", "a dialect that differs little"),
            value("--like", "D", "propose a file over this dialect from recordings of a vendor"),
            value("--overlay", "D", "write an overlay of this dialect", dest="overlay_of"),
        ],
        several("--sample", "FILE", "a JSON payload; several"),
        value("--unit", "U", "what the samples are (default: told by their looks)"),
        value("--see", "URL", "where the provider describes the API"),
        flag("--examples", "only make the examples anew, of an edited file"),
        value("--dir", "DIR", "where the file is written (default: here)", default="."),
        flag("--force", "write over a file that is there"),
        FOLDER,
    )),
    "fmt": ("rewritecli", "lay rule files out in the one way; comments stay", (
        value("files", "FILE", "rule files, or folders of them; - is stdin", nargs="+"),
        flag("--diff", "write nothing; print what would change"),
        flag("--check", "write nothing; say which files would change"),
    )),
    "schema": ("commands", "print the JSON Schema of rule files, for editors", (
        flag("--ladder", "that of the ladder's file"),
    )),
    "redact": ("rewritecli", "make payloads safe to show: what they say goes", (
        value("files", "FILE", "JSON, JSON lines or a stream; - is stdin (default); equal strings "
              "of all stay equal", nargs="*"),
        value("-o --output", "PATH", "write here; of several files a folder for them"),
        KEEPS,
        FOLDER,
    )),
    "case": ("casecli", "make a small, redacted case of a payload with a fault", (
        *input_arguments(),
        *dialect_arguments(),
        [
            value("--expect", "POINTER=JSON", "what should stand at a JSON pointer into the "
                  "output; without =JSON nothing should"),
            value("--note", "CODE", "a note that should not be there"),
        ],
        KEEPS,
        value("--name", "TITLE", "what the case is called (default: what is wrong)"),
        output(),
        *RULES,
    )),
    "completion": ("parser", "print what completes commands in a shell", (
        argument("shell", choices=("bash", "zsh", "tcsh"), help="of which shell"),
    )),
}  # fmt: skip


@functools.cache
def parser() -> argparse.ArgumentParser:
    """Return the parser; its namespace has `command`, which runs what was asked with that."""
    root = argparse.ArgumentParser(
        prog="wireglot",
        description="Convert what goes over the wire to and from language models.",
        epilog="Exit status: 0 ok, 1 conversion, JSON or rules failed, 2 usage, "
        "3 a note was forbidden.",
        allow_abbrev=False,
    )
    root.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = root.add_subparsers(required=True, metavar="COMMAND")
    for name, (module, text, rows) in COMMANDS.items():
        subparser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        subparser.set_defaults(command=functools.partial(_run, module, name), subparser=subparser)
        for row in rows:
            group = subparser.add_mutually_exclusive_group() if isinstance(row, list) else subparser
            for names, settings in row if isinstance(row, list) else [row]:
                group.add_argument(*names, **settings)
    return root


def _run(module: str, name: str, arguments: argparse.Namespace) -> int:
    """Run the function of a command; its module is imported only now, for a short start."""
    run: Callable[[argparse.Namespace], int]
    run = getattr(importlib.import_module(f".{module}", __package__), name)
    return run(arguments)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"wireglot {version('wireglot')}")
        parser.exit()


def completion(arguments: argparse.Namespace) -> int:
    shtab = library("shtab", "completion needs `pip install 'wireglot[completion]'`")
    print(shtab.complete(parser(), arguments.shell))
    return OK
