"""The rule language as pydantic models (an extra): the words of each section, and what each takes.

`ruleschema` makes the JSON Schema for editors of them; what is loaded is checked by `form`, which
sees and says more. Descriptions are words of docs/rule-language.md.
"""

from __future__ import annotations

from collections.abc import Sequence
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

from ..checks import exampleform, form, laddercheck, tableform
from ..checks.fields import KEPT, KINDS, OBJECTS, ROLES, held
from ..hooks import HOOKS
from ..interpreter.demands import UNLESS
from ..ir import FIELDS, FUNCTION, MEDIA, PARTS, field_type
from ..language import documents, events
from ..language.merge import REMOVED
from ..language.nodes import PLACES
from ..language.rulefile import LIMITS
from ..language.variants import NEVER
from ..language.version import VERSION
from ..notes import CODES, Effect
from ..payload import OPTIONS
from .enforceschema import enforced
from .pictureschema import ANY_HOLE, Schema


class Words(BaseModel):
    """A mapping of words; in a layer, `word!` replaces one whole and `$removed` takes one away."""

    model_config = ConfigDict(extra="forbid", strict=True, regex_engine="python-re")
    layered: ClassVar[bool] = True
    forms: ClassVar[Schema] = {}  # what stands together

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
        return {**made, **cls.forms, **({"patternProperties": whole} if whole else {})}


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
Scheme = Annotated[str, Field(pattern=tableform.SCHEME)]
Characters = Annotated[
    str, Field(pattern=r"^(?![\s\S]*(?:--|&&|\|\||~~))[^\[\]\\^]+$", examples=["a-zA-Z0-9_-"])
]
REQUEST = sorted(OBJECTS["request"].keys() - KEPT)

# -- examples -------------------------------------------------------------------------------------

_READS, _WRITES = (
    "this on the wire reads as that in the IR",
    "this in the IR writes as that on the wire",
)
_BOTH, _ROW = (
    "the wire reads as the IR, and the IR writes as the wire",
    "what a row of the ladder makes",
)
_SAID = {
    **dict.fromkeys(("wire", "ir"), _BOTH),
    **dict.fromkeys(("reads", "as"), "this on the wire reads as that in the IR"),
    "writes": "this in the IR writes as that on the wire",
    **dict.fromkeys(("from", "to", "beside"), _ROW),
    "notes": "`notes` lists the codes that come of it",
    "crossing": "`crossing: {DIALECT: {CODE: 3}}` counts those of crossing",
}


def _example(name: str, forms: Sequence[tuple[str, str]], more: Sequence[str]) -> Any:
    """Return the model of an example: one of some pairs of words, and further words."""
    words = [*dict.fromkeys(sum(forms, ())), *more]
    pairs = [{"required": [*pair], "propertyNames": {"enum": [*pair, *more]}} for pair in forms]
    model = _model(name, {word: (Anything, _SAID[word]) for word in words}, layered=False)
    model.forms = {"anyOf": pairs}
    return model


Example = _example("Example", exampleform.FORMS, exampleform.MORE)
RowExample = _example("RowExample", exampleform.ROW_FORMS, exampleform.ROW_MORE)
_SHOWN = "what it reads and writes: examples"
EXAMPLES = (_list(Example), _SHOWN)

# -- tables, schemas, limits ----------------------------------------------------------------------

