"""The page of a server: its last requests, what they lost, and the report of each."""

from __future__ import annotations

from typing import Any

from ..audits import report
from ..errors import WireglotError
from ..rulesets import RuleSet
from ..streaming import framing
from .record import Record, Recorder, as_bytes

PATH = "/_wireglot"
HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
}


def page(recorder: Recorder, rules: RuleSet, path: str) -> tuple[int, str]:
    """Return the status and the page at a path: all requests, or the report of a body of one."""
    rest = path.removeprefix(PATH).strip("/").split("/")
    if rest == [""]:
        return 200, _overview(recorder)
    number = int(rest[0]) if rest[0].isdecimal() and len(rest[0]) < 10 else 0
    seen = next((one for one in recorder.last if one.number == number), None)
    if seen is None or len(rest) != 2 or rest[1] not in ("request", "answer"):
        return 404, _overview(recorder, "This request is not held, or not held any more.")
    try:
        return 200, recorder.masked(_report(rules, seen, rest[1] == "request"))
    except WireglotError as error:
        return 200, _overview(recorder, f"There is no report: {recorder.masked(str(error))}")


def _overview(recorder: Recorder, told: str = "") -> str:
    """Return the table of all requests, the last one first, or a page that tells something."""
    style, last = report.page_text("serve.css"), [] if told else recorder.last
    rows = [_row(seen) for seen in reversed(last)]
    said: dict[str, Any] = {"title": "wireglot serve", "path": PATH, "told": told, "last": rows}
    made = report.fill_template("this page", "serve.html", style, **said)
    return recorder.masked(made)


def _row(seen: Record) -> tuple[Record, str, list[str]]:
    """Return a request with the name of its model, and what was lost or changed."""
    asked = seen.asked.as_json()
    named = asked.get("model") if isinstance(asked, dict) else None
    told = [str(note)[:500] for note in seen.notes if note.effect in ("lost", "changed")]
    told += [seen.failed] if seen.failed else []
    return seen, str(seen.model or named or "")[:200], told


def _report(rules: RuleSet, seen: Record, asks: bool) -> str:
    """Return the report of a body, converted once more by itself, with a trace."""
    ends = (seen.client, seen.provider) if asks else (seen.provider, seen.client)
    body, unit = seen.asked.as_json(), "request"
    if not asks:
        body = seen.came.as_json()
        unit = "response" if (seen.answered or 200) < 400 else "error"
        if seen.streamed and isinstance(body, str):
            frames = framing.read(as_bytes(body), rules[seen.provider].model.streamed)
            body = rules.collect(frames, seen.provider)
    done = rules.convert(body, *ends, unit=unit, model=seen.model if asks else None, trace=True)
    return report.page(body, done, *ends, unit)
