"""The JSON Schema of rule files: what an editor completes and marks, beside what the checks say."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from wireglot import cli
from wireglot.checks import fields, form
from wireglot.checks.pictureform import Pictures
from wireglot.errors import RuleError
from wireglot.interpreter.demands import UNLESS
from wireglot.ir import MEDIA, field_type
from wireglot.language import forms, merge, short, source, valuewords, variants
from wireglot.language import words as wordlist
from wireglot.language.findings import Findings
from wireglot.language.merge import REMOVED
from wireglot.loading import load

from . import byhand, pictureschema, rulefuzz, width
from . import ruleschema as schemas

ROOT = Path(__file__).parent.parent
BROKEN = Path(__file__).parent / "broken"
# What stands in these folders is data of tools, and no rule file.
APART = {
    path
    for name in ("serve", "drift", "sessions", "batch", "audits")
    for path in (ROOT / "rules" / name).glob("*")
}
PACKAGED = sorted({*(ROOT / "rules").rglob("*.yaml")} - APART)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GOOD = [
    *PACKAGED,
    *sorted((ROOT / "examples").rglob("*.yaml")),
    *sorted((ROOT / "tests" / "dialects").glob("*.yaml")),
    BROKEN / "good.yaml",
    BROKEN / "planted" / "family.yaml",
    BROKEN / "planted" / "proxy.yaml",
]
RULES, LADDER = schemas.rule_file(), schemas.ladder_file()
NAMES = {"rules": schemas.RULE_FILE, "ladder": schemas.LADDER_FILE}
CHECK = {
    "rules": jsonschema.Draft7Validator(RULES),
    "ladder": jsonschema.Draft7Validator(LADDER),
}


def plain(text: str, name: str = "file.yaml") -> Any:
    """Return the data of a rule file, read as it is loaded."""
    return source.parse(text, name).plain()


def marked(data: Any, which: str = "rules") -> dict[str, str]:
    """Return what an editor marks: the paths, and what the schema says of them."""
    errors = (leaf for e in CHECK[which].iter_errors(data) for leaf in _leaves(e))
    return {"/".join(map(str, e.absolute_path)): e.message for e in errors}


def _leaves(error: Any) -> Iterator[Any]:
    """Yield the errors of the alternatives that are meant: what is said beside `$removed`."""
    inner = [e for e in error.context if e.validator_value != REMOVED]
    inner = [e for e in inner if e.schema != {"enum": ["$removed"], "type": "string"}]
    if not inner:
        yield error
    for child in inner:
        yield from _leaves(child)


def which(path: Path) -> str:
    return "ladder" if path.name == "ladder.yaml" else "rules"


# -- what is right is not marked ------------------------------------------------------------------


def test_a_right_file_has_no_mark() -> None:
    for path in GOOD:
        assert (path, marked(plain(path.read_text("utf-8")), which(path))) == (path, {})


def _shown() -> Iterator[Any]:
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in re.finditer(r"^```yaml\n(.*?)^```$", text, re.M | re.S):
            line = text.count("\n", 0, match.start()) + 2
            if match[1].startswith(("# policies/", "# acme-1/drift/", "serve: 1")):
                continue  # no rule file
            yield pytest.param(match[1], id=f"{page.name}-{line}")


@pytest.mark.parametrize("text", list(_shown()))
def test_the_rules_that_pages_show_have_no_mark(text: str) -> None:
    if text.startswith("# rules/"):
        pytest.skip("a piece of a packaged file")
    data = plain(text)
    if "ladder" in data:
        assert marked({"wireglot": 2, "ladder": data.pop("ladder")}, "ladder") == {}
    # Pieces lie over the files that the pages say.
    other = "dialect" if "variants" in data else "overlay"
    head = {"wireglot": 2, **({} if "dialect" in data else {other: "example"})}
    assert marked({**head, **data}) == {}


def test_the_packaged_files_name_the_schema() -> None:
    for path in PACKAGED:
        first, _, _ = path.read_text("utf-8").partition("\n")
        found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
        assert found is not None, path
        schema = (path.parent / found[1]).resolve()
        assert schema == ROOT / "rules" / NAMES[which(path)], path


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_that_is_shipped_is_that_of_the_words(
    name: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    made = schemas.text(RULES if name == "rules" else LADDER)
    shipped = ROOT / "rules" / NAMES[name]
    told = "run `python -m tests.ruleschema`"
    assert shipped.read_text("utf-8") == made, told
    assert cli.main(["schema", *(["--ladder"] if name == "ladder" else [])]) == 0
    assert capfdbinary.readouterr().out == shipped.read_bytes()
    jsonschema.Draft7Validator.check_schema(json.loads(made))


# -- the words are those of the checks ------------------------------------------------------------


def _sections() -> Iterator[tuple[str, forms.Form]]:
    """Yield each form that has words, with its name, below those of a file and of the ladder."""
    stack: list[forms.Form] = [wordlist.FILE, wordlist.LADDER]
    stack += [bounds._replace(what=name) for name, bounds in fields.limits().items()]
    seen: list[forms.Form] = []
    while stack:
        form = stack.pop()
        if any(form is one for one in seen):
            continue
        seen.append(form)
        if isinstance(form, forms.Words):
            yield form.name or form.what, form
            stack += [inner for inner, _ in form.words.values()]
        elif isinstance(form, forms.Map | forms.Listed):
            stack.append(form.of)


SECTIONS = list(_sections())


def _defined(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield the mappings of words of a schema, with what defines them."""
    yield "", schema
    yield from schema["definitions"].items()