Table = _model("Table", {
    "write": (_map(Scalar) | list[str], "IR word: wire word, one to one"),
    "read-also": (_map(str) | list[str], "further wire words"),
    "write-also": (_map(Scalar), "further IR words"),
    "otherwise": (Scalar, "for a word of no table"),
    "only": (list[Scalar], "words that stand for themselves"),
    "examples": EXAMPLES,
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
TypeWord = _like("string", "number", "integer", "boolean", "array", "object", "null")
JsonSchema = _model("JsonSchema", {
    "root": (TypeWord, "the type of the root"),
    "whole": (_list(Text), "except below those of `whole`"),
    "root-without": (_list(Text), "keywords that only the root does not take"),
    "keep": (_list(_like("type", "enum", "required", "description", *PLACES)), _OUT),
    "types": (_list(TypeWord), _OUT),
    "enum": (_one_of("strings", "any"), "`enum` for texts only"),
    "refs": (_one_of("inline", "keep"), "`$ref` is written out"),
    "rewrite": (_map(Rewrite), _ROWS),
    "must": (_list(Must), _MUST),
    "examples": EXAMPLES,
})  # fmt: skip
Limit = _model("Limit", {
    "first": (Characters, ""), "chars": (Characters, ""), "min": (Length, ""), "max": (Length, ""),
    "unique": (bool, "that comes again where ids are `unique: true`"),
})  # fmt: skip
BOUNDS = {
    "count": (Length, "a list has N elements at most"),
    "min": (float, "the number is N at least, or at most"),
    "max": (float, "the number is N at least, or at most"),
    "not-with": (
        _list(_one_of(*sorted(UNLESS))),
        "the number or word is left out",
    ),
    "with": (Text, "a field of the request is such a mark, too"),
    "else": (Text, "this word stands there then"),
    "schemes": (_list(Scheme), "which addresses of media this API reads"),
    "below": (
        _one_of(*sorted(n for n, kind in FIELDS.items() if kind == "integer")),
        "the number is less than that field",
    ),
}


def _bound(word: str, kind: str) -> tuple[Any, str]:
    said, told = BOUNDS[word]
    return (int if said is float and kind == "integer" else said), told


def _limits() -> dict[str, tuple[Any, str]]:
    """Return what can have a limit: names, ids, and the lists and numbers of a request."""
    named = (*LIMITS, *sorted(tableform.TEXTS))
    found: dict[str, tuple[Any, str]] = dict.fromkeys(named, (Limit, ""))
    kinds = {
        kind: _model(f"Bound_{kind}", {word: _bound(word, kind) for word in words})
        for kind, words in tableform.BOUND_WORDS.items()
    }
    found.update(dict.fromkeys(sorted(MEDIA), (kinds["list"], "")))
    for name, words in tableform.OTHER_BOUNDS.items():
        bounds = {word: _bound(word, "list") for word in words}
        found[name] = (_model(f"Bound_{name.replace('.', '_')}", bounds), "")
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
CASE = {
    "wire": (Wire, "the picture. A case's own `wire` is laid over it: objects merge key by key"),
    "ir": (Ir, "a picture of the IR side, where it is more than the holes of `wire`"),
    "note": (
        _like(*CODES),
        "noted abroad with this code: that this case was written, "
        "or that it was read where writing takes another",
    ),
    "read-only": (_said({"const": True}), "the case is read, and written only where it was read"),
    "drop": (_map(Text), _GIVES),
    "examples": EXAMPLES,
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
    "groups": (_like(*KINDS, FUNCTION), _GATHERS),
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


Enforce = _model("Enforce", {word: (_said(form), why) for word, (form, why) in enforced().items()})
Conversation = _model("Conversation", {
    "per": (_one_of("message", "run"), "`per: message` writes one wire message for each message"),
    "wire": (_said(OBJECT), CASE["wire"][1]),
    "cases": (_map(Talk, {role: ref("Talk") for role in sorted(ROLES)}), _CASES),
    "enforce": (Enforce, ""),
    "examples": EXAMPLES,
})  # fmt: skip

Log = _model("Log", {
    "replace-by": (Text, "a line with a value of this key that was there replaces that line"),
    "set": (Text, "a line with this key sets fields of the head, or all messages"),
    "rewind": (Text, "a line with this key takes back that message, and all behind it"),
}, documents.LOG)  # fmt: skip
Tree = _model("Tree", {
    "id": (Text, "the key of a line's id"),
    "parent": (Text, "the key of the id of the line before"),
}, documents.TREE)  # fmt: skip
_FORMS = [*documents.TEXTS, "lines (or json)", "json (or lines)"]
Document = _model("Document", {
    "text": (_one_of(*_FORMS), "the first is written, all are read"),
    "log": (Log, "a file of events, replayed"),
    "tree": (Tree, "lines that name the line before them"),
    "message": (_said(OBJECT), "what stands around each message"),
})  # fmt: skip

# -- streams ---------------------------------------------------------------------------------------

_FRAME: Schema = {"allOf": [ref("wire")], "type": "object"}
_EVENT: Schema = {"anyOf": [ref("wire"), {"type": "array", "items": ref("wire"), "minItems": 1}]}
_EVENTS: Schema = {
    "type": "object",
    "additionalProperties": _EVENT,
    "propertyNames": {"pattern": events.NAME},
    "properties": dict.fromkeys(events.USUAL_NAMES, _EVENT),
}
Stream = _model("Stream", {
    "framing": (_one_of(*events.FRAMINGS), "how frames follow each other in bytes"),
    "named": (Text, "the key of a frame whose word is the name of its event"),
    "frame": (_said(_FRAME), "what every frame holds"),
    "events": (_said(_EVENTS), "a picture of its frame for each thing that a stream tells"),
    "read-also": (_said(_EVENTS), "further pictures of events, which are read and never written"),
    "asks": (_said({"type": "object", "additionalProperties": {"type": "object"}}),
             "events that come only where a request asks for them, and how it asks"),
    "drop": (_map(Text), "`drop` in a stream gives up paths of frames, with reasons"),
    "examples": EXAMPLES,
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
Signed = _model("Signed", {
    "models": (_map(_list(Text)), "the models of a row read each other's signatures"),
    "dialects": (_list(Text), "other dialects whose signatures"),
    "placeholder": (Text, "a text that this API takes for a signature where there is none"),
})  # fmt: skip
_KINDS = {name: {"type": "string"} for name in sorted({*KINDS, FUNCTION, *REQUEST})}
_PAYLOADS = "`request`, `response`, `error` and `session` are shapes of whole payloads"
_TYPES = "other spellings of media types in text pictures, and the usual ones"
BODY: dict[str, tuple[Any, str]] = {
    "family": (Text, "`family: NAME` says so by hand, or gives a child one of its own"),
    "see": (Text, "where the provider describes it"),
    "verified": (
        Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")],
        "when somebody last compared the two",
    ),
    "carry": (
        _map(Text, {kind: {"type": "string"} for kind in sorted({*PARTS, "message"})}),
        "kinds of part, or `message`, and a key of each",
    ),
    "signatures": (Signed, "Who reads a `$signature`"),
    "limits": (Limits, "A name or id that does not fit"),
    "tables": (_map(Table), "words that stand for themselves"),
    "schemas": (_map(JsonSchema), "A dialect of JSON Schema"),
    "shapes": (_map(Shape), "A shape is a picture with a name"),
    "unions": (_map(Names), "names for alternatives"),
    "conversation": (Conversation, "`$messages as conversation`: the list of messages"),
    "envelope": (Unit, "`envelope` pictures what stands outside a request's body"),
    "request": (Unit, _PAYLOADS),
    "response": (Unit, _PAYLOADS),
    "error": (Unit, _PAYLOADS),
    "session": (Unit, _PAYLOADS),
    "document": (Document, "how a session is kept in a file"),
    "stream": (Stream, "how the frames of a stream make a response"),
    "hooks": (_list(_like(*HOOKS)), "names registered Python, which runs after reading"),
    "spelling": (
        _said({"const": ["camelCase", "snake_case"], "default": ["camelCase", "snake_case"]}),
        "every key of the file is read in snake_case too",
    ),
    "media-types": (_map(str), _TYPES),
    "unsupported": (
        _map(Text, _KINDS),
        "Kinds of part and tool, and fields of a request, that this API has no place for",
    ),
    "examples": (_map(_list(Example)), "Examples stand beneath what they show"),
}
VARIANT = {word: said for word, said in BODY.items() if word not in NEVER}
Variant = _model(
    "Variant",
    {"for": (When, "all that is said must hold"), **VARIANT},
    ("for",),
)
Version = _said({"const": VERSION, "default": VERSION})
Name = Annotated[str, Field(pattern=r"^[\w.-]+$")]
RuleFile = _model("RuleFile", {
    "wireglot": (Version, "the version of this language"),
    "dialect": (Name, "the name by which it is called; or `overlay`, see Layers"),
    "extends": (Text, "`extends: PARENT` lays the file over the parent's"),
    "overlay": (Text, "changes that dialect in place"),
    "examples-of": (Text, "a file of nothing but `examples`, of that dialect"),
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
    "examples": (_list(RowExample), _SHOWN),
}, ("note", "from", "to"), layered=False)  # fmt: skip
Rows = GenericAlias(dict, (str, Row))
_OTHERS = sorted({*KINDS, FUNCTION, *laddercheck.OTHERS})
LadderFile = _model("LadderFile", {
    "wireglot": (Version, "the version of this language"),
    "scales": (
        _map(_map(float)),
        "words that stand for numbers",
    ),
    "ladder": (
        Annotated[GenericAlias(dict, (str, Rows)), Field(json_schema_extra={"properties": {
            kind: {"type": "object", "additionalProperties": ref("Row")} for kind in _OTHERS}})],
        "It says what a value becomes where a dialect has no picture for it",
    ),
}, ("wireglot", "ladder"), layered=False)  # fmt: skip
