"""What two engines do side by side on recorded and made payloads; `tests.against` runs it."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from . import old, streamdiff, sweep
from .mutate import some
from .sides import Case, Seen, Side, attempt, conversion, noted, told, under

Json = Any
SHARED = Path(__file__).parent.parent.parent / "shared"
TRAFFIC = SHARED / "traffic"
SAMPLES = SHARED / "facts" / "samples"
SESSIONS = Path(__file__).parent / "cases" / "sessions"
# Whose recordings stand for a dialect.
FILES = {
    "openai-chat": "openai-chat", "openai-responses": "openai-responses", "anthropic": "anthropic",
    "gemini": "gemini", "vertex": "gemini", "ollama": "ollama", "deepseek": "deepseek",
    "chat-compatible": "openai-compat",
}  # fmt: skip
PROVIDERS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama")
OPTIONS: tuple[dict[str, Any], ...] = (
    {"repair": False}, {"repair": True}, {"json_results": "text"}, {"json_results": "data"},
    {"check_arguments": True}, {"tell_constraints": True}, {"version": {"anthropic": "2023-06-01"}},
)  # fmt: skip
STATES: tuple[dict[str, Any] | None, ...] = (None, {})  # of an exchange: not kept, and kept
LONG = 20_000  # characters of a body that is only converted
MUTANTS, CUTS = 4_800, 5_000


class Body(NamedTuple):
    """A payload, and how it is converted."""

    dialect: str
    unit: str
    body: Json
    name: str
    more: dict[str, Any]


@cache
def dialects(unit: str) -> list[str]:
    """Return the dialects of before that have a unit."""
    rules = old.engine().packaged()
    return [name for name in rules.dialects if unit in rules[name].model.units]


@cache
def streaming() -> list[str]:
    """Return the dialects of before that have streams."""
    rules = old.engine().packaged()
    return [name for name in rules.dialects if rules[name].model.stream]


@cache
def recorded(dialect: str) -> list[Json]:
    """Return the recorded exchanges of a dialect."""
    with gzip.open(TRAFFIC / f"{FILES.get(dialect, dialect)}.jsonl.gz", "rt") as lines:
        return [{**json.loads(line), "format": FILES.get(dialect) and dialect} for line in lines]


@cache
def bodies(dialect: str) -> list[Body]:
    """Return the recorded requests, responses and errors of a dialect."""
    found = []
    for exchange in recorded(dialect):
        if exchange["format"] is None:  # of agents: each says its own
            exchange = {**exchange, "format": exchange["family"]}
        for unit in sweep.units_of(exchange, dialects("request")):
            more = {"model": unit.model, "stream": unit.stream}
            found.append(Body(unit.dialect, unit.unit, unit.body, unit.exchange, more))
    return found


def _all(every: int) -> Iterator[Body]:
    for dialect in FILES:
        yield from bodies(dialect)[::every]


# -- whole bodies ---------------------------------------------------------------------------------


def _converts(section: str, one: Body, target: str, body: Json = None, **more: Any) -> Case:
    given = one.body if body is None else body
    run = partial(_converted, given, one.dialect, target, one.unit, {**one.more, **more})
    return Case(section, f"{one.dialect}>{target} {one.unit}", one.name, run)


def _converted(
    body: Json, source: str, target: str, unit: str, more: dict[str, Any], side: Side
) -> Seen:
    if source == target and not more.get("options"):
        more = {**more, "options": {"repair": False}}  # else it is given back and not written
    return side.convert(body, source, target, unit, **more)


def converted(every: int) -> Iterator[Case]:
    """Convert each body to every dialect and home, and read it."""
    for one in _all(every):
        yield Case("read", f"{one.dialect} {one.unit}", one.name, partial(_read, one))
        for target in dialects(one.unit):
            yield _converts("convert", one, target)


def agents(every: int) -> Iterator[Case]:
    """Convert the requests of coding agents to every dialect and home."""
    for one in bodies("agents")[::every]:
        for target in dialects(one.unit):
            yield _converts("agents", one, target)


def _read(one: Body, side: Side) -> Seen:
    def call() -> Seen:
        made = side.rules[one.dialect].read(one.body, one.unit, **one.more)
        back = side.rules[one.dialect].write(copy.deepcopy(made.ir), one.unit)
        return {"IR": made.ir, "notes": noted(made.notes), **under("written", conversion(back))}

    return attempt(call)


def others(every: int) -> Iterator[Case]:
    """Convert with options and a trace, and repair and diagnose requests."""
    chance = random.Random("others")
    for one in _all(every):
        there = dialects(one.unit)
        yield _converts("options", one, chance.choice(there), options=chance.choice(OPTIONS))
        if one.unit != "error" and len(str(one.body)) < LONG:
            yield _converts("trace", one, chance.choice(there), trace=True)
        if one.unit == "request":
            yield Case("repair", one.dialect, one.name, partial(_repaired, one))


def _repaired(one: Body, side: Side) -> Seen:
    def call() -> Seen:
        model = one.more["model"]
        found = side.rules.diagnose(one.body, one.dialect, model)
        said = [[f.code, f.severity, f.path, f.message, f.help, f.healed] for f in found]
        return {**conversion(side.rules.repair(one.body, one.dialect, model)), "diagnosed": said}

    return attempt(call)


def mutants(every: int, count: int = MUTANTS) -> Iterator[Case]:
    """Convert mutants of bodies to some dialects and home."""
    chance = random.Random("mutants")
    there = [one for one in _all(1) if len(str(one.body)) <= LONG]
    for one in there[::every]:
        for mutant in some(one.body, -(-count // len(there)), one.name):
            for target in (one.dialect, *chance.sample(dialects(one.unit), 2)):
                yield _converts("mutants", one, target, mutant)
            made = one._replace(body=mutant)
            yield Case("mutants", f"{one.dialect} {one.unit}", one.name, partial(_read, made))


# -- the units within -----------------------------------------------------------------------------


def pieces(every: int) -> Iterator[Case]:
    """Write each kind of message, tool, call and result that was read, and convert what it is."""
    known: set[str] = set()
    rules = old.engine().packaged()
    for one in _all(every):
        if one.unit == "error" or len(str(one.body)) > LONG:
            continue
        try:
            ir = rules[one.dialect].read(one.body, one.unit, **one.more).ir
        except old.engine().WireglotError:
            continue
        for unit, piece in _within(ir):
            key = f"{one.dialect} {unit} {_form(piece)}"
            if key not in known:
                known.add(key)
                yield from _piece(one, unit, piece)


def _piece(one: Body, unit: str, piece: Json) -> Iterator[Case]:
    rules = old.engine().packaged()
    for target in dialects("request"):
        run = partial(_written, piece, target, unit)
        yield Case("pieces", f"IR>{target} {unit}", one.name, run)
    try:
        wire = rules[one.dialect].write(copy.deepcopy(piece), unit).body
    except old.engine().WireglotError:
        return
    made = one._replace(body=wire, unit=unit, more={})
    for target in dialects("request"):
        yield _converts("pieces", made, target)


def _within(ir: Json) -> Iterator[tuple[str, Json]]:
    """Yield the parts of a request or response that are units, with the names of these."""
    for field in ("messages", "tools", "tool_choice", "usage"):
        if field in ir:
            yield field, ir[field]
    for tool in ir.get("tools", ()):
        yield "tool", tool
    for message in (*ir.get("messages", ()), *ir.get("candidates", ())):
        if "role" in message:
            yield "message", message
        for part in message.get("parts", ()):
            if part.get("type") in ("tool_call", "tool_result"):
                yield part["type"], part


def _form(value: Json) -> str:
    """Return which keys and types a value has, and its short words."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_form(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({_form(item) for item in value})) + "]"
    if isinstance(value, str):
        return value if len(value) < 12 and value.islower() else "text"
    return type(value).__name__


