"""The page of a server: its last requests, what they lost, and the report of each."""

from __future__ import annotations

from html import escape

from ..audits import report
from ..errors import WireglotError
from ..rulesets import RuleSet
from ..streaming import framing
from .record import Recorder, Seen, given_back

PATH = "/_wireglot"
HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
}
STYLE = """body { font: 16px/1.5 sans-serif; margin: 2rem; color: #222; background: #fff }
table { border-collapse: collapse } th, td { text-align: left; vertical-align: top }
th, td { padding: .3rem .8rem } ul { margin: 0; padding-left: 1rem }
tr { border-bottom: 1px solid #ccc }
li { overflow-wrap: anywhere } a { color: #0645ad }"""
HEAD = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src \
'{report.hash_of(STYLE)}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>wireglot serve</title><style>{STYLE}</style></head><body><main>
"""
TAIL = "</main></body></html>\n"
COLUMNS = (
    *"number time client provider model status seconds".split(), "lost or changed", "report",
)  # fmt: skip


def page(recorder: Recorder, rules: RuleSet, path: str) -> tuple[int, str]:
    """Return the status and the page at a path: all requests, or the report of a body of one."""
    rest = path.removeprefix(PATH).strip("/").split("/")
    if rest == [""]:
        return 200, HEAD + recorder.masked(_listed(recorder)) + TAIL
    seen = recorder.found(int(rest[0])) if rest[0].isdecimal() and len(rest[0]) < 10 else None
    if seen is None or len(rest) != 2 or rest[1] not in ("request", "answer"):
        return _plain(404, "This request is not held, or not held any more.")
    try:
        return 200, recorder.masked(_report(rules, seen, rest[1] == "request"))
    except WireglotError as error:
        return _plain(200, f"There is no report: {recorder.masked(str(error))}")


def _plain(status: int, text: str) -> tuple[int, str]:
    back = f'<p><a href="{PATH}">All requests</a></p>'
    return status, f"{HEAD}<h1>wireglot serve</h1><p>{escape(text)}</p>{back}{TAIL}"


def _listed(recorder: Recorder) -> str:
    """Return the table of all requests, the last one first."""
    if not recorder.last:
        return "<h1>The last requests</h1><p>There was none yet.</p>"
    heads = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
    rows = "\n".join(map(_row, reversed(recorder.last)))
    return f"<h1>The last requests</h1><table><thead><tr>{heads}</tr></thead>\n{rows}</table>"


def _row(seen: Seen) -> str:
    asked = seen.asked.said()
    named = asked.get("model") if isinstance(asked, dict) else None
    cells = (
        seen.number, seen.at, seen.client, seen.provider, seen.model or named or "", seen.status,
        f"{seen.seconds:.2f}",
    )  # fmt: skip
    links = "".join(
        f' <a href="{PATH}/{seen.number}/{unit}">{unit}</a>' for unit in ("request", "answer")
    )
    told = [str(note)[:500] for note in seen.notes if note.effect in ("lost", "changed")]
    told += [seen.failed] if seen.failed else []
    notes = "".join(f"<li>{escape(one)}</li>" for one in told)
    row = "".join(f"<td>{escape(str(cell)[:200])}</td>" for cell in cells)
    return f"<tr>{row}<td><ul>{notes}</ul></td><td>{links}</td></tr>"


def _report(rules: RuleSet, seen: Seen, asks: bool) -> str:
    """Return the report of a body, converted once more by itself, with a trace."""
    ends = (seen.client, seen.provider) if asks else (seen.provider, seen.client)
    body, unit = seen.asked.said(), "request"
    if not asks:
        body = seen.came.said()
        unit = "response" if (seen.answered or 200) < 400 else "error"
        if seen.streamed and isinstance(body, str):
            frames = framing.read(given_back(body), rules[seen.provider].model.streamed)
            body = rules.collect(frames, seen.provider)
    done = rules.convert(body, *ends, unit=unit, model=seen.model if asks else None, trace=True)
    return report.page(body, done, *ends, unit)
