"""Errors in no form of their dialect: what a gateway, a proxy or a framework before it answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir import without_memory
from ..language.lenses import Misfit, same, stringify
from ..language.picture import ABSENT
from ..language.shape import Shape
from ..trail import At, pointer
from .jobs import ReadJob, WriteJob
from .views import recalled

# Where bodies of errors say what is wrong, the plainest first.
SAYS = ("message", "msg", "detail", "error_description", "error", "errors", "title", "reason")
STATUSES = ("status", "statusCode", "code")  # where they say the status of HTTP
NAMED = {"error", "errors"}  # by which a frame that is nothing else is told to be one
LONE = {"message", "msg", "detail"}  # what a framework's error says and nothing more
_KINDS = {
    401: "authentication", 403: "permission", 404: "not_found", 408: "timeout",
    429: "rate_limit", 503: "overloaded", 504: "timeout", 529: "overloaded",
}  # fmt: skip
_STATUSES = {kind: http for http, kind in reversed(_KINDS.items())}


def read(reader: ReadJob, shape: Shape, body: Any) -> Any:
    """Read any JSON as an error: its message is the first text that says what is wrong."""
    try:  # one error in a list
        at: Any = (0,)
        ir = reader.whole(shape, body[0] if isinstance(body, list) and body else None, at)
    except Misfit:
        found = _message(body, ())
        text, at = found or (body if isinstance(body, str) else "", ())
        if found is None and body and not isinstance(body, str):
            text = stringify(body)
        ir = {"message": text}
        reader.trail.put(ir, None, ())
        reader.trail.put(ir, "message", at)
        at = at if found is not None else ABSENT
    rest = {} if at is ABSENT else dict(_beside(body, at))
    for place in ((key,) for key in STATUSES):
        status = rest.get(place)
        if "http" not in ir and isinstance(status, int) and 400 <= status < 600:
            ir["http"] = rest.pop(place)
            reader.trail.put(ir, "http", place)
    if rest:
        kept = ir.setdefault("kept", {}).setdefault(reader.dialect.name, {})
        kept.update((pointer(place), value) for place, value in rest.items())
        reader.trail.put(ir, "kept", ())
    reader.memory(ir)[""] = {"as": body, "for": without_memory(ir)}
    return ir


def message_place(frame: dict[str, Any]) -> At | None:
    """Return where a frame that no event describes says what is wrong; None where it is no error.

    It is one that holds an `error`, is called so, or says a message alone.
    """
    called = "error" in frame.values()
    if not (called or NAMED & frame.keys() or frame.keys() <= LONE):
        return None
    if called:
        frame = {key: value for key, value in frame.items() if value != "error"}
    found = _message(frame, ())
    return None if found is None else found[1]


def unchanged_body(writer: WriteJob, ir: Any) -> Any:
    """Return the body that was read, while it still says the same; ABSENT where it does not."""
    entry = recalled(writer, ir) if isinstance(ir, dict) else {}
    if "as" not in entry or not same(entry.get("for"), without_memory(ir)):
        return ABSENT
    if writer.recorder is not None:
        writer.recorder.whole(entry["as"], (), None)
    return entry["as"]


def _message(body: Any, at: At) -> tuple[str, At] | None:
    if isinstance(body, str):
        return (body, at) if body.strip() else None
    inner: list[tuple[Any, Any]] = list(enumerate(body)) if isinstance(body, list) else []
    if isinstance(body, dict):
        inner = [(key, body[key]) for key in SAYS if key in body]
    found = (_message(value, (*at, key)) for key, value in inner)
    return next((one for one in found if one is not None), None)


def _beside(body: Any, at: At) -> Iterator[tuple[At, Any]]:
    """Yield what stands beside the way to a place."""
    for depth, key in enumerate(at):
        items = enumerate(body) if isinstance(body, list) else body.items()
        yield from (((*at[:depth], other), value) for other, value in items if other != key)
        body = body[key]


def kind_of(http: int | None) -> str | None:
    """Return the kind of error that a status of HTTP means, if it means one."""
    if http is None or http < 400:
        return None
    return _KINDS.get(http, "invalid_request" if http < 500 else "server")


def status_of(kind: str | None) -> int:
    """Return the status of HTTP that an error of a kind mostly has."""
    return _STATUSES.get(kind or "", 400 if kind == "invalid_request" else 500)


def open_kind(kind: str | None) -> bool:
    """Tell whether a body leaves the kind of its error open: it says none, or a general one."""
    return kind is None or kind in ("invalid_request", "server") or kind.startswith("other:")


def kind_by_status(http: int | None, said: str | None) -> str | None:
    """Return the kind of an error that its status of HTTP tells, where what is said leaves that."""
    kind = kind_of(http)
    return kind if kind != said and open_kind(said) else None


def with_kind(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Let the status that a body names tell the kind of its error, where no word of it does."""
    kind = kind_of(ir.get("http")) if ir.get("kind") is None else None
    if kind is None:
        return ir
    new = writer.trail.changed(ir, kind=kind)
    writer.trail.put(new, "kind", writer.trail.find(ir, "http"))
    return new


def says_more(http: int | None, said: str) -> str:
    """Say that the status of HTTP, and not the word of the body, tells the kind of an error."""
    return f"the status {http} says more than `{said.removeprefix('other:')}`"
