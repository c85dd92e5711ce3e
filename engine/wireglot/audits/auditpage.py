"""A page of audits, or of the matrix of all pairs: one HTML file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..columns import columns
from . import auditform
from .audit import EVERYWHERE, Audit, Cell
from .auditline import Line
from .explain import rule_line
from .report import page_text, rendered

OPENED = ("refused", "lost", "changed", "moved", "added", "kept")


def shown(audits: Sequence[Audit], cells: Sequence[Cell], form: str, rules_hash: str) -> str:
    """Return audits, or the cells of a matrix, in one of the formats."""
    if form == "json":
        made: Any = [one.as_json() for one in audits] if audits else [c._asdict() for c in cells]
        return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    if form == "html":
        return page(audits, cells, rules_hash)
    lines = auditform.text if form == "terminal" else auditform.markdown
    table = columns if form == "terminal" else auditform.table
    found = [line for one in audits for line in (*lines(one), "")]
    matrix = table(auditform.rows(cells)) if cells else ()
    return "\n".join([*found, *matrix]).rstrip() + "\n"


def page(audits: Sequence[Audit], cells: Sequence[Cell], rules_hash: str) -> str:
    """Return audits or the cells of a matrix as HTML. Raises UsageError without jinja2."""
    style = page_text("report.css") + page_text("audit.css")
    head, *rows = auditform.rows(cells) if cells else [()]
    one = audits[0] if len(audits) == 1 else None
    return rendered(
        "a page",
        "audit.html",
        style,
        title=f"Audit: {auditform.title(one) if one else 'what conversions do'}",
        audits=list(map(_audit, audits)),
        opened=OPENED,
        head=head,
        rows=rows,
        rules_hash=rules_hash,
    )


def _audit(audit: Audit) -> dict[str, Any]:
    return {
        "title": auditform.title(audit),
        "counted": auditform.counted(audit.counts),
        "probes": audit.probes,
        "groups": list(_groups(audit)),
    }


def _groups(audit: Audit) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    for effect, lines in auditform.groups(audit):
        yield effect, auditform.WORDS[effect], list(map(_line, lines))
    if odd := [_line(line) for line in audit.lines if line.code in EVERYWHERE]:
        yield "everywhere", auditform.everywhere(audit), odd


def _line(line: Line) -> dict[str, Any]:
    return {
        "place": auditform.place(line),
        "targets": line.targets,
        "code": line.code,
        "severity": line.severity,
        "said": auditform.said(line),
        "rules": [(rule, rule_line(rule)) for rule in auditform.rules_of(line)],
    }