def test_each_section_is_in_the_schema_with_all_its_words() -> None:
    named = {name: set(one.words) for name, one in SECTIONS}
    assert {"a rule file", "the ladder's file", "Shape", "Talk", "Log", "Enforce"} < named.keys()
    found = {k: v for schema in (RULES, LADDER) for k, v in _defined(schema) if k}
    found |= {"a rule file": RULES, "the ladder's file": LADDER}
    for name, words in named.items():
        if name in found:
            assert found[name]["properties"].keys() - {REMOVED} == words, name
            assert found[name]["additionalProperties"] is False


@pytest.mark.parametrize("nth", range(len(SECTIONS)), ids=lambda nth: SECTIONS[nth][0])
def test_a_word_that_is_not_there_is_refused_in_each_section(nth: int) -> None:
    _, form_ = SECTIONS[nth]
    findings = Findings({rulefuzz.FILE: ""})
    assert "zeal" not in form_.words
    form.Forms(findings).check(form_, rulefuzz.node_of({"zeal": "x"}), "`x`")
    rules = [finding.rule for finding in findings]
    if form_.texts:
        assert rules == ["R021" if form_.what else "R022"]
    else:
        told = "R021" if form_.rule == "R022" else form_.rule
        assert rules == [told] or (told in rules and (form_.then or form_.missing))


def test_a_variant_has_the_words_of_a_file_that_are_no_head() -> None:
    assert wordlist.VARIANT.words.keys() == {
        "for",
        *wordlist.FILE.words.keys() - {*variants.NEVER, "examples-of", "crossings"},
    }
    for word in wordlist.WHEN.words:
        said: Any = {"repair": True} if word == "option" else "x"
        row = rulefuzz.node_of({"variants": [{"for": {word: said}}]})
        assert len(variants.rows(form.File(Findings()).variants(row))) == 1
    told = Findings({rulefuzz.FILE: ""})
    row = rulefuzz.node_of({"variants": [{"for": {"x": 1}}]})
    assert variants.rows(form.File(told).variants(row)) == ()
    there = set(next(iter(told)).help.removeprefix("there are: ").split(", "))
    assert there == wordlist.WHEN.words.keys()


def _pictured(form: forms.Form) -> bool:
    """Tell whether pictures of the wire or of the IR stand in a form."""
    if isinstance(form, forms.Words):
        return any(_pictured(inner) for inner, _ in form.words.values())
    if isinstance(form, forms.Map | forms.Listed):
        return _pictured(form.of)
    picture = isinstance(form, forms.Picture) and form.of != "node"
    return picture or form == forms.Special("events")


def test_short_forms_and_layers_know_the_words_that_hold_pictures() -> None:
    pictured = {word for word, (form_, _) in wordlist.FILE.words.items() if _pictured(form_)}
    assert pictured == short.PICTURES
    lists = {word: merge.Place.FILE.inner(word) for word in merge.PLAIN_SECTIONS}
    assert {*lists.values()} == {merge.Place.PLAIN}
    assert not merge.PLAIN_SECTIONS & pictured and wordlist.FILE.words.keys() > merge.PLAIN_SECTIONS


def test_what_a_bound_is_not_with_is_what_the_writer_knows() -> None:
    assert {*valuewords.NOT_WITH} == UNLESS.keys()


