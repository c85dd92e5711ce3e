"""Agent libraries as clients before strict stand-ins of five providers, whole and streamed.

    python -m tests.libraries FOLDER [--clients A,B] [--providers A,B] [--only whole|streamed]
                              [--broken] [-v]

Installs the libraries of `requirements.txt` into FOLDER, a virtual environment of their own: they
want other versions of the SDKs than the tests. Each library runs there, in a process that knows
nothing of wireglot (`worker.py`), and holds conversations over loopback HTTP: a text; a question
with a picture, which comes to two calls at once, a call that fails, a call that shows a picture,
and a text; and one question more. All is judged here: what the library gave to the tool and to its
user, and each request that the provider got, by the official SDK's types, by what the real API
refuses, and by what it had said and the tools had answered. `--broken` holds conversations with a
fault put in, and is content if each is found wrong.

A cell says `right`, or what the library does not send back as it was given it, so that a history
says less than the provider said (its texts, calls and results are as they were all the same):
`rides` (keys that state rides in), `ids` (of calls), `renames` (calls by ids of its own),
`thoughts`; or `noted`, where a note says that a signature is lost.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import wireglot
from wireglot.streaming.framing import Splitter

from ..loop import long, scripts
from ..loop.server import Script, Server, Talk
from ..loops import DIALECTS, MODES, Kept, _apart, concluded, serving
from ..oracles import sdk
from ..test_exchange import answered
from ..test_sdkloop import riding
from .weather import NAME, PICTURE

Json = Any
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CLIENTS = {
    "langchain": ("openai-chat", "openai-responses", "anthropic", "gemini"),
    "pydantic_ai": ("openai-chat", "openai-responses", "anthropic", "gemini"),
    "openai_agents": ("openai-chat", "openai-responses"),
    "litellm": ("openai-chat", "openai-responses", "anthropic", "gemini"),
}
TURNS = ("hello", "parallel", "fails", "picture", "answer", "thanks")
ENDS = ["Hello.", "It is warm.", "At once."]
TOLD = ["12 degrees", "25", "Timeout", "A map"]
RAN = [("Oslo", 1.0), ("Rome", 1.0), ("Oslo", 1.0), ("Rome", 1.0)]


class Wrong(Exception):
    """What is wrong with a conversation."""


class Play(Script):
    """A strict provider; `broken` changes what it answers, or what it is asked."""

    def __init__(self, dialect: str, broken: Broken | None) -> None:
        super().__init__(dialect)
        self.broken = broken
        self.home = False  # whether the client speaks its wire
        self.problems: list[str] = []

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer the next turn, or refuse."""
        if self.broken is not None:
            body = self.broken(body, True)
        if not self.home:
            self.problems += sdk.problems(self.dialect, "request", _named(body))
        elif self.dialect == "gemini":
            body = _camel(body)
        status, answer = super().post(path, body)
        if status != 200:
            self.problems.append(json.dumps(answer))
        elif self.broken is not None:
            answer = self.broken(answer, False)
        return status, answer

    def turns(self, body: Json) -> list[Json]:
        """Return all answers."""
        made = long.turns(self.dialect, NAME)
        for nth, answer in enumerate(made):
            if self.dialect == "openai-chat":
                answer["id"] = f"chatcmpl-{nth}"  # by which LangChain tells answers apart
            elif self.dialect == "ollama":
                answer |= {"prompt_eval_count": 1, "eval_count": 1}
            elif self.dialect == "gemini":
                answer["usageMetadata"] = {"promptTokenCount": 1, "totalTokenCount": 1}
        return [*made[:5], made[-1]]


def _named(body: Json) -> Json:
    """Return a request with ids of thoughts, which their type requires and the API does not."""
    if not isinstance(body.get("input"), list):
        return body
    kept = [{"id": "rs", **i} if i.get("type") == "reasoning" else i for i in body["input"]]
    return {**body, "input": kept}


