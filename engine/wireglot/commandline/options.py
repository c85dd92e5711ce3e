"""The options that several commands have, and what is written behind them."""

from __future__ import annotations

import argparse


def reads(made: argparse.ArgumentParser, model: str) -> None:
    """Let a command read one JSON value; `model` says what its option is for."""
    add = made.add_argument
    add("file", nargs="?", default="-", metavar="FILE", help="a JSON file; - is stdin (default)")
    add("--model", metavar="M", help=model)


def option(made: argparse.ArgumentParser) -> None:
    text = "V is JSON, else text"
    made.add_argument("--option", action="append", default=[], metavar="K=V", help=text)


def pair(
    made: argparse.ArgumentParser,
    source: str = "the dialect of the input",
    unit: str = "what the value is",
) -> None:
    """Let a command name two dialects, and what it converts."""
    add = made.add_argument
    add("--from", dest="source", required=True, metavar="D", help=source)
    add("--to", dest="target", required=True, metavar="D", help="the dialect to write")
    add("--unit", default="request", metavar="U", help=f"{unit} (default: request)")


def output(made: argparse.ArgumentParser, text: str = "write it here instead of stdout") -> None:
    made.add_argument("-o", "--output", metavar="FILE", help=text)


def notes(made: argparse.ArgumentParser) -> None:
    """Let a command say in which form its notes go to standard error."""
    forms = ("text", "json", "none")
    made.add_argument("--notes", choices=forms, default="text", help="how notes are printed")


def writes(made: argparse.ArgumentParser) -> None:
    """Let a command write one JSON value, and notes."""
    add = made.add_argument
    words = "CODE=ignore|note|fail, also effect:NAME=.. and path:POINTER=..; or a policy file"
    add("--policy", action="append", default=[], metavar="P", help=words)
    notes(made)
    add("--indent", type=spaces, metavar="N", help="indent the result by N spaces")
    output(made, "write the result here instead of stdout")


def stands(made: argparse.ArgumentParser) -> None:
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


def rules(*commands: argparse.ArgumentParser) -> None:
    """Let commands use other rules than the packaged ones."""
    for made in commands:
        folder(made)
        text = "rule files of installed packages, too"
        made.add_argument("--plugins", action="store_true", help=text)
        overlay(made)


def folder(made: argparse.ArgumentParser) -> None:
    text = "rule files of your own: a folder or a zip file"
    made.add_argument("--rules", action="append", default=[], metavar="DIR", help=text)


def overlay(made: argparse.ArgumentParser) -> None:
    text = "an overlay to switch on; several in their order"
    made.add_argument("--overlay", action="append", default=[], metavar="N", help=text)


def spaces(text: str) -> int:
    if not text.isdecimal() or len(text) > 2:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of spaces, 0 to 99")
    return int(text)


def processes(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1000:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of processes, 1 to 999")
    return int(text)