def _written(ir: Json, target: str, unit: str, side: Side) -> Seen:
    return attempt(lambda: conversion(side.rules[target].write(copy.deepcopy(ir), unit)))


# -- streams --------------------------------------------------------------------------------------


def streams(every: int) -> Iterator[Case]:
    """Translate each recorded stream to every dialect, fold it, and say each response as one."""
    chance = random.Random("streams")
    for dialect in [name for name in FILES if name in streaming()]:
        for nth, exchange in enumerate(recorded(dialect)):
            if not exchange.get("stream") or nth % every:
                continue
            frames = [_data(event) for event in exchange["stream"]]
            name = exchange["id"]
            yield Case("streams", f"{dialect} fold", name, partial(_folded, frames, dialect))
            for target in streaming():
                run = partial(_translated, frames, dialect, target, None)
                yield Case("streams", f"{dialect}>{target}", name, run)
            # A stream that breaks off, loses a frame, or comes as bytes.
            target, at = chance.choice(streaming()), chance.randrange(len(frames))
            for odd in (frames[:at], frames[:at] + frames[at + 1 :], [*frames, frames[at]]):
                run = partial(_translated, odd, dialect, target, None)
                yield Case("streams", f"{dialect}>{target} odd", name, run)
            run = partial(_translated, frames, dialect, target, _as_bytes(frames, dialect))
            yield Case("streams", f"{dialect}>{target} bytes", name, run)
        for one in bodies(dialect)[::every]:
            if one.unit == "response":
                run = partial(_unfolded, one.body, dialect)
                yield Case("streams", f"{dialect} unfold", one.name, run)


