"""Translate streams by hand with the engine's state handling: the fair thing to measure against.

Parts are told apart by index or id, interleaved calls are held where the target sends one block
after another, and a call that is a whole object lets the next one go on; text and arguments are
checked to be text that UTF-8 can hold; unknown keys and frames, a broken end and what comes after
the end are noted once each; and the whole response is kept, and converted when it is asked for.

A translator has `feed(frame)`, `finish()`, `notes` and `result`; `TRANSLATORS` holds them by
(source, target). `Bytes` puts one between bytes and bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from . import careful_responses
from .careful_base import Json, Result

CHUNK = frozenset(
    "id object created model choices usage service_tier system_fingerprint moderation "
    "prompt_filter_results obfuscation".split()
)
CHOICE = frozenset("index delta logprobs finish_reason content_filter_results".split())
DELTA = frozenset("role content refusal tool_calls reasoning_content audio annotations".split())
CALL = frozenset("index id type function".split())
FUNCTION = frozenset("name arguments".split())
EVENT_KEYS = {
    "message_start": frozenset("type message".split()),
    "content_block_start": frozenset("type index content_block".split()),
    "content_block_delta": frozenset("type index delta".split()),
    "content_block_stop": frozenset("type index".split()),
    "message_delta": frozenset("type delta usage context_management".split()),
    "message_stop": frozenset("type".split()),
    "ping": frozenset("type".split()),
}
DELTA_KEYS = {
    "text_delta": "text",
    "input_json_delta": "partial_json",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "citations_delta": "citation",
}
MESSAGE = frozenset("id type role model content stop_reason stop_sequence container usage".split())
ERROR_KINDS = {
    "invalid_request_error": "invalid_request_error",
    "authentication_error": "authentication_error",
    "rate_limit_error": "rate_limit_error",
    "server_error": "api_error",
    "api_error": "server_error",
    "overloaded_error": "server_error",
}
SIGNS = re.compile(r'["\\{}\[\]]')
Where = tuple[str | int, ...]


class Note(NamedTuple):
    """One thing that could not be carried exactly, at a place of a frame."""

    code: str
    effect: str
    frame: int
    path: Where


class Part:
    """A text or a call while it grows; a call knows when its object is whole."""

    __slots__ = (
        "begun", "call", "depth", "id", "index", "name", "open", "over", "pieces", "sent",
        "skip", "text",
    )  # fmt: skip

    def __init__(self, call: bool, identity: str = "", name: str = "") -> None:
        self.call, self.id, self.name = call, identity, name
        self.pieces: list[str] = []
        self.open, self.begun, self.over = True, False, False
        self.index = self.sent = self.depth = 0
        self.skip, self.text = -1, False

    def grow(self, piece: str) -> None:
        """Take a piece of arguments, and see whether the object is whole."""
        self.pieces.append(piece)
        skip = self.skip
        for found in SIGNS.finditer(piece):
            at, sign = found.start(), found[0]
            if at == skip:
                continue
            if sign == "\\":
                skip = at + 1
            elif sign == '"':
                self.text = not self.text
            elif not self.text:
                self.depth += 1 if sign in "{[" else -1
                self.over = self.depth == 0
        self.skip = skip - len(piece) if skip >= len(piece) else -1


class Translator(Protocol):
    """What a translator can do."""

    notes: list[Note]

    def feed(self, frame: Any) -> list[Any]: ...
    def finish(self) -> list[Any]: ...
    @property
    def result(self) -> Result | None: ...


class _Stream:
    """What both directions share: notes said once, and the answer as it is known."""

    def __init__(self, keep: bool = True) -> None:
        self.keep = keep
        self.notes: list[Note] = []
        self.count = -1
        self.said: set[tuple[str, Where]] = set()
        self.begun = self.ended = self.failed = self.done = False
        self.id = self.model = ""
        self.usage: Json | None = None
        self.stop: str | None = None
        self.parts: list[Part] = []

    def note(self, code: str, effect: str, *path: str | int) -> None:
        """Note something once of each place."""
        if (code, path) not in self.said:
            self.said.add((code, path))
            self.notes.append(Note(code, effect, self.count, path))

    def unknown(self, node: Json, known: frozenset[str], *path: str | int) -> None:
        """Note the keys that are not known and say something."""
        for key, value in node.items():
            if key not in known and value not in (None, ""):
                self.note("unknown-key", "lost", *path, key)

    def cut_short(self) -> None:
        """Note that the stream ended before it said so, or said why."""
        if not self.failed and not (self.ended and self.stop is not None):
            self.note("cut-short", "kept")


def _text(value: Any) -> str:
    """Return a text that UTF-8 can hold; raises TypeError or UnicodeEncodeError."""
    if value.__class__ is not str:
        raise TypeError(f"a text is expected, not {value!r:.40}")
    if not value.isascii():
        value.encode()
    return str(value)


def _arguments(text: str) -> Any:
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"_unparsed": text}


class ChatToAnthropic(_Stream):
    """Chunks into events: one block is open at a time, the others wait for it."""

    def __init__(self, keep: bool = True) -> None:
        super().__init__(keep)
        self.out: list[Json] = []
        self.calls: dict[int, Part] = {}
        self.waiting: list[Part] = []  # the first is the open block
        self.blocks = 0
        self.extras: Json = {}

    def feed(self, frame: Any) -> list[Json]:
        """Take a chunk; return the events that it gives rise to."""
        self.count += 1
        if self.ended:
            self.note("after-end", "lost")
            return []
        out: list[Json] = []
        self.out = out
        if frame.__class__ is not dict:
            if frame == "[DONE]":
                self.ended = True
                self._end(cut=False)
            else:
                self.note("unknown-frame", "lost")
            return out
        if frame.get("error") is not None:
            self._fail(frame["error"])
            return out
        if not CHUNK.issuperset(frame):
            self.unknown(frame, CHUNK)
        if not self.begun:
            self._begin(frame)
        usage = frame.get("usage")
        if usage is not None:
            self.usage = {**(self.usage or {}), **usage}
        for choice in frame["choices"]:
            if not CHOICE.issuperset(choice):
                self.unknown(choice, CHOICE, "choices")
            if choice.get("index"):
                self.note("no-place", "lost", "choices")
                continue
            self._delta(choice["delta"])
            reason = choice.get("finish_reason")
            if reason is not None:
                self.stop = reason
        return out

    def _begin(self, frame: Json) -> None:
        self.begun = True
        self.id, self.model = _text(frame["id"]), _text(frame["model"])
        self.extras = {k: frame[k] for k in ("created", "system_fingerprint") if k in frame}
        message: Json = {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self.out.append({"type": "message_start", "message": message})

    def _delta(self, delta: Json) -> None:
        if not DELTA.issuperset(delta):
            self.unknown(delta, DELTA, "choices", "delta")
        text = delta.get("content")
        if text:
            self._grow_text(_text(text))
        refusal = delta.get("refusal")
        if refusal:
            self.note("refusal-as-text", "changed", "choices", "delta", "refusal")
            self._grow_text(_text(refusal))
        calls = delta.get("tool_calls")
        if calls:
            for call in calls:
                self._call(call)

    def _grow_text(self, piece: str) -> None:
        parts = self.parts
        part = parts[-1] if parts else None
        if part is None or part.call or not part.open:
            part = self._new(Part(False))
        if self.keep or not part.begun:
            part.pieces.append(piece)
        if part.begun and self.waiting[0] is part:
            part.sent = len(part.pieces)
            delta = {"type": "text_delta", "text": piece}
            self.out.append({"type": "content_block_delta", "index": part.index, "delta": delta})
        else:
            self._pump()

    def _call(self, call: Json) -> None:
        function = call.get("function") or {}
        if not (CALL.issuperset(call) and FUNCTION.issuperset(function)):
            self.unknown(call, CALL, "choices", "delta", "tool_calls")
            self.unknown(function, FUNCTION, "choices", "delta", "tool_calls", "function")
        index, identity, name = call.get("index"), call.get("id"), function.get("name")
        if index is None:
            part = self._unnumbered(identity)
        else:
            part = self.calls.get(index)
        piece = function.get("arguments") or ""
        if part is None or self._another(part, identity, name):
            if not name and not piece:
                return
            made = identity or f"call_{len(self.parts)}"
            part = self._new(Part(True, _text(made), _text(name or "")))
            if index is not None:
                self.calls[index] = part
            self._pump()
        if piece:
            part.grow(_text(piece))
            if part.begun and len(self.waiting) == 1:
                part.sent = len(part.pieces)
                delta = {"type": "input_json_delta", "partial_json": piece}
                self.out.append(
                    {"type": "content_block_delta", "index": part.index, "delta": delta}
                )
            else:
                self._pump()

    @staticmethod
    def _another(part: Part, identity: Any, name: Any) -> bool:
        """Tell whether a head is of another call than the one under its number."""
        return bool(identity != part.id if identity and part.id else name and part.over)

    def _unnumbered(self, identity: Any) -> Part | None:
        for part in reversed(self.parts):
            if part.call and (not identity or part.id == identity):
                return part
        return None

    def _new(self, part: Part) -> Part:
        parts = self.parts
        if parts and not parts[-1].call:
            parts[-1].open = False  # nothing numbers a text: it ends where something else begins
        parts.append(part)
        self.waiting.append(part)
        return part

    def _pump(self) -> None:
        """Write what can be written of the open block, and of those that wait for it."""
        waiting = self.waiting
        while waiting:
            part = waiting[0]
            self._live(part)
            if part.open and not (part.over and len(waiting) > 1):
                return
            self._close(part)
            waiting.pop(0)

    def _live(self, part: Part) -> None:
        if not part.begun:
            if not part.call and not any(piece.strip() for piece in part.pieces):
                return
            part.begun, part.index = True, self.blocks
            self.blocks += 1
            if part.call:
                block = {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}
            else:
                block = {"type": "text", "text": ""}
            self.out.append(
                {"type": "content_block_start", "index": part.index, "content_block": block}
            )
        kind, key = ("input_json_delta", "partial_json") if part.call else ("text_delta", "text")
        for piece in part.pieces[part.sent :]:
            delta = {"type": kind, key: piece}
            self.out.append({"type": "content_block_delta", "index": part.index, "delta": delta})
        part.sent = len(part.pieces)

    def _close(self, part: Part) -> None:
        if not part.begun:
            return
        if part.call and not any(piece.strip() for piece in part.pieces):
            delta = {"type": "input_json_delta", "partial_json": "{}"}
            self.out.append({"type": "content_block_delta", "index": part.index, "delta": delta})
        self.out.append({"type": "content_block_stop", "index": part.index})
        if not self.keep:
            part.pieces = []

    def _fail(self, error: Json) -> None:
        self.failed = True
        self._flush()
        kind = ERROR_KINDS.get(error.get("type") or "", "api_error")
        self.out.append({"type": "error", "error": {"type": kind, "message": error["message"]}})

    def _flush(self) -> None:
        for part in self.waiting:
            part.open = False
        self._pump()

    def _end(self, cut: bool) -> None:
        self._flush()
        if self.failed or cut:
            return
        usage = self.usage or {}
        counts = {
            "input_tokens": usage.get("prompt_tokens", 0),
            "output_tokens": usage.get("completion_tokens", 0),
        }
        reason = careful_responses.STOPS.get(self.stop or "stop", "end_turn")
        delta = {"stop_reason": reason, "stop_sequence": None}
        self.out.append({"type": "message_delta", "delta": delta, "usage": counts})
        self.out.append({"type": "message_stop"})

    def finish(self) -> list[Json]:
        """Return the events that are left."""
        if self.done:
            return []
        self.done = True
        self.out = []
        if not self.ended:
            self._end(cut=self.stop is None)
        self.cut_short()
        return self.out

    @property
    def result(self) -> Result | None:
        """The whole response, converted, and its notes."""
        return careful_responses.chat_response_to_anthropic(self._response()) if self.keep else None

    def _response(self) -> Json:
        texts = [piece for part in self.parts if not part.call for piece in part.pieces]
        message: Json = {"role": "assistant", "content": "".join(texts) if texts else None}
        calls = [
            {
                "id": part.id,
                "type": "function",
                "function": {"name": part.name, "arguments": "".join(part.pieces)},
            }
            for part in self.parts
            if part.call
        ]
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": self.stop or "stop"}
        made = {"id": self.id, "object": "chat.completion", "model": self.model, **self.extras}
        made["choices"] = [choice]
        if self.usage is not None:
            made["usage"] = self.usage
        return made


class AnthropicToChat(_Stream):
    """Events into chunks: calls flow side by side, each under its number."""

    def __init__(self, keep: bool = True) -> None:
        super().__init__(keep)
        self.out: list[Any] = []
        self.places: dict[int, Part | None] = {}
        self.calls = 0
        self.other: list[Json] = []  # blocks that Chat has no place for
        self.stop_sequence: str | None = None

    def _chunk(self, delta: Json, finish: str | None = None) -> None:
        self.out.append(
            {
                "id": self.id,
                "object": "chat.completion.chunk",
                "created": 0,
                "model": self.model,
                "choices": [
                    {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
                ],
            }
        )

    def feed(self, frame: Any) -> list[Any]:
        """Take an event; return the chunks that it gives rise to."""
        self.count += 1
        if self.ended:
            self.note("after-end", "lost")
            return []
        out: list[Any] = []
        self.out = out
        kind = frame.get("type") if frame.__class__ is dict else None
        if kind == "content_block_delta":
            if len(frame) != 3:
                self.unknown(frame, EVENT_KEYS[kind])
            self._delta(self.places.get(frame["index"]), frame["delta"])
            return out
        known = EVENT_KEYS.get(kind or "")
        if known is None:
            if kind == "error":
                self._fail(frame["error"])
            else:
                self.note("unknown-frame", "lost")
            return out
        if not known.issuperset(frame):
            self.unknown(frame, known)
        if kind == "content_block_start":
            self._start(frame["index"], frame["content_block"])
        elif kind == "content_block_stop":
            self._stop(self.places.get(frame["index"]))
        elif kind == "message_start":
            self._begin(frame["message"])
        elif kind == "message_delta":
            delta = frame["delta"]
            if delta.get("stop_reason") is not None:
                self.stop = delta["stop_reason"]
                self.stop_sequence = delta.get("stop_sequence")
            self.usage = {**(self.usage or {}), **(frame.get("usage") or {})}
        elif kind == "message_stop":
            self.ended = True
            self._end(cut=False)
        return out

    def _begin(self, message: Json) -> None:
        if not MESSAGE.issuperset(message):
            self.unknown(message, MESSAGE, "message")
        self.begun = True
        self.id, self.model = _text(message["id"]), _text(message["model"])
        self.usage = dict(message.get("usage") or {})
        self._chunk({"role": "assistant", "content": "", "refusal": None})

    def _start(self, index: int, block: Json) -> None:
        kind = block["type"]
        if kind == "text":
            self.places[index] = part = Part(False)
            self.parts.append(part)
            if block.get("text"):
                self._piece(part, _text(block["text"]))
        elif kind == "tool_use":
            self.places[index] = part = Part(True, _text(block["id"]), _text(block["name"]))
            self.parts.append(part)
            part.index = self.calls
            self.calls += 1
            function = {"name": part.name, "arguments": ""}
            call = {"index": part.index, "id": part.id, "type": "function", "function": function}
            self._chunk({"tool_calls": [call]})
        else:
            self.places[index] = None
            self.other.append(block)
            code = "no-place" if kind.endswith("thinking") else "unknown-part"
            self.note(code, "lost", "content_block", kind)

    def _delta(self, part: Part | None, delta: Json) -> None:
        kind = delta["type"]
        key = DELTA_KEYS.get(kind)
        if key is None:
            self.note("unknown-frame", "lost", "delta", kind)
            return
        if len(delta) != 2:
            self.unknown(delta, frozenset(("type", key)), "delta")
        if part is None or not part.open:
            return
        if kind == "citations_delta":
            self.note("own-field", "lost", "delta", "citation")
        elif delta[key]:
            self._piece(part, _text(delta[key]))

    def _piece(self, part: Part, piece: str) -> None:
        if part.call:
            part.grow(piece)
            self._chunk({"tool_calls": [{"index": part.index, "function": {"arguments": piece}}]})
        else:
            part.pieces.append(piece)
            self._chunk({"content": piece})
        if not self.keep:
            part.pieces, part.sent = [], part.sent + 1

    def _stop(self, part: Part | None) -> None:
        if part is None or not part.open:
            return
        part.open = False
        if part.call and not part.sent and not any(piece.strip() for piece in part.pieces):
            call = {"index": part.index, "function": {"arguments": "{}"}}
            self._chunk({"tool_calls": [call]})

    def _fail(self, error: Json) -> None:
        self.failed = True
        kind = ERROR_KINDS.get(error.get("type") or "", "server_error")
        made = {"message": error["message"], "type": kind, "param": None, "code": None}
        self.out.append({"error": made})

    def _end(self, cut: bool) -> None:
        for part in self.parts:
            self._stop(part)
        if self.failed:
            return
        if not cut:
            self._chunk({}, careful_responses.CHAT_STOPS.get(self.stop or "", "stop"))
        if self.usage is not None:
            read = sum(
                self.usage.get(key) or 0
                for key in (
                    "input_tokens",
                    "cache_read_input_tokens",
                    "cache_creation_input_tokens",
                )
            )
            made = self.usage.get("output_tokens", 0)
            self.out.append(
                {
                    "id": self.id,
                    "object": "chat.completion.chunk",
                    "created": 0,
                    "model": self.model,
                    "choices": [],
                    "usage": {
                        "prompt_tokens": read,
                        "completion_tokens": made,
                        "total_tokens": read + made,
                    },
                }
            )
        if not cut:
            self.out.append("[DONE]")

    def finish(self) -> list[Any]:
        """Return the chunks that are left."""
        if self.done:
            return []
        self.done = True
        self.out = []
        if not self.ended:
            self._end(cut=self.stop is None)
        self.cut_short()
        return self.out

    @property
    def result(self) -> Result | None:
        """The whole response, converted, and its notes."""
        return careful_responses.anthropic_response_to_chat(self._response()) if self.keep else None

    def _response(self) -> Json:
        content = list(self.other)
        for part in self.parts:
            text = "".join(part.pieces)
            if part.call:
                given = _arguments(text)
                use = {"type": "tool_use", "id": part.id, "name": part.name, "input": given}
                content.append(use)
            else:
                content.append({"type": "text", "text": text})
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": self.stop,
            "stop_sequence": self.stop_sequence,
            "usage": self.usage,
        }


TRANSLATORS: dict[tuple[str, str], Callable[[bool], Translator]] = {
    ("openai-chat", "anthropic"): ChatToAnthropic,
    ("anthropic", "openai-chat"): AnthropicToChat,
}
NAMED = ("anthropic",)  # dialects whose events have names in Server-Sent Events

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Bytes:
    """A translator of Server-Sent Events as bytes, which may be cut anywhere."""

    def __init__(self, translator: Translator, named: bool) -> None:
        self.translator, self.named = translator, named
        self.held = b""
        self.data: list[bytes] = []

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return those that they give rise to."""
        held = self.held + data
        lines = held.split(b"\n")
        self.held = lines.pop()
        made: list[Any] = []
        for line in lines:
            self._line(line.rstrip(b"\r"), made)
        return self._written(made)

    def _line(self, line: bytes, made: list[Any]) -> None:
        if line[:5] == b"data:":
            self.data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line[:1] in (b"{", b"["):
            self.data.append(line)  # an error may come as a bare body
        elif not line and self.data:
            text = b"\n".join(self.data).decode()
            self.data = []
            frame = text if text == "[DONE]" else json.loads(text)
            made += self.translator.feed(frame)

    def finish(self) -> bytes:
        """Return the bytes that are left."""
        made: list[Any] = []
        if self.held:
            self._line(self.held.rstrip(b"\r"), made)
        self._line(b"", made)
        return self._written(made + self.translator.finish())

    def _written(self, frames: list[Any]) -> bytes:
        made = []
        for frame in frames:
            text = frame if frame.__class__ is str else _encode(frame)
            head = f"event: {frame['type']}\n" if self.named else ""
            made.append(f"{head}data: {text}\n\n")
        return "".join(made).encode()
