"""The words of tables, dialects of JSON Schema and limits: what each takes and says."""

from __future__ import annotations

from ..ir import FIELDS
from .forms import (
    ANY_TEXT,
    EXAMPLES,
    TEXT,
    Leaf,
    Listed,
    Map,
    Picture,
    Schema,
    Word,
    Words,
    free,
    like,
    names,
    one_of,
)
from .nodes import PLACES

# -- tables ---------------------------------------------------------------------------------------

_SCALAR: Schema = {"anyOf": [{"type": kind} for kind in ("string", "integer", "boolean")]}
_NO_WORD, _MAPS = "`{value}` is no word", "{what} maps words to words"
WORD_MAP = Map(Leaf(ANY_TEXT, _NO_WORD), _MAPS, whole=True)
_ONE, _WORDS = Leaf(_SCALAR, "{what} is one word"), "{what} is a list of words"
_YES = Leaf({"const": True}, "{what} is `true`, or is not said")
_OUT = Leaf(
    _SCALAR,
    _NO_WORD,
    "one word of the wire for each; further ones are read with `read-also: {WIRE: IR}`",
)
_IN = Leaf(ANY_TEXT, _NO_WORD, "each word of the wire is a key of its own, as `{one: IR, two: IR}`")
TABLE = Words(
    "a table",
    {
        "write": (Map(_OUT, _MAPS, whole=True, listed=True), "IR word: wire word, one to one"),
        "read-also": (Map(_IN, _MAPS, whole=True, listed=True), "further wire words"),
        "write-also": (Map(_OUT, _MAPS, whole=True), "further IR words"),
        "otherwise": (_ONE, "for a word of no table"),
        "whole": (_YES, "no other word is read"),
        "only": (Listed(_ONE, _WORDS, whole=True), "words that stand for themselves"),
        "examples": EXAMPLES,
    },
    "Table", "table",
)  # fmt: skip

# -- dialects of JSON Schema ----------------------------------------------------------------------

LIKE: Word = Leaf(TEXT), "it is as that one, but for what it says itself"
_LEFT = "other keywords and type words are left out"
_NODE: Word = Picture("node", whole=True), ""
_NOTE: Word = Leaf(TEXT), "A row with a `note` is for writing only"
_TYPE = like("string", "number", "integer", "boolean", "array", "object", "null")
_KEY = like("type", "enum", "required", "description", *PLACES)
_REWRITE = {"schema": _NODE, "here": _NODE, "note": _NOTE}
REWRITE = Words("a rewrite", _REWRITE, "Rewrite", "rewrite", whole=True)
_MUST = {"where": _NODE, "has": _NODE}
MUST = Words("a rule of `must`", _MUST, "Must", "must", layered=False, whole=True)
_ENUM, _REFS = "{what} is `strings` or `any`", "{what} is `inline`, `finite` or `keep`"
_DRAFT = "{what} is `2020-12`"
_FILLS = Map(free({}), "{what} is a mapping of keywords", "as `root-with: {properties: {}}`")
SCHEMA = Words(
    "a schema",
    {
        "like": LIKE,
        "root": (_TYPE, "the type of the root"),
        "whole": (names(), "except below those of `whole`"),
        "root-without": (names(), "keywords that only the root does not take"),
        "root-with": (_FILLS, "keywords that the root has, filled in where it says none"),
        "draft": (one_of("2020-12", message=_DRAFT, lead="say"),
                  "what older drafts say otherwise is said in its words"),
        "keep": (names(_KEY.schema), _LEFT),
        "types": (names(_TYPE.schema), _LEFT),
        "enum": (one_of("strings", "any", message=_ENUM, lead="say"), "`enum` for filled texts"),
        "refs": (one_of("inline", "finite", "keep", message=_REFS, lead="say"),
                 "`$ref` is written out"),
        "rewrite": (Map(REWRITE), "rows of pictures of a part of a node; other keywords stay"),
        "must": (Listed(MUST, "{what} is a list", "write - {where: ..., has: ...}"),
                 "what is written must be so, or the schema is a misfit"),
        "examples": EXAMPLES,
    },
    "JsonSchema",
)  # fmt: skip

# -- limits ---------------------------------------------------------------------------------------

# The other limits are of texts, or bounds of fields of a request.
NAMED = ("tool_name", "property", "call_id")
NOT_WITH = ("forced-tool", "unsigned-call", "reasoning", "may-reason", "tools", "stream", "whole",
            "json")  # fmt: skip
LONGEST = 10_000  # of a name or id
_LENGTH = Leaf({"type": "integer", "minimum": 1, "maximum": LONGEST},
               f"{{what}} is a whole number from 1 to {LONGEST}", rule="R027")  # fmt: skip