def _camel(body: Json) -> Json:
    """Return a request with the keys as Google's pages write them: the API takes both spellings."""
    if isinstance(body, dict):
        return {re.sub("_(.)", lambda m: m[1].upper(), k): _camel(v) for k, v in body.items()}
    return [_camel(one) for one in body] if isinstance(body, list) else body


class _Watched(Talk):
    """A talk that sees what the client does not send back as it was given it."""

    streamed = False

    def __init__(self, client: str, script: Script, stateful: bool) -> None:
        super().__init__(client, script, stateful)
        self.rode: list[Json] = []  # what rode in the answers
        self.keeps_not: set[str] = set()

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer a request of the client."""
        _waits(self)
        assert ("stream" in path or body.get("stream", False)) == self.streamed
        back = riding(_sent(body))
        if any(what not in back for what in self.rode):
            self.keeps_not.add("rides")
        given, ids = set(_ids(self.answers)), list(_ids(body))
        if None in ids and None not in given:
            self.keeps_not.add("ids")
        if set(ids) - given - {None}:
            self.keeps_not.add("renames")
        said = json.dumps(body)
        if any(
            json.dumps(t) not in said for a in self.answers if (t := long.thought(self.client, a))
        ):
            self.keeps_not.add("thoughts")
        assert isinstance(self.script, Play)
        self.script.home = self.client == self.script.dialect
        status, answer = super().post(path, body)
        if not self.streamed:
            self.rode += riding(answer)
        return status, answer


class Whole(_Watched):
    """A talk without streams."""


class Streamed(_Watched, Kept):
    """A talk of streams."""

    streamed = True

    def seen(self, body: Json, sent: bytes) -> Json:
        """Return the answer as the client has it; keep what rode in its frames."""
        stream = wireglot.packaged()[self.client].model.stream
        assert stream is not None
        reading = Splitter(stream)
        self.rode += riding([*reading.feed(sent), *reading.finish()])
        return super().seen(body, sent)


def _sent(body: Json) -> Json:
    """Return a request without what is no part of the API: litellm moves keys into that."""
    if isinstance(body, dict):
        return {k: _sent(v) for k, v in body.items() if k != "provider_specific_fields"}
    return [_sent(one) for one in body] if isinstance(body, list) else body


def _ids(body: Json) -> Iterator[str | None]:
    """Yield the ids of all calls in a body."""
    for one in objects(body):
        if "functionCall" in one:
            yield one["functionCall"].get("id")
        elif one.get("type") == "function_call":
            yield one.get("call_id")
        elif one.get("type") == "tool_use" or "arguments" in (one.get("function") or ()):
            yield one.get("id")


def _waits(talk: Talk) -> None:
    """Wait for the end of a stream, which is over for the client before its connection ends."""
    patience = time.monotonic() + 5
    while len(talk.answers) < len(talk.asked) and time.monotonic() < patience:
        time.sleep(0.005)


# -- what is asked of a conversation ---------------------------------------------------------------


def judged(talk: _Watched, seen: Json) -> str:
    """Return what is to say of a conversation that came out right. Raises Wrong."""
    script = talk.script
    assert isinstance(script, Play)
    if script.problems or seen["error"]:
        raise Wrong("; ".join([*script.problems[:2], seen["error"] or ""]))
    if seen["texts"] != ENDS:
        raise Wrong(f"the user sees {seen['texts']}")
    ran = [(city, n) for city, n in seen["ran"]]
    if sorted(ran[:2]) + ran[2:] != RAN:
        raise Wrong(f"the tool ran as {ran}")
    if len(script.bodies) != len(TURNS):
        raise Wrong(f"{len(script.bodies)} requests")
    if not script.home:
        for answer in talk.answers:
            if found := sdk.problems(talk.client, "response", answer):
                raise Wrong(f"an answer to the client: {found[0]}")
        _thoughts(talk, seen["thoughts"])
    _results(talk)
    last = json.dumps(script.bodies[-1])
    pictures = 1 + seen["pictured"]
    if last.count(PICTURE) != pictures:
        raise Wrong(f"{last.count(PICTURE)} pictures, not {pictures}")
    return "" if script.home else _history(talk)


def _thoughts(talk: Talk, seen: list[str]) -> None:
    """Hold the thoughts that the user sees against those of the provider."""
    given = [long.thought(talk.script.dialect, answer) or "" for answer in talk.script.mock.sent]
    shown = [long.thought(talk.client, answer) for answer in talk.answers]
    if None not in shown and (shown != given or "".join(seen) != "".join(given)):
        raise Wrong(f"thoughts {given}, shown as {shown}, seen as {seen}")


def _results(talk: Talk) -> None:
    """Hold what each request says that the tools answered, and which of it is an error."""
    provider = talk.script.dialect
    for count, body in enumerate(talk.script.bodies):
        told = answered(provider, body)
        wanted = TOLD[: (0, 0, 2, 3, 4, 4)[count]]
        if len(told) != len(wanted) or any(w not in t for w, t in zip(wanted, told, strict=True)):
            raise Wrong(f"request {count}: the tools answered {told}")
    meant, marked = failed(talk.client, talk.asked[-1]), failed(provider, talk.script.bodies[-1])
    if not meant or not marked:
        return
    # JSON that the client does not mark may read as an error.
    if marked[:2] != meant[:2] or any(m and not k for m, k in zip(meant, marked, strict=True)):
        raise Wrong(f"errors {meant} are told as {marked}")


def failed(dialect: str, body: Json) -> list[bool] | None:
    """Tell of each result whether it is marked as an error; None where a wire has no mark."""
    if dialect == "anthropic":
        results = [one for one in objects(body) if one.get("type") == "tool_result"]
        return [bool(result.get("is_error")) for result in results]
    if dialect == "gemini":
        results = [one["functionResponse"] for one in objects(body) if "functionResponse" in one]
        return ["error" in result["response"] for result in results]
    return None


def _history(talk: _Watched) -> str:
    """Hold what stands in each request of what the provider said against what it said."""
    script, less = talk.script, False
    for count, body in enumerate(script.bodies):
        sent = [scripts.said(script.dialect, answer) for answer in script.mock.sent[:count]]
        held = scripts.history(script.dialect, body)
        if [_plain(turn) for turn in held] == [_plain(turn) for turn in sent]:
            continue
        less = True
        core = [[_core(script.dialect, turn) for turn in turns] for turns in (held, sent)]
        if core[0] != core[1]:
            raise Wrong(f"request {count}: {core[0]} was said as {core[1]}")
        if talk.state is not None:
            excused = "renames" in talk.keeps_not
        else:
            excused = bool(talk.keeps_not) or _lost(talk)
        if not excused:
            pairs = zip(map(_plain, held), map(_plain, sent), strict=False)
            raise Wrong(f"request {count}: {next(pair for pair in pairs if pair[0] != pair[1])}")
    return " ".join(sorted(talk.keeps_not) or ["noted"]) if less else ""


def _lost(talk: Talk) -> bool:
    """Tell whether a note says that a signature is lost."""
    return any(note.effect == "lost" and note.code == "foreign-signature" for note in talk.notes)


def _plain(turn: list[Json]) -> list[Json]:
    """Return a turn with its texts in one piece, and arguments as values."""
    out = json.loads(json.dumps(_apart(turn)))
    for part in out:
        for held in (part, part.get("function", {})) if isinstance(part, dict) else ():
            if isinstance(held.get("arguments"), str):
                held["arguments"] = json.loads(held["arguments"])
    return [part for part in out if part not in (None, "")]


def _core(dialect: str, turn: list[Json]) -> list[Json]:
    """Return the text of a turn, and its calls by name and arguments."""
    text, calls = "", []
    for part in _plain([turn[0], *turn[2:]] if dialect == "ollama" else turn):
        if isinstance(part, str):
            text += part
            continue
        call = part.get("function") or part.get("functionCall") or part
        if "name" in call:
            calls.append([call["name"], call.get("arguments", call.get("args", call.get("input")))])
        elif "text" in part and not part.get("thought"):
            text += part["text"]
    return [text, *calls]


# -- faults that are put in ------------------------------------------------------------------------

Broken = Callable[[Json, bool], Json]  # of a body, and whether it is a request


def _swap(old: str, new: str, request: bool) -> Broken:
    """Return a fault: a text in the place of another, and the other in its place."""
    parts = re.compile(f"({re.escape(old)}|{re.escape(new)})" if new else re.escape(old))

    def broken(body: Json, is_request: bool) -> Json:
        if is_request is not request:
            return body
        said = json.dumps(body)
        made = parts.sub(lambda found: new if found[0] == old else old, said)
        return json.loads(made)

    return broken


def _crossed(*keys: str) -> Broken:
    """Return a fault: the first two results have what the other has under one of some keys."""

    def broken(body: Json, request: bool) -> Json:
        body = json.loads(json.dumps(body))
        results = [one for one in objects(body) if _is_result(one)]
        if request and len(results) > 1:
            one, two = results[:2]
            key = next(key for key in keys if key in one)
            one[key], two[key] = two[key], one[key]
        return body

    return broken


def objects(value: Json) -> Iterator[dict[str, Any]]:
    """Yield all objects in a value, in order."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from objects(inner)


