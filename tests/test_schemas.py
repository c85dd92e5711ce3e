"""Schema dialects: what of a JSON Schema is written, in which words, and what is told of it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wireglot
from wireglot.language import drafts, source
from wireglot.language import schema as schema_words
from wireglot.language.lenses import Misfit

HEAD = "wireglot: 2\ndialect: {name}\nsee: https://example.com\nverified: 2026-11-21\n"
NARROW = """
schemas:
  narrow:
    keep:
      [type, description, nullable, enum, properties, required, items, anyOf, minimum,
       additionalProperties]
    types: [string, number, integer, boolean, array, object]
    enum: strings
    refs: inline
    rewrite:
      nullable: {schema: {type: [$t, "null"]}, here: {type: $t, nullable: true}}
      constant:
        schema: {const: $v | string}
        here: {type: string, enum: [$v]}
        note: A constant is the one value of an enum.
      one-of: {schema: {oneOf: $list}, here: {anyOf: $list}, note: More than one may hold here.}
      one-of-all: {schema: {allOf: [$x]}, here: {...: $x}, note: What holds alone stands alone.}
      bound: {schema: {exclusiveMinimum: $n}, here: {minimum: $n}, note: The bound is allowed here.}
      untyped-items:
        schema: {type: array, items: $absent}
        here: {type: array, items: {type: string}}
        note: Elements of no said kind are texts here.
    must:
      - {where: {type: array}, has: {items: $present}}
      - {where: {anyOf: $absent}, has: {type: $present}}
shapes:
  text: {wire: {text: $text}}
  function:
    wire: {name: $name}
    cases:
      SHAPES