def _data(event: Json) -> Json:
    return event["data"] if isinstance(event, dict) and "data" in event else event


def _as_bytes(frames: list[Json], dialect: str) -> bytes:
    texts = (f if isinstance(f, str) else json.dumps(f, ensure_ascii=False) for f in frames)
    if dialect == "ollama":
        return "".join(f"{text}\n" for text in texts).encode()
    names = (f.get("type") if isinstance(f, dict) else None for f in frames)
    heads = (f"event: {n}\n" if n and dialect == "anthropic" else "" for n in names)
    return "".join(f"{h}data: {t}\n\n" for h, t in zip(heads, texts, strict=True)).encode()


def _translated(
    frames: list[Json], source: str, target: str, data: bytes | None, side: Side
) -> Seen:
    cut = frames if data is None else [data[n : n + 97] for n in range(0, len(data), 97)]
    return fed(cut, source, target, side.rules)


def fed(frames: Sequence[Json], source: str, target: str, rules: Any) -> Seen:
    """Translate frames, or pieces of bytes, and return all that can be seen of it."""
    said: list[Json] = []
    found: Seen = {"frames": said}
    try:
        made = rules.translator(source=source, target=target)
        through = made.as_bytes() if frames and isinstance(frames[0], bytes) else made
        said.extend(_texts(through.feed(frame)) for frame in frames)
        said.append(_texts(through.finish()))
        found |= {"failed": made.error, "notes": noted(made.notes)}
        found["body"] = None if made.error is not None else made.result.body
    except Exception as error:
        found["error"] = told(error)
    return found


def cuts(every: int, count: int = CUTS) -> Iterator[Case]:
    """Translate streams, most of them mutated, as frames and as bytes that are cut anywhere."""
    for nth in range(0, count, every):
        chance = random.Random(f"cuts {nth}")
        source = chance.choice([name for name in streamdiff.SOURCES if streamdiff.streams(name)])
        target = chance.choice(streaming())
        frames: Sequence[Json] = chance.choice(streamdiff.streams(source))
        if chance.random() < 0.7:
            frames = streamdiff.mutant(list(frames), chance)
        if chance.random() < 0.6:
            frames = streamdiff.cut(frames, source, chance)
        run = partial(_fed, frames, source, target)
        yield Case("cuts", f"{source}>{target}", str(nth), run)


def _fed(frames: Sequence[Json], source: str, target: str, side: Side) -> Seen:
    return fed(frames, source, target, side.rules)


def _texts(out: Json) -> Json:
    return out.decode("utf-8", "replace") if isinstance(out, bytes) else list(out)


def _folded(frames: list[Json], dialect: str, side: Side) -> Seen:
    return attempt(lambda: {"body": side.rules.collect(frames, dialect)})


