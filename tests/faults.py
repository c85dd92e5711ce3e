"""The cases of `tests/cases/faults/`: what fell short in the field, run; and the page made of them.

    python -m tests.faults            # print docs/field-faults.md
    python -m tests.faults --write    # write it

A file has a `theme` and `cases`. A case says `name`; `fault`, what happened, in the words of who
met it; `before` and `after`, what came out and what comes out, each in a few words; and how it
runs, one of these:

- `convert: {from:, to:, unit:, model:, options:}` with `body`: one conversion;
- `read: {dialect:, unit:}` or `repair: {dialect:}` or `diagnose: {dialect:}` with `body`;
- `translate: {from:, to:, model:, options:}` with `frames`: a stream;
- `exchange: {client:, provider:, model:, options:, state: true}` with `steps`, each `request`,
  `response`, `frames` or `error` and a check of its own; `again: true` in a step makes a new
  exchange of the same arguments (with the state, if there is one) first;
- `test: tests/test_x.py::test_y`, where Python must run; the test runs where it is.

A check (of the case, or of each step) asks of the body, of the list of frames, or of the IR that
was read: `gives` (all of it), `has` ({JMESPath: value}), `lacks` ([JMESPath], whose value must be
null or nothing); and of the notes: `notes` (codes that are noted), `silent` (codes that are not),
`lost` (the paths of all notes with the effect `lost`). `raises` is a part of the error's message.
"""

from __future__ import annotations

import copy
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import jmespath

import wireglot

from .tables import read_yaml

ROOT = Path(__file__).parents[1]
CASES = Path(__file__).with_name("cases") / "faults"
PAGE = ROOT / "docs" / "field-faults.md"
CHECKS = ("gives", "has", "lacks", "notes", "silent", "lost", "raises")
TABLES = ("bugs", "hard", "ollama", "vertex", "gaps", "streams", "wires")
BUG = re.compile(r"\b[A-Z]{2}-\d{2}\b")
RUNS = ("convert", "read", "repair", "diagnose", "translate", "exchange", "test")
Case = dict[str, Any]

HEAD = """# Faults from the field

What fell short when wireglot was put before real agents, official SDKs and hostile input, and
what comes of it now. Each line is a case of the suite, in `tests/cases/faults/` with its payload.

<!-- Made by `python -m tests.faults --write`. -->
"""
BUGS = """## Bugs of other converters

166 distinct bugs that users of other tools had reported were collected. A case of the suite
carries the number of its bug (`tests/cases/*.yaml`), and what is not tried has its reason.
"""


def themes() -> list[tuple[str, str, list[Case]]]:
    """Return (file stem, theme, cases) of each file, in the order of their names."""
    out = []
    for path in sorted(CASES.glob("*.yaml")):
        table = read_yaml(path.read_text("utf-8"))
        out.append((path.stem, str(table["theme"]), list(table["cases"])))
    return out


def run(case: Case) -> None:
    """Run a case, and hold what comes of it against what it says."""
    case = copy.deepcopy(case)
    if "exchange" in case:
        _exchange(case)
        return
    rules = wireglot.packaged()
    if "convert" in case:
        said = case["convert"]
        model = {"model": said["model"]} if "model" in said else {}
        _check(
            case,
            lambda: wireglot.convert(
                case["body"],
                said["from"],
                said["to"],
                unit=said.get("unit", "request"),
                options=said.get("options"),
                **model,
            ),
        )
    elif "read" in case:
        said = case["read"]
        _check(
            case,
            lambda: rules[said["dialect"]].read(case["body"], unit=said.get("unit", "request")),
        )
    elif "repair" in case:
        _check(case, lambda: rules.repair(case["body"], dialect=case["repair"]["dialect"]))
    elif "diagnose" in case:
        found = rules.diagnose(case["body"], dialect=case["diagnose"]["dialect"])
        _hold(case, [one._asdict() for one in found], [])
    elif "translate" in case:
        said = case["translate"]
        t = rules.translator(
            source=said["from"],
            target=said["to"],
            model=said.get("model"),
            options=said.get("options"),
        )
        _check(case, lambda: _stream(t, case["frames"]))
    else:
        raise AssertionError(f"{case['name']} says not how it runs")