unions: {part: [text], tool: [function]}
conversation: {wire: {parts: $parts each part}, cases: {user: {wire: {role: user}}}}
request: {wire: {tools: $tools each tool (optional), turns: $messages as conversation}}
"""
LOSSY = NARROW.replace("SHAPES", "only: {wire: {schema: $parameters | narrow}}")
GUARDED = NARROW.replace(
    "SHAPES",
    "narrow: {wire: {schema: $parameters | fits-narrow}}\n      free: {wire: {json: $parameters}}",
)


def dialects(folder: Path, **texts: str) -> Any:
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(HEAD.format(name=name) + text)
    return wireglot.load_rules(folder)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: Any) -> Any:
    return dialects(tmp_path_factory.mktemp("rules"), lossy=LOSSY, guarded=GUARDED)


def forth(rules: Any, schema: Any, target: str = "lossy") -> Any:
    """Convert the schema of one tool; paths in the notes are those within the schema."""
    tool = {"type": "function", "function": {"name": "f", "parameters": copy.deepcopy(schema)}}
    out = rules.convert([tool], "openai-chat", target, unit="tools")
    head = "/0/function/parameters"
    for note in out.notes:
        assert note.source_path is None or note.source_path.startswith(head), note
    notes = [(n.code, n.effect, (n.source_path or "")[len(head) :]) for n in out.notes]
    return out.body[0], sorted(notes)


CASES: dict[str, tuple[Any, Any, list[Any]]] = {
    "what is taken is not touched": (
        {"type": "object", "properties": {"a": {"type": "string", "description": "A."}}},
        {"type": "object", "properties": {"a": {"type": "string", "description": "A."}}},
        [],
    ),
    "a keyword that is not taken": (
        {"type": "object", "$schema": "x", "properties": {"a": {"type": "string", "format": "f"}}},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        [
            ("schema-keyword", "lost", "/$schema"),
            ("schema-keyword", "lost", "/properties/a/format"),
        ],
    ),
    "a keyword with schemas in it is lost as one": (
        {"type": "object", "not": {"$ref": "#/x", "format": "f"}, "x": {"type": "null"}},
        {"type": "object"},
        [("schema-keyword", "lost", "/not"), ("schema-keyword", "lost", "/x")],
    ),
    "properties named like keywords": (
        {
            "type": "object",
            "properties": {
                "$ref": {"type": "string"},
                "const": {"type": "string"},
                "format": {"type": "string"},
                "properties": {"type": "object", "properties": {"type": {"type": "integer"}}},
            },
            "required": ["$ref", "format"],
        },
        None,
        [],
    ),
    "a type or null": (
        {"type": "object", "properties": {"a": {"type": ["null", "string"]}}},
        {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}},
        [],
    ),
    "a constant": (
        {"type": "object", "properties": {"a": {"const": "x"}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}},
        [("schema-reworded", "changed", "/properties/a/const")],
    ),
    "a constant that is no text": (
        {"type": "object", "properties": {"a": {"type": "integer", "const": 1}}},
        {"type": "object", "properties": {"a": {"type": "integer"}}},
        [("schema-keyword", "lost", "/properties/a/const")],
    ),
    "numbers to choose from": (
        {"type": "object", "properties": {"a": {"type": "integer", "enum": [1, 2]}}},
        {"type": "object", "properties": {"a": {"type": "integer"}}},
        [("schema-keyword", "lost", "/properties/a/enum")],
    ),
    "one of several, with a loss inside": (
        {"oneOf": [{"type": "string", "format": "f"}, {"type": "number"}]},
        {"anyOf": [{"type": "string"}, {"type": "number"}]},
        [("schema-keyword", "lost", "/oneOf/0/format"), ("schema-reworded", "changed", "/oneOf")],
    ),
    "all of one": (
        {"description": "D", "allOf": [{"type": "string"}]},
        {"description": "D", "type": "string"},
        [("schema-reworded", "changed", "/allOf")],
    ),
    "all of one that says otherwise": (
        {"type": "object", "allOf": [{"type": "string"}]},
        {"type": "object"},
        [("schema-keyword", "lost", "/allOf")],
    ),
    "elements of no said kind": (
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        [("schema-added", "added", "")],
    ),
    "false beside true": (
        {"type": "object", "additionalProperties": False, "properties": {"a": {"type": "string"}}},
        None,
        [],
    ),
    "a reference": (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A", "description": "beside"}},
            "$defs": {"A": {"type": "string", "description": "there"}, "B": {"type": "number"}},
        },
        {"type": "object", "properties": {"a": {"description": "beside", "type": "string"}}},
        [
            ("schema-inlined", "changed", "/properties/a/$ref"),
            ("schema-keyword", "lost", "/$defs/A/description"),
            ("schema-keyword", "lost", "/$defs/B"),
        ],
    ),
    "a reference to itself": (
        {
            "$ref": "#/definitions/T",
            "definitions": {
                "T": {
                    "type": "object",
                    "properties": {
                        "v": {"type": "string"},
                        "l": {"$ref": "#/definitions/T"},
                    },
                }
            },
        },
        {"type": "object", "properties": {"v": {"type": "string"}, "l": {"type": "object"}}},
        [
            ("schema-cut", "lost", "/definitions/T/properties/l/$ref"),
            ("schema-inlined", "changed", "/$ref"),
        ],
    ),
    "a reference to nothing": (
        {"type": "object", "properties": {"a": {"type": "string", "$ref": "http://x"}}},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        [("schema-cut", "lost", "/properties/a/$ref")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_schema_is_written_in_the_words_of_the_target(rules: Any, name: str) -> None:
    schema, expected, notes = CASES[name]
    body, told = forth(rules, schema)
    assert body == {"name": "f", "schema": schema if expected is None else expected}
    assert told == notes


@pytest.mark.parametrize("name", CASES)
def test_the_guard_takes_what_is_written_without_a_note(rules: Any, name: str) -> None:
    schema, expected, notes = CASES[name]
    body, told = forth(rules, schema, "guarded")
    assert told == []
    if notes:
        assert body == {"name": "f", "json": schema}
    else:
        assert body == {"name": "f", "schema": schema if expected is None else expected}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "array"},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": 1}},
        {"type": "object", "properties": []},
        {"type": "array", "items": [{"type": "string"}]},
        {"type": "object", "properties": {"a": True}},
        {"type": 5},
    ],
)
def test_the_guard_says_what_must_be_there(rules: Any, schema: Any) -> None:
    assert forth(rules, schema, "guarded") == ({"name": "f", "json": schema}, [])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dialect", ["lossy", "guarded"])
def test_at_home_a_schema_stays_as_it_is(rules: Any, name: str, dialect: str) -> None:
    schema, expected, _ = CASES[name]
    for each in (schema, expected or schema, {"type": "STRING", "nullable": True, "zzz": [1]}):
        tools = [{"name": "f", "schema": each}]
        body = {"tools": tools, "turns": []}
        assert rules.convert(body, dialect, dialect)[:3] == (body, (), None)


def test_words_of_the_target_are_read_as_json_schema(rules: Any) -> None:
    body = {"tools": [{"name": "f", "schema": {"type": "STRING", "nullable": True}}], "turns": []}
    tool = rules["lossy"].read(body).ir["tools"][0]
    assert tool["parameters"] == {"type": ["string", "null"]}
    tool["parameters"] = {"type": ["integer", "null"]}
    out = rules["lossy"].write({"tools": [tool], "messages": []})
    assert out.body["tools"] == [{"name": "f", "schema": {"type": "integer", "nullable": True}}]


def test_references_that_grow_without_end_are_refused_in_time(rules: Any) -> None:
    defs: Any = {"d0": {"type": "string"}}
    for i in range(40):
        ref = {"$ref": f"#/$defs/d{i}"}
        defs[f"d{i + 1}"] = {"type": "object", "properties": {"a": ref, "b": ref}}
    schema = {"$ref": "#/$defs/d40", "$defs": defs}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    body = {"messages": [], "tools": [tool]}
    out = rules.convert(body, "openai-chat", "lossy")
    assert out.body == {"turns": []} or out.body == {"turns": [], "tools": []}
    assert ("no-place", "lost", "/tools/0") in [
        (n.code, n.effect, n.source_path) for n in out.notes
    ]


def test_what_a_row_takes_away_is_told_of_its_schema(rules: Any) -> None:
    schema = {"type": "object", "properties": {}, "required": []}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    (note,) = rules.convert(body, "openai-chat", "groq").notes
    assert (note.code, note.source_path, note.target_path) == (
        "schema-reworded", "/tools/0/function/parameters/required", "/tools/0/function/parameters",
    )  # fmt: skip


def test_a_note_points_at_what_was_reworded(rules: Any) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"const": "x"}}}
    (note,) = rules.convert([tool], "openai-chat", "lossy", unit="tools").notes
    assert note.target_path == "/0/schema/type"
    assert note.message == "A constant is the one value of an enum."


@pytest.mark.parametrize("schema", ['{"b":{"c":1}}', '{"type":"object","b":{"c":1}}'])
def test_within_a_schema_that_came_as_a_text_a_note_points_at_the_text(schema: str) -> None:
    tools = {"toolbox": "$tools each function (optional)"}
    text = {"name": "$name", "takes": "$parameters | object_schema | json"}
    mine = {
        "wireglot": 2, "dialect": "texts", "shapes": {"function": {"wire": text}},
        "schemas": {"object_schema": {"root": "object"}}, "request": {"wire": tools},
    }  # fmt: skip
    tools_rules = wireglot.load_rules({"texts": mine})
    out = tools_rules.convert([{"name": "f", "takes": schema}], "texts", "ollama", unit="tools")
    (note,) = [note for note in out.notes if note.code == "schema-keyword"]
    assert note.source_path == "/0/takes"


def test_a_note_points_at_the_branch_from_which_a_property_came() -> None:
    branch = {"type": "object", "properties": {"k": {"const": "a"}, "v": {"const": "x"}}}
    named = {"type": "object", "properties": {"k": {"const": "b"}}}
    schema = {"type": "object", "oneOf": [branch, {"$ref": "#/$defs/B"}], "$defs": {"B": named}}
    _, told = PACKAGED["kimi"].model.schemas["typed_schema"].write(schema)
    assert {one.at for one in told if one.at[-1:] == ("const",)} == {
        ("oneOf", 0, "properties", "k", "const"),
        ("oneOf", 0, "properties", "v", "const"),
        ("$defs", "B", "properties", "k", "const"),
    }


@pytest.mark.parametrize("kind", ["string", "number"])
def test_a_rule_about_one_of_several_words_is_asked_of_each(kind: str) -> None:
    text = "must: [{where: {type: string (or number)}, has: {format: $present}}]"
    strict = schema_words.load("s", source.parse(text, "s.yaml"))["s"]
    assert strict.write({"type": kind, "format": "x"}) == ({"type": kind, "format": "x"}, [])
    with pytest.raises(Misfit):
        strict.write({"type": kind})


STRICT = (
    NARROW.split("schemas:")[0]
    + """