_SET = r"^(?![\s\S]*(?:--|&&|\|\||~~))\^?[^\[\]\\^]+$"
_SIGNS: Schema = {"type": "string", "pattern": _SET, "examples": ["a-zA-Z0-9_-"]}
_NO_SET = "{what} is no set of characters"
_RANGES = (
    'characters and ranges of them, as in "a-zA-Z0-9_-"; `-` stands last, `^` first: all but these'
)
_CHARACTERS: Word = Leaf(_SIGNS, _NO_SET, _RANGES, "R027", "characters"), ""
_UNIQUE = Leaf({"type": "boolean"}, "{what} is true or false", rule="R027")
LIMIT = Words(
    "a limit",
    {
        "first": _CHARACTERS, "chars": _CHARACTERS, "min": (_LENGTH, ""), "max": (_LENGTH, ""),
        "unique": (_UNIQUE, "that comes again where ids are `unique: true`"),
    },
    "Limit", "limit", whole=True, message="{owner} is a mapping",
)  # fmt: skip
_INTEGERS = sorted(name for name, kind in FIELDS.items() if kind == "integer")
_LESS = "the number is N at least, or at most"
_WHOLE: Word = Leaf({"type": "integer"}, "{what} is a whole number", rule="R027"), _LESS
_NUMBER: Word = Leaf({"type": "number"}, "{what} is a number", rule="R027"), _LESS
_COUNT: Word = _LENGTH, "a list has N elements at most"
_MANY = Leaf({"type": "integer", "minimum": 0, "maximum": LONGEST},
             f"{{what}} is a whole number from 0 to {LONGEST}", rule="R027")  # fmt: skip
_KINDS = "{what} lists kinds of requests"
_BLANK = one_of(
    "not-blank", "not-empty", message="{what} says what a text is", lead="it is", rule="R027"
)
_UNLESS: Word = Listed(
    one_of(*NOT_WITH, message=_KINDS, lead="its words are", rule="R024"),
    _KINDS, f"its words are: {', '.join(NOT_WITH)}", "R024", least=1, whole=True, alone=True,
), "the number, word or form is left out"  # fmt: skip
_BELOW = Leaf({"type": "string", "enum": _INTEGERS}, "{what} names a number of a request",
              "as max_tokens", "R027", "integer")  # fmt: skip
_ELSE = Leaf(TEXT, "{what} is a word, beside `not-with`", rule="R027")
_BUT = Leaf({"type": "number"}, "{what} is a number, beside `not-with`", rule="R027")
_OWN = Leaf({"type": "string", "pattern": r"^own\."}, "{what} names a field under `own`",
            rule="R027")  # fmt: skip
_BEGINS = "{what} lists how addresses begin"
_SMALL = "in small letters, as in `schemes: [https, http]`"
_SCHEME = Leaf({"type": "string", "pattern": "^[a-z][a-z0-9+.-]*$"}, _BEGINS, _SMALL, "R027")
_SCHEMES = Listed(_SCHEME, _BEGINS, _SMALL, "R027", least=1, whole=True)
_NO_TYPES = "{what} lists types of media"
_TYPED = "as in `types: [image/png, image/jpeg]`"
_MEDIUM = Leaf({"type": "string", "pattern": r"^[a-z]+/[a-z0-9.+-]+$"}, _NO_TYPES, _TYPED, "R027")
_TYPES = Listed(_MEDIUM, _NO_TYPES, _TYPED, "R027", least=1, whole=True)
# What bounds a field of a request of these types, and what is no number and no list.
_BOUNDS: dict[str, dict[str, Word]] = {
    "list": {"count": _COUNT},
    "media": {"count": _COUNT, "types": (_TYPES, "of which types this API reads such media")},
    "tools": {"count": _COUNT, "unique": (_UNIQUE, "of one name there is one")},
    "stop": {"count": _COUNT, "text": (_BLANK, "none is a text of nothing but spaces")},
    "integer": {"min": _WHOLE, "max": _WHOLE, "not-with": _UNLESS,
                "below": (_BELOW, "the number is less than that field")},
    "number": {"min": _NUMBER, "max": _NUMBER, "not-with": _UNLESS,
               "but": (_BUT, "this number may stand there, too")},
    "reasoning.mode": {"not-with": _UNLESS},
    "response_format": {"not-with": _UNLESS},
    "reasoning.effort": {"not-with": _UNLESS, "else": (_ELSE, "this word stands there then")},
    "cache": {"count": (_MANY, "of `0`, none"),
              "with": (_OWN, "a field of the request is such a mark, too")},
    "url": {"schemes": (_SCHEMES, "which addresses of media this API reads")},
}  # fmt: skip
BOUNDS = {
    name: Words("", words, f"Bound_{name.replace('.', '_')}", "bound", whole=True, least=1)
    for name, words in _BOUNDS.items()
}
OTHERS = ("stop", "tools", "reasoning.mode", "reasoning.effort", "response_format", "cache", "url")