def _unfolded(body: Json, dialect: str, side: Side) -> Seen:
    return attempt(lambda: {"frames": list(side.rules.frames(body, dialect))})


# -- exchanges ------------------------------------------------------------------------------------


def loops(every: int) -> Iterator[Case]:
    """Put requests with tools through an exchange: there, an answer back, and the next turn."""
    nth = 0
    for client in PROVIDERS:
        asked = [one for one in bodies(client) if one.unit == "request" and "tools" in one.body]
        for one in asked[::every]:
            for provider in PROVIDERS:
                answers = [b for b in bodies(provider) if b.unit == "response"]
                nth += 1
                for state in STATES:
                    answer = answers[nth % len(answers)].body
                    run = partial(_looped, one, provider, answer, state)
                    yield Case("loop", f"{client}>{provider}", one.name, run)


def _looped(one: Body, provider: str, answer: Json, state: Json, side: Side) -> Seen:
    found: Seen = {}

    def call() -> Seen:
        x = side.rules.exchange(
            one.dialect, provider, one.more["model"] or "m", state=copy.deepcopy(state)
        )
        found.update(under("request", conversion(x.request(one.body))))
        out = x.response(answer)
        found.update(under("response", conversion(out)))
        found["state"] = x.state
        body = copy.deepcopy(one.body)
        _answered(one.dialect, body, copy.deepcopy(out.body))
        return under("next", conversion(x.request(body)))

    last = attempt(call)
    return {**found, **last}


def _answered(dialect: str, body: Json, answer: Json) -> None:
    """Append an answer to a request, as a client of the dialect does."""
    if dialect == "openai-chat":
        body["messages"].append(answer["choices"][0]["message"])
    elif dialect == "ollama":
        body["messages"].append(answer["message"])
    elif dialect == "anthropic":
        body["messages"].append({"role": "assistant", "content": answer["content"]})
    elif dialect == "gemini":
        body["contents"].append(answer["candidates"][0]["content"])
    elif isinstance(body.get("input"), list):
        body["input"] += answer["output"]


# -- files of agents ------------------------------------------------------------------------------


def sessions(every: int) -> Iterator[Case]:
    """Read files of agents as sessions of every dialect, and odd payloads as every unit."""
    there = dialects("session")
    for path in [*sorted(SESSIONS.iterdir()), *sorted(SAMPLES.glob("*/*.json*"))][::every]:
        text = path.read_text("utf-8")
        for source in there:
            for target in (*there, *dialects("request")):
                run = partial(_session, text, source, target)
                yield Case("sessions", f"{source}>{target}", path.name, run)
        for nth, value in enumerate(islice(_values(text), 12)):
            for source in dialects("request"):
                for unit in ("request", "response", "messages", "message", "tools"):
                    run = partial(_converted, value, source, "anthropic", unit, {})
                    name = f"{path.name} {nth}"
                    yield Case("samples", f"{source}>anthropic {unit}", name, run)


def _session(text: str, source: str, target: str, side: Side) -> Seen:
    def call() -> Seen:
        body = side.rules[source].parse(text)
        if "session" in side.rules[target].model.units:
            written = {"repair": False} if source == target else None  # not just given back
            out = side.rules.convert(body, source, target, unit="session", options=written)
            return {**conversion(out), "text": side.rules[target].text(out.body)}
        read = side.rules[source].read(body, "session")
        out = side.rules[target].write({"messages": read.ir["messages"]})
        return {**conversion(out), "read": noted(read.notes)}

    return attempt(call)


def _values(text: str) -> Iterable[Json]:
    try:
        whole = json.loads(text)
        return [whole, *whole] if isinstance(whole, list) else [whole]
    except ValueError:
        return [value for line in text.splitlines() if (value := _value(line)) is not None]


def _value(line: str) -> Json:
    try:
        return json.loads(line)
    except ValueError:
        return None


SECTIONS: dict[str, Callable[..., Iterator[Case]]] = {
    "convert": converted, "agents": agents, "others": others, "mutants": mutants,
    "pieces": pieces, "streams": streams, "cuts": cuts, "loop": loops, "sessions": sessions,
}  # fmt: skip