def test_every_field_of_a_request_that_can_have_a_limit_has_one() -> None:
    told = Findings({rulefuzz.FILE: ""})
    limits, _ = wordlist.FILE.words["limits"]
    form.Forms(told).check(limits, rulefuzz.node_of({"nothing": {}}), "`limits`")
    assert "is no limit" in " ".join(f.message for f in told)
    kinds = {*valuewords.BOUNDS, "list of text"}
    fitting = {
        name
        for name in (*fields.OBJECTS["request"], "reasoning.budget", "tool_choice.allowed")
        if name not in fields.KEPT and field_type("request", name) in kinds
    }
    others = {*valuewords.NAMED, *valuewords.OTHERS, *fields.TEXTS, *MEDIA}
    assert fitting | others == fields.limits().keys()
    assert fields.limits().keys() == RULES["definitions"]["Limits"]["properties"].keys()


LAYERED = {
    "shapes": {"$removed": ["one", "two"]},
    "conversation": {"cases": {"$removed": ["tool"]}},
    "request": {"cases": {"$removed": ["one"], "two": {"wire": {"$removed": ["a"]}}}},
    "stream": {"drop": {"$removed": ["a"]}},
}


def test_a_list_of_what_is_taken_away_has_no_mark() -> None:
    head = {"wireglot": 2, "overlay": "example"}
    assert marked({**head, **LAYERED}) == {}
    assert marked({**head, "tables": {"$removed": ["one"]}}) != {}
    assert marked({**head, "shapes": {"$removed": ["a b"]}}) != {}


REFERENCE = tuple(
    f"{name}.md" for name in "rule-language laws schemas ladder documents streams exchange".split()
)
PAGE = re.sub(
    r"\s+|#(?= )", " ", "".join((ROOT / "docs" / name).read_text("utf-8") for name in REFERENCE)
).replace("`", "")