def _is_result(one: dict[str, Any]) -> bool:
    named = "tool_call_id" in one or "tool_name" in one or one.get("type") == "tool_result"
    return named or "functionResponse" in one or one.get("type") == "function_call_output"


FAULTS: dict[str, tuple[tuple[str, ...], Broken]] = {
    "ids of results crossed": (
        ("openai-chat", "openai-responses", "anthropic"),
        _crossed("tool_call_id", "tool_use_id", "call_id"),
    ),
    "results crossed": (DIALECTS, _crossed("content", "output", "functionResponse")),
    "a result changed": (DIALECTS, _swap("12 degrees", "13 degrees", True)),
    "a result gone": (DIALECTS, _swap("A map", "", True)),
    "an argument changed": (DIALECTS, _swap("Rome", "Roma", False)),
    "an argument in the history changed": (DIALECTS, _swap("Oslo", "Olso", True)),
    "an error told as none": (DIALECTS, _swap("Timeout", "Fine", True)),
    "the mark of an error gone": (
        ("anthropic",),
        _swap('"is_error": true', '"is_error": false', True),
    ),
    "a picture gone": (DIALECTS, _swap(PICTURE, "", True)),
    "the last text changed": (DIALECTS, _swap("At once.", "At twice.", False)),
    "a signature changed": (("gemini",), _swap("BBEC", "BBED", True)),
    "a thought changed": (
        ("anthropic", "openai-responses"),
        _swap("Two cities", "To cities", True),
    ),
    "a key that no type has": (
        DIALECTS,
        lambda body, request: {**body, "odd": 1} if request else body,
    ),
}