schemas:
  strict:
    root: object
    must:
      - {where: {type: object}, has: {additionalProperties: false, required: $properties | keys}}
shapes:
  function:
    wire: {name: $name}
    cases:
      strict: {wire: {schema: $parameters | fits-strict, strict: true}}
      loose: {wire: {schema: $parameters}}
unions: {tool: [function]}
request: {wire: {tools: $tools each tool}}
"""
)


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (
            {
                "type": "object",
                "properties": {"a": {}},
                "required": ["a"],
                "additionalProperties": False,
            },
            True,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {}},
                "required": [],
                "additionalProperties": False,
            },
            False,
        ),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "object"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            False,
        ),
    ],
)
def test_a_guard_can_ask_for_all_properties(tmp_path: Path, schema: Any, strict: bool) -> None:
    rules = dialects(tmp_path, one=STRICT)
    out = rules["one"].write([{"name": "f", "parameters": schema}], unit="tools")
    assert out.body[0].get("strict", False) is strict


@pytest.mark.parametrize(
    ("row", "given", "made"),
    [
        (
            "{schema: {anyOf: [{type: $t, ...: $a}, ...: $b]}, here: {type: $t, ...: $a}}",
            [{"type": "string", "minLength": 1}, {"type": "null"}],
            {"type": "string", "minLength": 1},
        ),
        (
            "{schema: {anyOf: [{type: $t}, ...: $b | list]}, here: {type: $t, anyOf: $b}}",
            [{"type": "string"}, {"const": 1}, {"const": 2}],
            {"type": "string", "anyOf": [{"const": 1}, {"const": 2}]},
        ),
    ],
    ids=["keys", "elements"],
)
def test_a_rewrite_takes_what_it_does_not_name(
    tmp_path: Path, row: str, given: list[Any], made: Any
) -> None:
    text = LOSSY[: LOSSY.index("schemas:")] + "schemas:\n  narrow:\n    rewrite:\n      "
    text += f"one: {row[:-1]}, note: A.}}\n" + LOSSY[LOSSY.index("shapes:") :]
    schema = {"type": "object", "properties": {"a": {"anyOf": given}}}
    out, _ = forth(dialects(tmp_path, lossy=text), schema)
    assert out["schema"]["properties"]["a"] == made


def test_a_rule_may_be_about_every_node(tmp_path: Path) -> None:
    rules = dialects(tmp_path, one=STRICT.replace("where: {type: object}", "where: {}"))
    closed = {"additionalProperties": False, "properties": {}, "required": []}
    for inner, strict in (({}, False), (closed, True)):
        schema = {"type": "object", **closed, "properties": {"a": inner}, "required": ["a"]}
        out = rules["one"].write([{"name": "f", "parameters": schema}], unit="tools")
        assert out.body[0].get("strict", False) is strict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{kept: [type]}", "`kept` is no word of a schema"),
        ("[type]", "is a mapping"),
        ("{keep: type}", "`keep` is a list of names"),
        ("{refs: follow}", "`refs` is `inline`, `finite` or `keep`"),
        ("{max: {depth: 3}}", "`max` is no word of a schema"),
        ("{rewrite: {a: {schema: {b: $c}}}}", "`a` has `here`"),
        ("{rewrite: {a: {schema: {b: $c}, here: {d: $e}, note: N}}}", "nothing gives `$e`"),
        ("{rewrite: {a: {schema: {b: $c}, here: {d: 1}}}}", "cannot be read back"),
        (
            "{rewrite: {a: {schema: {b: $c | json}, here: {d: $c}}}}",
            "`json` is no codec of a schema",
        ),
        ("{rewrite: {a: {from: {b: 1}, here: {d: 1}}}}", "`from` is no word of a rewrite"),
        ("{must: [{where: {}}]}", "`must` has `has`"),
        ("{must: [a]}", "a rule of `must` is a mapping"),
        ("{must: a}", "`must` is a list"),
        ("{rewrite: [a]}", "`rewrite` is a mapping of names"),
        ("{rewrite: {a: 3}}", "a rewrite is a mapping"),
    ],
)
def test_a_schema_dialect_is_checked(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(wireglot.RuleError) as caught:
        dialects(tmp_path, one=f"schemas:\n  s: {text}\n")
    assert message in str(caught.value)
    assert caught.value.line == 6


PACKAGED = wireglot.packaged()
WORDS = ["type", "enum", "items", "properties", "required", "anyOf", "nullable", "$ref", "title"]


def _schemas(depth: int = 3) -> Any:
    leaf = st.one_of(
        st.sampled_from(["string", "object", "array", "STRING", "é", "\ud800", [], {}, ["a"], [1]]),
        st.none() | st.booleans() | st.integers() | st.floats(),
    )
    if not depth:
        return leaf
    node = _schemas(depth - 1)
    held = st.one_of(leaf, node, st.lists(node, max_size=2), st.dictionaries(st.text(), node))
    optional = node.map(lambda found: {"anyOf": [found, {"type": "null"}]})
    return st.dictionaries(st.sampled_from(WORDS), held, max_size=4) | optional


RENEWED = [("anthropic", "object_schema"), ("openai-chat", "object_schema")]


def _older() -> Any:
    """Schemas of draft 4: tuples, bounds with switches, and properties that are any schema."""
    number = st.integers(-2, 2)
    bound = st.fixed_dictionaries({"minimum": number}, optional={"exclusiveMinimum": st.booleans()})
    top = st.fixed_dictionaries({"maximum": number}, optional={"exclusiveMaximum": st.booleans()})
    leaf = bound | top | st.sampled_from([{"type": "string"}, {"type": "array"}, {}])

    def around(inner: Any) -> Any:
        tuples = st.fixed_dictionaries(
            {"items": st.lists(inner, min_size=1, max_size=2)},
            optional={"additionalItems": st.booleans() | inner},
        )
        objects = st.fixed_dictionaries(
            {"properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2)},
            optional={"required": st.sampled_from([["a"], ["a", "b"]])},
        )
        return tuples | objects | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1)})

    return st.recursive(leaf, around, max_leaves=6)


def _instances() -> Any:
    leaf = st.integers(-3, 3) | st.sampled_from(["x", None, True])
    within = st.dictionaries(st.sampled_from("ab"), leaf, max_size=2) | st.lists(leaf, max_size=3)
    return leaf | within | st.lists(within, max_size=2)


@pytest.mark.parametrize(("name", "schema"), RENEWED)
@given(older=_older(), value=_instances())
def test_a_schema_of_an_older_draft_takes_the_same_values_in_the_new_one(
    name: str, schema: str, older: Any, value: Any
) -> None:
    whole = {"type": "object", "properties": {"it": older}}
    written, told = PACKAGED[name].model.schemas[schema].write(whole)
    jsonschema.Draft202012Validator.check_schema(written)
    assert "bad-schema" not in {one.code for one in told}
    before = jsonschema.Draft4Validator(whole).is_valid({"it": value})
    assert jsonschema.Draft202012Validator(written).is_valid({"it": value}) == before


@pytest.mark.parametrize(("name", "schema"), RENEWED)
def test_no_keyword_that_says_something_is_null(name: str, schema: str) -> None:
    words = sorted(drafts.EMPTY_IF_NULL - {"type", "properties"})
    node = dict.fromkeys(words) | {"default": None, "const": None, "examples": [None]}
    whole = {"type": "object", "properties": {"a": node}}
    written, told = PACKAGED[name].model.schemas[schema].write(whole)
    left = {"default": None, "const": None, "examples": [None]}
    assert written["properties"] == {"a": left}
    assert [one.at for one in told] == [("properties", "a", word) for word in words]


@pytest.mark.parametrize(("name", "schema"), RENEWED)
def test_types_stand_in_small_letters_and_each_property_is_required_once(
    name: str, schema: str
) -> None:
    node = {"type": "OBJECT", "properties": {}, "required": ["b", "a", "b"]}
    odd: list[Any] = [{"type": "Any"}, {"type": {"a": 1}}, {"required": [{}, {}]}]
    whole = {"type": "object", "properties": {"a": node} | dict(zip("bcd", odd, strict=True))}
    written, told = PACKAGED[name].model.schemas[schema].write(whole)
    assert written["properties"]["a"] == {
        "type": "object",
        "properties": {},
        "required": ["b", "a"],
    }
    assert [written["properties"][key] for key in "bcd"] == odd
    renewed = [one.at for one in told if one.code == "schema-renewed"]
    assert renewed == [("properties", "a", "type"), ("properties", "a", "required")]


@pytest.mark.parametrize("key", ["items", "not", "additionalProperties"])
def test_null_where_no_draft_is_asked_for_stands_as_it_came(key: str) -> None:
    schema = {"type": "object", "properties": {"a": {key: None}}}
    said = wireglot.load_rules()["agent-sdk"].model.schemas["draft-07"].write(schema)
    assert said == (schema, [])


def test_constraints_that_are_not_taken_can_be_told_in_descriptions() -> None:
    parameters = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "a": {"type": "integer", "minimum": 3, "maximum": 9, "description": "How many."},
            "b": {"type": "string", "pattern": "^x", "default": "x", "title": "B"},
            "c": {"type": "object", "patternProperties": {"x": {}}},
        },
    }
    function = {"name": "f", "parameters": parameters}
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": function}],
    }
    given = json.dumps(body)
    options = {"tell_constraints": True}
    out = wireglot.convert(body, "openai-chat", "ollama", options=options)
    assert json.dumps(body) == given
    assert out.body["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "How many. (minimum: 3, maximum: 9)"},
            "b": {"type": "string", "description": '(pattern: "^x")'},
            "c": {"type": "object"},
        },
    }
    at = "/tools/0/function/parameters"
    told = {n.source_path: n.target_path for n in out.notes if n.code == "schema-told"}
    described = f"{at}/properties/{{}}/description"
    assert told == {
        f"{at}/properties/a/minimum": described.format("a"),
        f"{at}/properties/a/maximum": described.format("a"),
        f"{at}/properties/b/pattern": described.format("b"),
    }
    lost = {note.source_path for note in out.notes if note.code == "schema-keyword"}
    assert lost == {
        f"{at}/additionalProperties",  # the root holds no description there
        f"{at}/properties/b/default",
        f"{at}/properties/b/title",
        f"{at}/properties/c/patternProperties",
    }
    plain = wireglot.convert(body, "openai-chat", "ollama")
    assert not [note for note in plain.notes if note.code == "schema-told"]
    assert "(" not in json.dumps(plain.body)


def test_what_the_target_takes_is_not_told() -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}}
    body = {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}],
    }
    for target in ("anthropic", "gemini"):
        told = wireglot.convert(body, "openai-chat", target, options={"tell_constraints": True})
        assert told.body == wireglot.convert(body, "openai-chat", target).body


@pytest.mark.parametrize("word", ["properties", "items", "anyOf"])
def test_text_where_schemas_stand_is_no_schema_that_fits(word: str) -> None:
    with pytest.raises(Misfit):
        PACKAGED["gemini"].model.schemas["fits-openapi"].write({"type": "object", word: "x"})


@pytest.mark.parametrize("value", [["a"], "x", 5, None, {"a": ["b"]}, {"a": None}])
def test_a_schema_with_anything_where_schemas_stand_is_read(value: Any) -> None:
    for word in ("properties", "items", "anyOf", "enum"):
        schema = {"type": "OBJECT", word: value, "nullable": True}
        body = {
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}],
        }
        assert wireglot.convert(body, "gemini", "gemini", model="m").body == body
        assert wireglot.convert(body, "gemini", "openai-chat", model="m").body["tools"]


@pytest.mark.parametrize("kind", ["array", "ARRAY"])
def test_a_count_that_is_a_text_is_a_number_abroad(kind: str) -> None:
    """As Google's SDK for JavaScript has those of 64 bits, whatever else is spelled as it does."""
    a = {"type": "array", "items": {"type": "string"}, "maxItems": 3}
    schema = {"type": "object", "properties": {"a": {**a, "type": kind, "maxItems": "3"}}}
    tools = [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]
    body = {"contents": [{"role": "user", "parts": [{"text": "Go."}]}], "tools": tools}
    out = wireglot.convert(body, "gemini", "openai-chat").body["tools"][0]["function"]
    assert out["parameters"]["properties"]["a"] == a