def _described(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "description" and isinstance(value, str):
                yield value
            elif key == "enumDescriptions":
                yield from value
            else:
                yield from _described(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _described(value)


def test_what_an_editor_shows_stands_in_the_reference() -> None:
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", PAGE)
    told = {text for schema in (RULES, LADDER) for text in _described(schema)}
    assert len(told) > 50
    assert [text for text in sorted(told) if text.replace("`", "") not in page] == []


# -- what is wrong in form is marked --------------------------------------------------------------

# The broken files of which an editor marks something, with the paths; no other file has a mark.
MARKED = {
    "R001-a-key-of-an-ir-picture": ["shapes/image/ir"],
    "R006-a-row-without-reason/ladder": ["ladder/refusal/refusal-as-text"],
    "R009-no-day-and-no-page": ["verified"],
    "R012-a-hook-that-nobody-registered": ["hooks/0"],
    "R015-two-holes-side-by-side": ["shapes/image/wire/url"],
    "R021-words-that-are-not-there": [
        "",
        "conversation/cases",
        "conversation/enforce",
        "conversation/enforce/results/0",
        "conversation/enforce/system",
        "shapes/audio/cases/one",
        "shapes/image",
    ],
    "R022-a-document-of-no-session": [""],
    "R022-ids-of-a-document": [
        *("document/ids/message", "document/ids/part/again", "document/ids/part/at"),
        *("document/ids/part/made", "document/ids/session"),
    ],
    "R022-documents": ["document/log", "document/text", "document/tree/id"],
    "R022-lists-in-tables": [
        "tables/stop/read-also",
        "tables/stop/read-also/tool_use",
        "tables/stop/write",
        "tables/stop/write/end_turn",
        "tables/stop/write/max_tokens",
        "unsupported/audio",
        "unsupported/video",
    ],
    "R022-other-forms": [
        "conversation/cases/user/wire",
        "conversation/per",
        "hooks",
        "request/wire",
        "schemas/small/enum",
        "schemas/small/keep",
        "shapes",
        "tables/effort",
        "tables/stop/write",
        "unions/seen",
    ],
    "R022-a-stream-that-says-nothing": ["stream/events", "stream/framing"],
    "R022-marks-within-a-text": [
        "lists/rows",
        "within-text",
        "within-text/reasoning",
        "within-text/tool_call",
    ],
    "R022-shapes-without-wire": ["shapes/audio/cases/one", "shapes/image"],
    "R022-words-of-new-forms": [
        "conversation/enforce/later-system",
        "conversation/enforce/results",
        "conversation/enforce/turns/first",
        "conversation/enforce/unanswered",
        "conversation/enforce/user-only",
        "conversation/steps",
        "conversation/steps/assistant",
        "conversation/steps/user/type",
        "limits/reasoning.budget/below",
        "limits/stop",
        "media-types/image/jpg",
        "schemas/s/must",
        "schemas/s/refs",
        "schemas/s/rewrite",
        "tables/small",
    ],
    "R023-ir-pictures": ["shapes/image/ir/filename", "shapes/image/ir/source"],
    "R023-marks-and-lists": [
        *("request/wire/engine", "request/wire/heat", "request/wire/nucleus", "request/wire/seed"),
    ],
    "R023-texts-that-are-no-holes": [
        "shapes/image/wire",
        "shapes/image/wire/...",
        "shapes/image/wire/cache",
        "shapes/image/wire/detail",
        "shapes/image/wire/kept",
        "shapes/image/wire/name",
        "shapes/image/wire/role",
        "shapes/image/wire/type",
    ],
    "R024-carry-of-what-is-not-there": ["carry"],
    "R024-words-of-new-kinds": [
        "conversation/enforce/turns/between/after",
        "conversation/enforce/user-only/0",
    ],
    "R024-words-that-the-ir-lacks": [
        "conversation/enforce/user-only/0",
    ],
    "R025-a-crossing": ["crossings", "crossings/message/three", "crossings/message/two"],
    "R025-examples": [
        "shapes/audio/examples",
        "shapes/image/examples/0",
        "shapes/image/examples/1",
        "shapes/image/examples/2",
        "stream/examples/0",
    ],
    "R022-a-scale-of-no-numbers/ladder": [
        "ladder/tool_result/media-beside/whose",
        "scales/effort/high",
    ],
    "R022-a-log-without-a-name": ["document/log/replace-by"],
    "R022-stored-without-an-id": ["stored"],
    "R022-what-is-stored": ["stored", "stored/as"],
    "R026-a-version-to-come": ["wireglot"],
    "R026-a-version-that-was": ["wireglot"],
    "R026-no-name": [""],
    "R026-no-version": [""],
    "R022-a-row-that-leads-nowhere/ladder": ["ladder/text/nowhere"],
    "R027-limits": [
        "limits",
        "limits/call_id",
        "limits/call_id/chars",
        "limits/max_tokens/max",
        "limits/tool_name",
        "limits/tool_name/min",
        "limits/top_p/max",
    ],
    "R027-schemes-of-addresses": ["limits/url/schemes/0"],
    "R029-pictures-of-schema-nodes": [
        "schemas/small/must/0/has",
        "schemas/small/rewrite/bare/schema/const",
        "schemas/small/rewrite/half",
    ],
    "R030-parents-that-cannot-be/five": [""],
    "R030-parents-that-cannot-be/four": ["extends"],
    "R033-variants/broken": [
        "variants/0",
        "variants/1/for",
        "variants/2/for/version",
        "variants/3/for/option/repair",
        "variants/4",
    ],
}
# What an editor sees of these numbers is all that there is of them, in the broken files.
SEEN = ("R022", "R026", "R027")


@pytest.mark.parametrize("path", sorted(BROKEN.rglob("*.yaml")), ids=lambda path: path.stem)
def test_an_editor_marks_what_is_wrong_in_form_and_nothing_else(path: Path) -> None:
    name = str(path.relative_to(BROKEN).with_suffix(""))
    if not name.startswith("R"):
        return
    try:
        data = plain(path.read_text("utf-8"))
    except RuleError as error:
        assert error.rule in ("R011", "R020", "R026")  # the editor's YAML itself says so
        return
    assert sorted(marked(data, which(path))) == MARKED.get(name, [])
    assert name in MARKED or not name.startswith(SEEN)


def test_the_page_says_which_numbers_an_editor_sees() -> None:
    page = (ROOT / "docs" / "checks.md").read_text("utf-8")
    said = re.search(r"An editor sees mistakes of form.*?\n\n", page, re.S)
    assert said is not None
    seen = {name[:4] for name in MARKED}
    assert set(re.findall(r"R\d{3}", said[0])) == seen


def _told(data: Any) -> set[str]:
    """Return the numbers that the checks give a file, that stands alone."""
    findings = Findings({"fuzzed.yaml": ""})
    ladder = load.packaged().files["ladder"]
    byhand.from_nodes({"good": rulefuzz.node_of(data)}, {"ladder": ladder}, findings)
    return {finding.rule for finding in findings}


def test_what_an_editor_marks_is_refused_and_most_of_what_is_wrong_in_form_is_marked() -> None:
    chance = random.Random("marks")
    good = plain((BROKEN / "good.yaml").read_text("utf-8"))
    missed, found = [], 0
    for _ in range(width.times(250, 60)):
        data = rulefuzz.mutant(good, chance)
        told, seen = _told(data), marked(data)
        assert told or not seen, seen
        if told & {"R021", "R022", "R023", "R025", "R026", "R027"}:
            found += bool(seen)
            missed += [told] if not seen else []
    assert found > width.times(30, 6)
    assert len(missed) <= found // 10, missed


TEXTS = (
    *rulefuzz.TEXTS, "$a + $b", "$a + b", "$a each", "$a as b as c", "$a|json", "$a | json|object",
    "$a (made x_)", "$a (made)", "$a (old x)", "$a (default)", "$a (fill  null)", "$a(copy)",
    "$present", "$has text", "$has texts", "$absent (or false)", "a (or b c)", "a(or b)", "a (or b",
    "${a}${b}", "${a}-${b}", "x${a", "${a b}", "$$a(or b)", "$nth as text", "$nth | integer", "$.",
    "$.a", "$ a", "$1", "$removed", "x $y", "$a.b | not (default true) ", "a (or b) (or c)", "$a-b",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text)[:30])
def test_a_pattern_takes_the_texts_that_the_checks_take(text: str) -> None:
    for name, which in (("wire", "wire"), ("ir", "ir"), ("row", "row")):
        findings = Findings({"f": ""})
        Pictures(findings).check(source.Node(text, source.Pos("f", 1, 1)), which)
        right = not [f for f in findings if f.severity == "error"]
        pattern = pictureschema.pictures()[name]["pattern"]
        assert (re.search(pattern, text) is not None) == right, (name, list(findings))


@pytest.mark.parametrize("key", [
    "a", "a (or b)", "a(or b)", "a (or b", "$a", "$$a", "`$a`", "`a(or b)`", "...", "", "a b", "$",
    "a (or b) c", "(or a)", "``",
])  # fmt: skip
def test_the_pattern_of_a_key_takes_the_keys_that_the_checks_take(key: str) -> None:
    findings = Findings({rulefuzz.FILE: ""})
    Pictures(findings).check(rulefuzz.node_of({key: "$absent"}))
    right = not [f for f in findings if f.severity == "error"]
    assert (re.search(pictureschema.KEY, key) is not None) == right, list(findings)


# -- what an editor completes ---------------------------------------------------------------------


def test_every_field_of_the_ir_is_completed_where_it_may_stand() -> None:
    inner = RULES["definitions"]
    for name, known in fields.OBJECTS.items():
        offered = inner[f"wire.{name}"]["examples"]
        holes = {re.match(r"\$(\w+)", hole)[1] for hole in offered}  # type: ignore[index]
        assert holes == {*known.keys() - fields.KEPT, "own"}
        said = inner.get(f"ir.{name}") or inner[f"fields.{name}"]
        assert said["properties"].keys() == {*known, "..."}
        for hole in offered[:-1]:
            assert re.search(
                pictureschema.WIRE, hole.rstrip(".") + ("x" if hole[-1] == " " else "")
            )
    shapes = RULES["properties"]["shapes"]["anyOf"][0]["properties"]
    assert {"text", "tool_call", "tool_result", "function", "usage", "candidate"} <= shapes.keys()
    hint = shapes["tool_call"]["allOf"][1]["properties"]
    assert hint["wire"] == {"$ref": "#/definitions/wire.tool_call"}
    ir = hint["cases"]["additionalProperties"]["properties"]["ir"]
    assert ir["allOf"][0] == {"$ref": "#/definitions/ir.tool_call"}


def test_every_reference_of_a_schema_leads_somewhere() -> None:
    for schema in (RULES, LADDER):
        named = set(re.findall(r'"#/definitions/([^"]+)"', json.dumps(schema)))
        assert named <= schema["definitions"].keys()


def test_printing_the_schema_needs_no_pydantic() -> None:
    code = "sys.modules['pydantic'] = None; from wireglot.cli import main; main(['schema'])"
    done = subprocess.run([sys.executable, "-c", f"import sys; {code}"], capture_output=True)
    assert json.loads(done.stdout)["$schema"] == schemas.DRAFT
