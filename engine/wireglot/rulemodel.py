"""The rule language as pydantic models (an extra): the words of each section, and what each takes.

`ruleschema` makes the JSON Schema for editors of them; what is loaded is checked by `form`, which
sees and says more. Descriptions are words of docs/rule-language.md.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Annotated, Any, ClassVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from . import form, laddercheck, tableform
from .fields import KEPT, KINDS, OBJECTS, ROLES, held
from .hooks import HOOKS
from .ir import FIELDS, FUNCTION, field_type
from .merge import REMOVED
from .nodes import PLACES
from .notes import CODES, Effect
from .payload import OPTIONS
from .pictureschema import ANY_HOLE, Schema
from .rulefile import LIMITS
from .schema import BUDGETS
from .variants import NEVER

ENFORCE = {
    "lift": "system text stands in `$system` of the request",
    "answer-next": "results follow their calls",
    "order-results-by-calls": "results stand in the order of their calls",
    "put-first": "parts of the kind lead their message",
    "no-empty": "a message of which nothing was written is left out",
    "alternate": "neighbours of the role user or assistant are one message",
    "insert": "the first or last turn is of this role: the text is filled in",
    "narrow-tools": "a choice that the dialect has no picture for (one tool, some tools, none) is "
    "made by sending only these tools",
    "no-blank": "text of nothing but spaces is left out",
    "some-message": "system text that stands alone is a message of the user",
    "user-only": "a turn of the model holds no such part",
}


class Words(BaseModel):
    """A mapping of words; in a layer, `word!` replaces one whole and `$removed` takes one away."""

    model_config = ConfigDict(extra="forbid", strict=True, regex_engine="python-re")
    layered: ClassVar[bool] = True

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, data: Any) -> Any:
        if not cls.layered or not isinstance(data, dict):
            return data
        return {k.removesuffix("!"): v for k, v in data.items() if v != REMOVED}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        made = handler.resolve_ref_schema(handler(core_schema))
        made.pop("description", None)
        whole = {}
        for word, said in made["properties"].items():
            said.pop("default", None)
            if cls.layered and word not in (*made.get("required", ()), *form.LAYERS):
                made["properties"][word] = _removable(said)
                whole[f"^{word}!$"] = said
        return {**made, "patternProperties": whole} if whole else made


def _removable(said: Schema) -> Schema:
    """Let a word be taken away, too; a picture takes any text that looks like a hole."""
    if "definition" in said:
        return said
    about = {k: said[k] for k in ("description",) if k in said}
    return {**about, "anyOf": [{k: v for k, v in said.items() if k not in about}, REMOVAL]}


def _model(
    name: str, words: dict[str, tuple[Any, str]], needed: tuple[str, ...] = (), layered: bool = True
) -> Any:
    """Return the model of a mapping of words, each with its type and its description."""
    base: Any = type(f"{name}Words", (Words,), {"layered": layered})
    fields: dict[str, Any] = {}
    for word, (kind, text) in words.items():
        default = ... if word in needed else None
        about = Field(default, alias=word, description=text or None)
        fields["word_" + "".join(c if c.isalnum() else "_" for c in word)] = (kind, about)
    return create_model(name, __base__=base, **fields)


def _one_of(*words: str, told: dict[str, str] | None = None) -> Any:
    def check(said: str) -> str:
        if said not in words:
            raise ValueError(f"it is one of {', '.join(words)}")
        return said

    made: Schema = {"type": "string", "enum": list(words)}
    if told:
        made["enumDescriptions"] = [told[word] for word in words]
    return Annotated[str, AfterValidator(check), WithJsonSchema(made)]


def _like(*words: str) -> Any:
    """Return a text of which some are offered, and others are as good."""
    return Annotated[str, Field(min_length=1, examples=sorted(words))]


def _map(value: Any, offered: Schema | None = None) -> Any:
    """Return a mapping of names; those `offered` are completed."""
    more: Schema = {"properties": offered} if offered else {}
    return Annotated[GenericAlias(dict, (str, value | Removed)), Field(json_schema_extra=more)]


def _list(kind: Any) -> Any:
    return GenericAlias(list, (kind,))


def _said(schema: Schema) -> Any:
    return Annotated[Any, WithJsonSchema(schema)]


def ref(name: str) -> Schema:
    """Return what `ruleschema` makes a reference to a definition: pydantic knows but its own."""
    return {"definition": name}


REMOVAL: Schema = {"const": REMOVED}
OBJECT: Schema = {"allOf": [ref("wire")], "type": "object"}
NODE: Schema = {"allOf": [ref("node")], "type": "object"}
ROW: Schema = {"allOf": [ref("row")], "type": "object"}
Removed = _one_of(REMOVED)
Wire, Ir, Anything = _said(ref("wire")), _said(ref("ir")), _said({})
Text = Annotated[str, Field(min_length=1)]
Scalar = str | int | bool
Names = list[Text]
Positive = Annotated[int, Field(ge=1)]
Length = Annotated[int, Field(ge=1, le=tableform.LONGEST)]
Characters = Annotated[
    str, Field(pattern=r"^(?![\s\S]*(?:--|&&|\|\||~~))[^\[\]\\^]+$", examples=["a-zA-Z0-9_-"])
]
REQUEST = sorted(OBJECTS["request"].keys() - KEPT)

# -- tables, schemas, limits ----------------------------------------------------------------------

Table = _model("Table", {
    "write": (_map(Scalar), "IR word: wire word, one to one"),
    "read-also": (_map(str), "further wire words"),
    "write-also": (_map(Scalar), "further IR words"),
    "otherwise": (Scalar, "for a word of no table"),
    "only": (list[Scalar], "words that stand for themselves"),
})  # fmt: skip
_OUT = "other keywords and type words are left out"
_MUST = "what is written must be so, or the schema is a misfit"
_ROWS = "rows of pictures of a part of a node; other keywords stay"
Rewrite = _model("Rewrite", {
    "schema": (_said(NODE), ""),
    "here": (_said(NODE), ""),
    "note": (Text, "A row with a `note` is for writing only"),
})  # fmt: skip
Must = _model("Must", {"where": (_said(NODE), ""), "has": (_said(NODE), "")}, layered=False)
Budgets = _model("Budgets", dict.fromkeys(sorted(BUDGETS), (Positive, "")))
TypeWord = _like("string", "number", "integer", "boolean", "array", "object", "null")
JsonSchema = _model("JsonSchema", {
    "root": (TypeWord, "the type of the root"),
    "keep": (_list(_like("type", "enum", "required", "description", *PLACES)), _OUT),
    "types": (_list(TypeWord), _OUT),
    "enum": (_one_of("strings", "any"), "`enum` for texts only"),
    "refs": (_one_of("inline", "keep"), "`$ref` is written out"),
    "rewrite": (_map(Rewrite), _ROWS),
    "must": (_list(Must), _MUST),
    "max": (Budgets, _MUST),
})  # fmt: skip
Limit = _model("Limit", {
    "first": (Characters, ""), "rest": (Characters, ""), "min": (Length, ""), "max": (Length, ""),
})  # fmt: skip
BOUNDS = {
    "count": (Length, "a list has N elements at most"),
    "min": (Length, "the number is N at least"),
    "below": (
        _one_of(*sorted(n for n, kind in FIELDS.items() if kind == "integer")),
        "the number is less than that field",
    ),
}


def _limits() -> dict[str, tuple[Any, str]]:
    """Return what can have a limit: names, ids, and the lists and numbers of a request."""
    found: dict[str, tuple[Any, str]] = dict.fromkeys(LIMITS, (Limit, ""))
    kinds = {
        kind: _model(f"Bound_{kind}", {word: BOUNDS[word] for word in words})
        for kind, words in tableform.BOUND_WORDS.items()
    }
    for name in REQUEST:
        inner = OBJECTS.get(OBJECTS["request"][name], {})
        for path in (name, *(f"{name}.{below}" for below in inner)):
            kind = field_type("request", path)
            if kind in kinds and held(frozenset(("request",)), path) is not None:
                found[path] = (kinds[kind], "")
    return found


Limits = _model("Limits", _limits())

# -- shapes, units, the conversation --------------------------------------------------------------

_GIVES = "`drop` in a unit gives up paths of the wire, with reasons"
EXAMPLE = {"wire": (Anything, ""), "ir": (Anything, "")}
Example = _model("Example", EXAMPLE, tuple(EXAMPLE), layered=False)
CASE = {
    "wire": (Wire, "the picture. A case's own `wire` is laid over it: objects merge key by key"),
    "ir": (Ir, "a picture of the IR side, where it is more than the holes of `wire`"),
    "note": (_like(*CODES), "writing this case abroad is noted with this code"),
    "drop": (_map(Text), _GIVES),
    "examples": (_list(Example), "`{wire, ir}` pairs; `wireglot test` runs them both ways"),
}
Case = _model("Case", CASE)
_CASES = "several pictures of one thing, each with `wire`, `ir`, `drop`, `note`, `examples`"
_GATHERS = "neighbours of these kinds stand together in one element of the wire"
_MARKS = "an element of this shape is no element of its own, it is that field of the element before"
SHAPE = {
    **CASE,
    "cases": (_map(Case), _CASES),
    "by": (_like("kind", "name"), "short for `ir: {kind: <name of the case>}`"),
    "also": (Text, "the keys of that shape's picture are read and written here too"),
    "gathers": (_like(*KINDS, FUNCTION), _GATHERS),
    "marks": (_like("cache"), _MARKS),
}
Shape = _model("Shape", SHAPE)
UnitCase = _model("UnitCase", {**CASE, "wire": (_said(OBJECT), CASE["wire"][1])})
Unit = _model("Unit", {
    **SHAPE, "wire": (_said(OBJECT), CASE["wire"][1]), "cases": (_map(UnitCase), _CASES),
})  # fmt: skip
_SPLICED = {"type": "string", "pattern": r"^\s*\$parts\s+each\s+[\w.-]+\s*$"}
TALK_IR: Schema = {"allOf": [ref("ir.message")], "type": "object"}
Talk = _model("Talk", {
    **CASE,
    "wire": (_said({"anyOf": [OBJECT, {**_SPLICED, "examples": ["$parts each "]}]}), ""),
    "ir": (_said(TALK_IR), CASE["ir"][1]),
})  # fmt: skip


def _enforced() -> Schema:
    """Return the schema of one word of `enforce`."""
    bare = sorted(word for word, takes in form.ENFORCE.items() if not takes)
    taken: Schema = {}
    for word, takes in form.ENFORCE.items():
        kinds = ["system"] if takes == "ROLE" else sorted({*KINDS, FUNCTION})
        if takes in ("ROLE", "KIND"):
            taken[word] = {"enum": kinds, "description": ENFORCE[word]}
    text = {"type": "string"}
    turn = {
        "type": "object",
        "description": ENFORCE["insert"],
        "properties": {"user": text, "assistant": text},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    pair = {"type": "array", "items": {"enum": sorted(ROLES)}, "minItems": 2, "maxItems": 2}
    places = {"insert": turn, "at": {"enum": ["start", "end"]}, "between": pair}
    inserts = {"required": ["insert"]}
    return {
        "type": ["string", "object"],
        "if": {"type": "string"},
        "then": {"enum": bare, "enumDescriptions": [ENFORCE[word] for word in bare]},
        "else": {
            "properties": {**taken, **places},
            "additionalProperties": False,
            "minProperties": 1,
            "if": inserts,
            "then": {
                "propertyNames": {"enum": sorted(places)},
                "minProperties": 2,
                "maxProperties": 2,
            },
            "else": {"propertyNames": {"enum": sorted(taken)}},
        },
    }


Conversation = _model("Conversation", {
    "by": (_one_of("role"), "The name of a case is a role of the IR"),
    "per": (_one_of("message", "run"), "`per: message` writes one wire message for each message"),
    "wire": (_said(OBJECT), CASE["wire"][1]),
    "cases": (_map(Talk, {role: ref("Talk") for role in sorted(ROLES)}), _CASES),
    "enforce": (_list(_said(_enforced())), ""),
})  # fmt: skip

# -- files ----------------------------------------------------------------------------------------

_OPTIONAL = {k: v for k, v in OPTIONS.items() if k != "engine" and v}
Options = _model(
    "Options",
    {k: (_said({"enum": list(words)}), "") for k, words in _OPTIONAL.items()},
    layered=False,
)
When = _model("When", {
    "model": (str | list[str], "the argument `model=`, else the `$model` of the body, is of such a "
              "name"),
    "version": (str, "the option `version` is that text"),
    "option": (Options, "the option is given so"),
}, layered=False)  # fmt: skip
_KINDS = {name: {"type": "string"} for name in sorted({*KINDS, FUNCTION, *REQUEST})}
_PAYLOADS = "`request`, `response` and `error` are shapes of whole payloads"
_TYPES = "other spellings of media types in text pictures, and the usual ones"
BODY: dict[str, tuple[Any, str]] = {
    "family": (Text, "`family: NAME` says so by hand, or gives a child one of its own"),
    "see": (Text, "where the provider describes it"),
    "verified": (
        Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")],
        "when somebody last compared the two",
    ),
    "limits": (Limits, "A name or id that does not fit is rewritten"),
    "tables": (_map(Table), "words that stand for themselves"),
    "schemas": (_map(JsonSchema), "A dialect of JSON Schema"),
    "shapes": (_map(Shape), "A shape is a picture with a name"),
    "unions": (_map(Names), "names for alternatives"),
    "conversation": (Conversation, "`$messages as conversation`: the list of messages"),
    "envelope": (Unit, "`envelope` pictures what stands outside a request's body"),
    "request": (Unit, _PAYLOADS),
    "response": (Unit, _PAYLOADS),
    "error": (Unit, _PAYLOADS),
    "hooks": (_list(_like(*HOOKS)), "names registered Python, which runs after reading"),
    "spelling": (
        _said({"const": ["camelCase", "snake_case"], "default": ["camelCase", "snake_case"]}),
        "every key of the file is read in snake_case too",
    ),
    "media-types": (_map(str), _TYPES),
    "drop": (
        _map(Text, _KINDS),
        "Kinds of part and tool, and fields of a request, that this API has no place for",
    ),
}
VARIANT = {word: said for word, said in BODY.items() if word not in NEVER}
Variant = _model(
    "Variant",
    {"for": (When, "all that is said must hold"), **VARIANT},
    ("for",),
)
Version = _said({"const": 1, "default": 1})
Name = Annotated[str, Field(pattern=r"^[\w.-]+$")]
RuleFile = _model("RuleFile", {
    "wireglot": (Version, "the version of this language"),
    "dialect": (Name, "the name by which it is called; or `overlay`, see Layers"),
    "extends": (Text, "`extends: PARENT` lays the file over the parent's"),
    "overlay": (Text, "changes that dialect in place"),
    **BODY,
    "variants": (_list(Variant), "rows of a dialect that apply to some calls only"),
}, ("wireglot",))  # fmt: skip
Row = _model("Row", {
    "note": (Text, "its message, and its effect if it is not `changed`"),
    "effect": (_one_of(*get_args(Effect)), "its message, and its effect if it is not `changed`"),
    "from": (_said(ROW), "a picture of the IR that must fit"),
    "to": (_said(ROW), "the fields that change; `$absent` takes one away"),
    "beside": (
        _said({"type": "string", "pattern": f"^{ANY_HOLE}$"}),
        "parts that leave for a user message right after",
    ),
}, ("note", "from", "to"), layered=False)  # fmt: skip
Rows = GenericAlias(dict, (str, Row))
_OTHERS = sorted({*KINDS, FUNCTION, *laddercheck.OTHERS})
LadderFile = _model("LadderFile", {
    "wireglot": (Version, "the version of this language"),
    "ladder": (
        Annotated[GenericAlias(dict, (str, Rows)), Field(json_schema_extra={"properties": {
            kind: {"type": "object", "additionalProperties": ref("Row")} for kind in _OTHERS}})],
        "It says what a value becomes where a dialect has no picture for it",
    ),
}, ("wireglot", "ladder"), layered=False)  # fmt: skip