# -- the libraries ---------------------------------------------------------------------------------


def install(folder: Path) -> Path:
    """Make the libraries ready in a virtual environment; return its interpreter."""
    python, stamp = folder / "bin/python", folder / "installed.txt"
    wanted = (HERE / "requirements.txt").read_text("utf-8")
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        print(f"Installing agent libraries into {folder}.", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "-qq", "-r", str(HERE / "requirements.txt")]
        subprocess.run(pip, check=True)
        stamp.write_text(wanted, "utf-8")
    return python.absolute()


class Library:
    """A library in its own process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def holds(self, **what: Json) -> Json:
        """Let it hold a conversation; return what its user saw."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(what), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"The process of a library ended: {self.process.wait()}")
        return json.loads(line)


@contextmanager
def library(python: Path, name: str, verbose: bool) -> Iterator[Library]:
    """Run a library until the end of the block."""
    command = [str(python), "-m", "tests.libraries.worker", name]
    env = {**os.environ, "NO_PROXY": "127.0.0.1", "LANGSMITH_TRACING": "false"}
    errors = None if verbose else subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=ROOT, env=env, text=True, stdin=-1, stdout=-1, stderr=errors
    ) as process:
        yield Library(process)
        assert process.stdin is not None
        process.stdin.close()


def conversation(
    server: Server,
    one: Library,
    wire: str,
    provider: str,
    mode: str,
    stateful: bool,
    fault: Broken | None = None,
) -> str:
    """Hold one conversation; return what is to say of it, "" for nothing. Raises Wrong."""
    kind: type[_Watched] = Streamed if mode == "streamed" else Whole
    talk = kind(wire, Play(provider, fault), stateful)
    server.serves(talk)
    server.errors.clear()
    seen = one.holds(wire=wire, url=server.url, streamed=mode == "streamed")
    _waits(talk)
    try:
        return judged(talk, seen)
    except (Wrong, LookupError, TypeError, ValueError) as error:
        raise Wrong("; ".join([f"{error}", *server.errors])) from error


