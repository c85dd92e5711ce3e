"""How an audit is shown: as text, Markdown, HTML or JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from ..columns import columns
from .audit import IN_ALL_PAIRS, Audit, Cell
from .explain import rule_line
from .gather import Line
from .report import fill_template, page_text

WORDS = {
    "refused": "cannot be converted",
    "lost": "is lost",
    "changed": "is written otherwise",
    "moved": "stands elsewhere",
    "added": "is filled in",
    "kept": "is carried, though something is wrong with it",
    "repeated": "says again what was asked for",
    "carried": "goes across",
    "decided": "says how to read what is around it",
    "silent": "says nothing that the rest does not say",
}
WHOLE = "(the whole)"
OPENED = ("refused", "lost", "changed", "moved", "added", "kept")  # groups of a page


def render(audits: Sequence[Audit], cells: Sequence[Cell], form: str, rules_hash: str) -> str:
    """Return audits, or the cells of a matrix, in one of the formats.

    As HTML it is a page that needs nothing else. Raises UsageError without jinja2.
    """
    if form == "json":
        data = [audit.as_json() for audit in audits] or [cell._asdict() for cell in cells]
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if form == "html":
        return page(audits, cells, rules_hash)
    render_lines = text_lines if form == "terminal" else markdown_lines
    aligned = columns if form == "terminal" else table
    lines = [line for audit in audits for line in (*render_lines(audit), "")]
    matrix = aligned(matrix_rows(cells)) if cells else ()
    return "\n".join([*lines, *matrix]).rstrip() + "\n"


def title(audit: Audit) -> str:
    return f"{audit.source} to {audit.target}: {audit.unit}"


def count_words(counts: dict[str, int]) -> str:
    """Return how many lines of each effect there are, in words."""
    counted = (f"{number} {effect}" for effect, number in counts.items())
    return ", ".join(counted) or "nothing is noted"


def groups(audit: Audit) -> Iterator[tuple[str, list[Line]]]:
    """Yield the lines of each effect, but for what is the same between all dialects."""
    for effect in audit.counts:
        yield effect, [x for x in audit.lines if x.effect == effect and x.code not in IN_ALL_PAIRS]


def shared_losses(audit: Audit) -> str:
    """Return a sentence on keys and values that no picture takes, "" where there are none."""
    counts = Counter(line.code for line in audit.lines if line.code in IN_ALL_PAIRS)
    words = {"unknown-key": "a key that no picture names", "unfit": "a value of another type"}
    parts = [f"{words[str(code)]} (`{code}`, {number} places)" for code, number in counts.items()]
    return f"Lost between all dialects: {', '.join(parts)}." if parts else ""


def field_of(line: Line) -> str:
    """Return the path of a line, or what is shown for none."""
    return line.source or (WHOLE if line.effect == "refused" else "(nothing)")


def reason(line: Line) -> str:
    """Return the reason of a line in a sentence; how many more there are, and for which models."""
    first = next(iter(line.reasons), "")
    more = f" (and {len(line.reasons) - 1} more)" if len(line.reasons) > 1 else ""
    only = f" [only {', '.join(line.models)}]" if line.models else ""
    return f"{first}{more}{only}".strip()


def rules_of(line: Line) -> list[str]:
    """Return the place that pictures the field of a line, and those that decide what it becomes."""
    rules = (line.source_rule, *line.rules)
    return list(dict.fromkeys(rule for rule in rules if rule))


def text_lines(audit: Audit) -> Iterator[str]:
    yield f"{title(audit)} ({audit.probes} payloads of the rules)"
    yield f"  {count_words(audit.counts)}"
    for effect, lines in groups(audit):
        yield ""
        yield f"{effect} ({len(lines)}): {WORDS[effect]}"
        for line in lines:
            code = f"  {line.code}" if line.code else ""
            to = f" -> {', '.join(line.targets)}" if line.targets else ""
            yield f"  {field_of(line)}{to}{code}"
            if line.severity is not None:
                yield f"      {line.severity}: {reason(line)}"
            yield f"      {', '.join(rules_of(line))}"
    if shared := shared_losses(audit):
        yield ""
        yield shared


def markdown_lines(audit: Audit) -> Iterator[str]:
    yield f"## {title(audit)}"
    yield ""
    counted = count_words(audit.counts).capitalize()
    yield f"{counted}; found with {audit.probes} payloads of the rules."
    for effect, lines in groups(audit):
        yield ""
        yield f"### {effect}: what {WORDS[effect]}"
        yield ""
        cells = [("field", "becomes", "code", "why", "rules")]
        for line in lines:
            to = ", ".join(f"`{target}`" for target in line.targets)
            code = f"`{line.code}`" if line.code else ""
            cells.append((f"`{field_of(line)}`", to, code, reason(line), ", ".join(rules_of(line))))
        yield from table(cells)
    if shared := shared_losses(audit):
        yield ""
        yield shared


def matrix_rows(cells: Sequence[Cell]) -> list[tuple[object, ...]]:
    """Return the table of a matrix, its head first."""
    effects = [e for e in WORDS if any(e in cell.counts for cell in cells)]
    head = ("unit", "from", "to", *effects, "worst")
    found = [
        (c.unit, c.source, c.target, *(c.counts.get(e, 0) for e in effects), " ".join(c.worst))
        for c in cells
    ]
    return [head, *found]


def table(rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, its head first."""
    for number, row in enumerate(rows):
        if number == 1:
            yield f"|{'---|' * len(row)}"
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"


def page(audits: Sequence[Audit], cells: Sequence[Cell], rules_hash: str) -> str:
    """Return audits or the cells of a matrix as HTML. Raises UsageError without jinja2."""
    style = page_text("report.css") + page_text("audit.css")
    head, *below = matrix_rows(cells) if cells else [()]
    only = audits[0] if len(audits) == 1 else None
    return fill_template(
        "a page",
        "audit.html",
        style,
        title=f"Audit: {title(only) if only else 'what conversions do'}",
        audits=audits,
        told={"title": title, "counted": count_words, "groups": _groups},
        line={"place": field_of, "said": reason, "rules": rules_of, "quoted": rule_line},
        opened=OPENED,
        head=head,
        rows=below,
        rules_hash=rules_hash,
    )


def _groups(audit: Audit) -> Iterator[tuple[str, str, list[Line]]]:
    """Yield the lines of each effect with what it means, and then those that all dialects share."""
    yield from ((effect, WORDS[effect], lines) for effect, lines in groups(audit))
    if odd := [line for line in audit.lines if line.code in IN_ALL_PAIRS]:
        yield "everywhere", shared_losses(audit), odd
