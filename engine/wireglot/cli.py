"""The command line: `convert`, `explain`, `collect`, `diagnose`, `repair`, `dialects`, `show` ...

Exit status: 0 ok, 1 conversion, JSON or rules failed, 2 usage, 3 a note was forbidden.
Imports stand inside the functions: most of a short command's time is its start.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from .notes import Note
    from .policy import Policy, Row
    from .results import Conversion
    from .rulesets import RuleSet

OK, FAILED, USAGE, FORBIDDEN = 0, 1, 2, 3
PASSED_ON = ("source", "target", "unit", "model", "stream")
WORDS = ("ignore", "note", "fail")
CHECKED = "check calls against their tools' schemas"
RULES = "rule files of your own: a folder or a zip file"
OVERLAY = "an overlay to switch on; several in their order"


class _Stop(Exception):
    """Ends the command with a message and an exit status."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    if sys.stderr is None:  # closed; what is said there must not end up in the result
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    arguments = _arguments(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    from .errors import PolicyError, UsageError, WireglotError

    try:
        if sys.stdout is None and getattr(arguments, "output", None) is None:
            raise _Stop(FAILED, "stdout is closed, so nothing can be printed")
        status = command(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except _Stop as stop:
        return _say(stop, stop.status)
    except UsageError as error:
        return _say(error, USAGE)
    except PolicyError as error:
        _print_notes(error.conversion.notes if error.conversion else (), arguments.notes)
        return _say(error, FORBIDDEN)
    except WireglotError as error:
        return _say(error, FAILED)
    except BrokenPipeError:
        _drop()
        return 128 + 13
    except OSError as error:
        _drop()
        return _say(_Stop(FAILED, f"stdout cannot be written: {error.strerror}"), FAILED)
    except KeyboardInterrupt:
        return 128 + 2


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; the PATH of `explain` may stand behind the options."""
    parser = _parser()
    arguments, rest = parser.parse_known_args(argv)
    if rest and getattr(arguments, "path", "") is None and not rest[0].startswith("-"):
        arguments.path = rest.pop(0)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return arguments


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
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> Any:
        made = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        made.set_defaults(command=run)
        return made

    convert = command("convert", _convert, "convert JSON; the notes go to stderr")
    explain = command("explain", _explain, "say where a value of the output comes from")
    report = command("report", _report, "show a conversion side by side, as one HTML file")
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
    report.add_argument("-o", "--output", metavar="FILE", help="write it here instead of stdout")

    show = command("show", _show, "print a dialect without layers: where each line came from")
    show.add_argument("dialect", metavar="DIALECT", help="the name of a dialect")
    show.add_argument("shape", nargs="?", metavar="SHAPE", help="a shape, or a word of the file")

    diagnose = command("diagnose", _diagnose, "say what a provider would refuse in a request")
    repair = command("repair", _repair, "heal a request; the notes go to stderr")
    for made in (diagnose, repair):
        _reads(made, "the model, where the body does not name it")
        made.add_argument("--dialect", required=True, metavar="D", help="the request's dialect")
    diagnose.add_argument("--json", action="store_true", help="print the findings as a JSON list")
    _writes(repair)

    collect = command("collect", _collect, "make the response of a stream's frames")
    frames = command("frames", _frames, "write the frames of a stream that makes a response")
    for made in (collect, frames):
        made.add_argument("file", nargs="?", default="-", metavar="FILE", help="- is stdin")
        made.add_argument("--dialect", required=True, metavar="D", help="the dialect of both")
        made.add_argument("-o", "--output", metavar="FILE", help="write here instead of stdout")
    collect.add_argument("--indent", type=_spaces, metavar="N", help="indent the result")

    listed = command("dialects", _dialects, "list the dialects")
    for made in (convert, explain, report, collect, frames, listed, show, diagnose, repair):
        add = made.add_argument
        add("--rules", action="append", default=[], metavar="DIR", help=RULES)
        add("--plugins", action="store_true", help="rule files of installed packages, too")
        add("--overlay", action="append", default=[], metavar="N", help=OVERLAY)
    check = command("check", _check, "check rule files for mistakes")
    check.add_argument("--json", action="store_true", help="print the findings as a JSON list")
    test = command("test", _test, "run the examples of rule files, and the laws on made payloads")
    for made in (check, test):
        made.add_argument("dir", nargs="?", metavar="DIR", help="default: the packaged rules")
        made.add_argument("--overlay", action="append", default=[], metavar="N", help=OVERLAY)
    add = test.add_argument
    add("--runs", type=int, default=10, metavar="N", help="payloads for each law (default: 10)")
    add("--seed", default="0", metavar="S", help="another seed makes other payloads")
    schema = command("schema", _schema, "print the JSON Schema of rule files, for editors")
    schema.add_argument("--ladder", action="store_true", help="that of the ladder's file")
    return parser


def _reads(made: argparse.ArgumentParser, model: str) -> None:
    """Let a command read one JSON value; `model` says what its option is for."""
    add = made.add_argument
    add("file", nargs="?", default="-", metavar="FILE", help="a JSON file; - is stdin (default)")
    add("--model", metavar="M", help=model)
    add("--option", action="append", default=[], metavar="K=V", help="V is JSON, else text")


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


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"wireglot {version('wireglot')}")
        parser.exit()


def _explain(arguments: argparse.Namespace) -> int:
    from . import explain

    body, out = _traced(arguments)
    part = explain.chosen(out, arguments.path, arguments.input)
    if arguments.json:
        text = json.dumps(explain.as_json(out, part), indent=2)
    else:
        briefly = arguments.path is None and arguments.input is None
        text = "\n".join(explain.lines(body, out, part, briefly))
    _write((text + "\n").encode("utf-8", "backslashreplace"), None)
    return OK


def _report(arguments: argparse.Namespace) -> int:
    from . import report

    body, out = _traced(arguments)
    text = report.page(body, out, arguments.source, arguments.target, arguments.unit)
    _write(text.encode("utf-8", "backslashreplace"), arguments.output)
    return OK


def _traced(arguments: argparse.Namespace) -> tuple[Any, Conversion]:
    """Return the input of a command, and its conversion with a trace."""
    rules = _rules(arguments)
    chosen = {name: getattr(arguments, name) for name in PASSED_ON}
    options = _options(arguments)
    body = _given(rules, arguments)
    return body, rules.convert(body, **chosen, options=options, trace=True)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    options = dict(map(_option, arguments.option))
    if getattr(arguments, "check_arguments", False):
        options["check_arguments"] = True
    return options


def _given(rules: RuleSet, arguments: argparse.Namespace) -> Any:
    """Return the value that a command is given; a session file has a form of its own."""
    if arguments.unit != "session":
        return _body(arguments.file)
    text = _text(_read(arguments.file), _named(arguments.file))
    return rules[arguments.source].parse(text)


def _convert(arguments: argparse.Namespace) -> int:
    rules = _rules(arguments)
    chosen = {name: getattr(arguments, name) for name in PASSED_ON}
    options = _options(arguments)
    policy = _policy(arguments.policy)
    if arguments.unit == "stream":
        from . import streamcli

        files = (arguments.file, arguments.output)
        _print_notes(streamcli.convert(rules, chosen, options, policy, files), arguments.notes)
        return OK
    out = rules.convert(_given(rules, arguments), **chosen, options=options, policy=policy)
    if arguments.unit == "session":
        printed = rules[arguments.target].text(out.body, arguments.indent)
        _write(printed.encode("utf-8", "backslashreplace"), arguments.output)
    else:
        _write(_dump(out.body, arguments.indent), arguments.output)
    _print_notes(out.notes, arguments.notes)
    return OK


def _collect(arguments: argparse.Namespace) -> int:
    from . import streamcli

    rules = _rules(arguments)
    body = streamcli.collect(rules, arguments.dialect, arguments.file)
    _write(_dump(body, arguments.indent), arguments.output)
    return OK


def _frames(arguments: argparse.Namespace) -> int:
    from . import streamcli

    rules = _rules(arguments)
    streamcli.frames(rules, arguments.dialect, _body(arguments.file), arguments.output)
    return OK


def _diagnose(arguments: argparse.Namespace) -> int:
    rules = _rules(arguments)
    options = _options(arguments)
    body = _body(arguments.file)
    found = rules.diagnose(body, arguments.dialect, arguments.model, options)
    if arguments.json:
        _print_list([one._asdict() for one in found])
    else:
        for one in found:
            print(one)
        healed = sum(one.healed for one in found)
        print(f"{len(found)} found, of which `repair` heals {healed}" if found else "nothing found")
    return FAILED if found else OK


def _repair(arguments: argparse.Namespace) -> int:
    rules = _rules(arguments)
    options = _options(arguments)
    policy = _policy(arguments.policy)
    body = _body(arguments.file)
    out = rules.repair(body, arguments.dialect, arguments.model, options, policy)
    _write(_dump(out.body, arguments.indent), arguments.output)
    _print_notes(out.notes, arguments.notes)
    return OK


def _print_list(items: Sequence[Any]) -> None:
    """Print a JSON list with an item on each line."""
    lines = ",\n".join(map(json.dumps, items))
    print(f"[\n{lines}\n]" if lines else "[]")


def _body(file: str) -> Any:
    return _parse(_read(file), _named(file))


def _named(file: str) -> str:
    return "stdin" if file == "-" else file


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Stop(FAILED, f"`{name}` is no JSON: byte {error.start} is no UTF-8") from None


def _dialects(arguments: argparse.Namespace) -> int:
    rules = _rules(arguments)
    width = max(map(len, rules.dialects), default=0)
    for name in rules.dialects:
        dialect = rules[name]
        verified, see = (getattr(dialect, field, None) or "" for field in ("verified", "see"))
        print(f"{name:<{width}}  {verified!s:<10}  {see}".rstrip())
    return OK


def _show(arguments: argparse.Namespace) -> int:
    from . import load, show
    from .rulesets import check_name

    _folders(arguments.rules)
    # The prepared model knows the place of every value but of no key.
    nodes = load.gathered(load.from_yaml(), arguments.rules, arguments.overlay, arguments.plugins)
    check_name(arguments.dialect, [name for name in nodes if name != load.LADDER])
    text = show.flat_yaml(nodes[arguments.dialect], arguments.shape)
    _write(text.encode("utf-8", "backslashreplace"), None)
    return OK


def _check(arguments: argparse.Namespace) -> int:
    from . import load

    if arguments.dir:
        _holds_rules(arguments.dir)
    findings = load.check(arguments.dir, arguments.overlay)
    if arguments.json:
        _print_list([finding.as_json() for finding in findings])
    else:
        for finding in findings:
            print(finding)
        print(_told([finding.severity for finding in findings], len(findings.texts)))
    return FAILED if any(finding.severity == "error" for finding in findings) else OK


def _schema(arguments: argparse.Namespace) -> int:
    from . import load

    _write(load.schema("ladder" if arguments.ladder else "rule-file"), None)
    return OK


def _told(severities: Sequence[str], files: int) -> str:
    counts = []
    for word in ("error", "warning", "info"):
        if found := severities.count(word):
            counts.append(f"{found} {word}{'s' * (found != 1)}")
    return f"{files} file{'s' * (files != 1)}, {', '.join(counts) or 'no findings'}"


def _test(arguments: argparse.Namespace) -> int:
    from . import trial

    tried = trial.Trial(arguments.dir, arguments.runs, arguments.seed)
    if arguments.overlay:  # what stands below the overlays holds without them
        below = trial.loaded([arguments.dir] if arguments.dir else [], [])
        tried.run(below, below.dialects)
    for rules, names in _each(arguments, trial.loaded):
        tried.run(rules, names)
    for failure in tried.failures:
        print(failure)
    failed, total = len(tried.failures), len(tried.examples) + tried.laws
    print(f"{len(tried.examples)} examples, {tried.laws} laws on {arguments.runs} payloads each")
    print(f"{total - failed} passed, {failed} failed")
    return FAILED if failed else OK


def _each(
    arguments: argparse.Namespace, loaded: Callable[[Sequence[str], Sequence[str]], RuleSet]
) -> Iterator[tuple[RuleSet, Sequence[str]]]:
    """Yield the rules as they are asked for, then with each overlay beside them switched on."""
    from . import load

    folders = [arguments.dir] if arguments.dir else []
    _folders(folders)
    rules = loaded(folders, arguments.overlay)
    yield rules, rules.dialects
    for name, dialect in load.overlays_of(*folders).items():
        if name not in arguments.overlay:
            yield loaded(folders, [*arguments.overlay, name]), [dialect]


def _rules(arguments: argparse.Namespace) -> RuleSet:
    import wireglot

    _folders(arguments.rules)
    return wireglot.load_rules(
        *arguments.rules, overlays=arguments.overlay, plugins=arguments.plugins
    )


def _folders(directories: Sequence[str]) -> None:
    for directory in directories:
        _holds_rules(directory)


def _holds_rules(directory: str) -> None:
    if Path(directory).is_dir() and not any(Path(directory).glob("*.yaml")):
        raise _Stop(USAGE, f"`{directory}` is no directory that holds rule files (*.yaml)")


def _option(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise _Stop(USAGE, f"`--option {text}` has no `K=V`; say for example `repair=true`")
    try:
        return key, json.loads(value, parse_constant=_no_constant)
    except ValueError:
        return key, value


def _policy(texts: Iterable[str]) -> Policy:
    from .policy import Policy, load_policy

    table: dict[str, str] = {}
    rows: list[Row] = []
    otherwise = "note"
    for text in texts:
        key, equals, word = text.rpartition("=")
        if equals and word in WORDS:
            table[key] = word
        elif equals and not Path(text).is_file():
            raise _Stop(USAGE, f"`--policy {text}`: `{word}` is none of {', '.join(WORDS)}")
        else:
            loaded = load_policy(text)
            table.update(loaded.table)
            rows += loaded.rows
            otherwise = loaded.otherwise
    return Policy(table, rows, otherwise)


def _read(name: str) -> bytes:
    if name == "-" and sys.stdin is None:
        raise _Stop(USAGE, "stdin is closed; name a FILE")
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise _Stop(USAGE, f"`{name}` cannot be read: {error.strerror}") from None


def _parse(data: bytes, name: str) -> Any:
    text = _text(data, name)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        message = f"line {error.lineno} column {error.colno}: {error.msg}"
    except RecursionError:
        message = "it is nested too deeply"
    except ValueError as error:
        message = str(error)
    raise _Stop(FAILED, f"`{name}` is no JSON: {message}")


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"`{word}` is no JSON number")


def _dump(body: object, indent: int | None) -> bytes:
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        text = json.dumps(
            body, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
        )
    except (ValueError, RecursionError) as error:
        raise _Stop(FAILED, f"the result cannot be written as JSON: {error}") from None
    # A lone surrogate cannot stand in UTF-8; JSON.stringify escapes it in the same way.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _write(data: bytes, name: str | None) -> None:
    if name is None:
        while data:  # unbuffered, a write may end early
            data = data[sys.stdout.buffer.write(data) :]
        sys.stdout.buffer.flush()
        return
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        raise _Stop(USAGE, f"`{name}` cannot be written: {error.strerror}") from None


def _print_notes(notes: Sequence[Note], form: str) -> None:
    if form == "json":
        print(json.dumps([note._asdict() for note in notes]), file=sys.stderr)
    elif form == "text":
        for note in notes:
            print(note, file=sys.stderr)