def _exchange(case: Case) -> None:
    said = case["exchange"]
    state: Any = {} if said.get("state") else None

    def fresh() -> Any:
        return wireglot.exchange(
            said["client"],
            said["provider"],
            said.get("model"),
            options=said.get("options"),
            state=state,
        )

    x = fresh()
    for step in case["steps"]:
        if step.get("again"):
            state = x.state if said.get("state") else None
            x = fresh()
        if "request" in step:
            _check(
                step, lambda x=x, step=step: x.request(step["request"], stream=step.get("stream"))
            )
        elif "response" in step:
            _check(step, lambda x=x, step=step: x.response(step["response"]))
        elif "frames" in step:
            _check(step, lambda x=x, step=step: _stream(x.translator(), step["frames"]))
        else:
            _check(step, lambda x=x, step=step: x.error(step["error"], step.get("http")))


class _Streamed:
    def __init__(self, body: Any, notes: Any) -> None:
        self.body, self.notes = body, notes


def _stream(t: Any, frames: list[Any]) -> _Streamed:
    out = [new for frame in frames for new in t.feed(frame)]
    out += t.finish()
    return _Streamed(out, t.notes)


def _check(case: Case, call: Any) -> None:
    if "raises" in case:
        try:
            call()
        except wireglot.WireglotError as error:
            assert case["raises"] in str(error), str(error)
            return
        raise AssertionError(f"nothing was raised, not {case['raises']!r}")
    out = call()
    _hold(case, out.ir if hasattr(out, "ir") else out.body, list(out.notes))


def _hold(case: Case, body: Any, notes: list[Any]) -> None:
    if "gives" in case:
        assert body == case["gives"], body
    for path, value in case.get("has", {}).items():
        found = jmespath.search(path, body)
        assert found == value and type(found) is type(value), (path, found)
    for path in case.get("lacks", ()):
        assert jmespath.search(path, body) in (None, []), (path, jmespath.search(path, body))
    codes = [note.code for note in notes]
    for code in case.get("notes", ()):
        assert code in codes, (code, codes)
    for code in case.get("silent", ()):
        assert code not in codes, [str(note) for note in notes if note.code == code]
    if "lost" in case:
        lost = sorted(str(note.source_path) for note in notes if note.effect == "lost")
        assert lost == sorted(case["lost"]), [str(note) for note in notes if note.effect == "lost"]


class Collected(NamedTuple):
    """The bugs that were collected (`../shared/facts/bugs.yaml`), as this project answers them."""

    groups: dict[str, str]  # the first letters of an id, and what they stand for
    tried: dict[str, int]  # how many cases each bug has
    without: list[tuple[list[str], str]]  # bugs without a case, and why there is none


def collected() -> Collected:
    """Read the cases of the tables, and what `bugs.yaml` says of the others."""
    tables = {
        name: read_yaml(CASES.with_name(f"{name}.yaml").read_text("utf-8")) for name in TABLES
    }
    tried = Counter(
        name
        for table in tables.values()
        for case in table["cases"]
        for name in BUG.findall(case["id"])
    )
    said = tables["bugs"]
    return Collected(said["groups"], tried, [(r["ids"], r["because"]) for r in said["without"]])


def _bugs() -> list[str]:
    """Return the part of the page that counts the collected bugs by group."""
    groups, tried, without = collected()
    reasons = {name: because for names, because in without for name in names}
    lines = [BUGS, "| group | bugs | tried | cases | not tried |", "|---|---|---|---|---|"]
    for letters, group in groups.items():
        counts = [n for name, n in tried.items() if name.startswith(letters)]
        left = sorted(name for name in reasons if name.startswith(letters))
        row = (group, len(counts) + len(left), len(counts), sum(counts), ", ".join(left))
        lines.append(f"| {' | '.join(map(str, row))} |")
    every = (len(tried) + len(reasons), len(tried), sum(tried.values()), len(reasons))
    lines.append(f"| all | {' | '.join(map(str, every))} |")
    why = [f"- {', '.join(names)}: {because}." for names, because in without]
    return [*lines, "", "Why there is no case:", "", *why, ""]


def page() -> str:
    """Return the text of docs/field-faults.md."""
    lines = [HEAD, *_bugs()]
    for stem, theme, cases in themes():
        lines += [f"## {theme}", "", "| fault | before | after | case |", "|---|---|---|---|"]
        for case in cases:
            at = f"`{case['test']}`" if "test" in case else f"`{stem}.yaml`: {case['name']}"
            cells = [case["fault"], case["before"], case["after"], at]
            lines.append(
                "| "
                + " | ".join(" ".join(str(c).split()).replace("|", "\\|") for c in cells)
                + " |"
            )
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), "utf-8")
    else:
        print(page(), end="")