def broken(server: Server, python: Path, verbose: bool) -> int:
    """Put each fault into conversations of pydantic-ai; return 1 where one is not found."""
    ran, missed = 0, []
    with library(python, "pydantic_ai", verbose) as one:
        for name, (providers, fault) in FAULTS.items():
            for provider in providers:
                wire = "anthropic" if provider == "gemini" else "gemini"
                for mode in MODES:
                    ran += 1
                    try:
                        conversation(server, one, wire, provider, mode, True, fault)
                        missed.append(f"{name}: {wire} before {provider}, {mode}")
                    except Wrong as error:
                        if "code: 500" in str(error):  # it is no fault that the server breaks at
                            missed.append(f"{name}: {error}")
                        if verbose:
                            print(f"{name}, {provider}, {mode}: {str(error)[:300]}")
    print("\n".join([f"{ran} conversations with a fault, {len(missed)} not found", *missed]))
    return 1 if missed else 0


def main(arguments: list[str] | None = None) -> int:
    """Run the conversations that are asked for; print the table; return 1 where one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.libraries")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--wires", default=",".join(DIALECTS))
    parser.add_argument("--providers", default=",".join(DIALECTS))
    parser.add_argument("--only", choices=MODES)
    parser.add_argument("--broken", action="store_true", help="put faults in instead")
    parser.add_argument("-v", "--verbose", action="store_true")
    said = parser.parse_args(arguments)
    python = install(said.folder)
    with serving() as server:
        if said.broken:
            return broken(server, python, said.verbose)
        return table(server, python, said)


def table(server: Server, python: Path, said: argparse.Namespace) -> int:
    """Hold conversations, one for each cell; print what came of them."""
    wrong: list[str] = []
    begun, ran = time.perf_counter(), 0
    providers = said.providers.split(",")
    print("| client | speaks | mode | " + " | ".join(providers) + " |")
    print("|---" * (3 + len(providers)) + "|")
    ways = [(m, kept) for m in ([said.only] if said.only else MODES) for kept in (True, False)]
    for client in said.clients.split(","):
        wires = [wire for wire in CLIENTS[client] if wire in said.wires.split(",")]
        with library(python, client, said.verbose) as one:
            for wire, (mode, stateful) in itertools.product(wires, ways):
                way = f"{mode}, {'a state' if stateful else 'no state'}"
                row = [client, wire, way]
                for provider in providers:
                    ran += 1
                    try:
                        found = conversation(server, one, wire, provider, mode, stateful)
                        row.append(found or "right")
                    except Wrong as error:
                        row.append("WRONG")
                        wrong.append(f"{client} ({wire}) before {provider}, {way}: {error}")
                print(f"| {' | '.join(row)} |", flush=True)
    return concluded(ran, wrong, begun, None if said.verbose else 600)


if __name__ == "__main__":
    sys.exit(main())
