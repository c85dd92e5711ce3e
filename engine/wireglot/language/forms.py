"""The kinds of form that words of a rule file take, as plain data.

`words`, `valuewords` and `orderwords` have the words. `checks.form` walks a file by them,
`tests/ruleschema.py` makes the JSON Schema of editors, and loaders take a file for checked. In
messages `{what}` is the word or name in backquotes, `{name}` the same without, `{owner}` what it
stands in, `{value}` what it says. What has no `rule` is looked at elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

Schema = dict[str, Any]
TEXT: Schema = {"type": "string", "minLength": 1}
ANY_TEXT: Schema = {"type": "string"}


class Leaf(NamedTuple):
    """A value without words of its own: the JSON Schema of it, and what is said of another."""

    schema: Schema
    message: str = "{what} is a text"
    help: str = ""
    rule: str = "R022"
    test: str = ""  # by which the check goes instead, where it sees more than an editor
    lead: str = "there are"  # before the words that there are, where no help is given


class Picture(NamedTuple):
    """A picture of the `wire`, of the `ir`, of a `row` of the ladder or of a schema's `node`."""

    of: str
    message: str = "{what} of {owner} is an object"
    help: str = ""
    whole: bool = False  # it is an object
    spliced: bool = False  # or a hole of the parts of a message, each a message of its own


class Listed(NamedTuple):
    """A list, and what each element takes; `alone`: one of them may stand without the list."""

    of: Form
    message: str = "{what} is a list of names"
    help: str = "put it in [ ]"
    rule: str = "R022"
    least: int = 0
    whole: bool = False  # with an element that is wrong it is wrong as a whole
    alone: bool = False


class Map(NamedTuple):
    """A mapping of names that the file gives (each of the form `named`), or of `keys`."""

    of: Form
    message: str = "{what} is a mapping of names"
    help: str = ""
    each: str = "`{name}`"  # how one of them is called
    offered: Collection[str] = ()  # names that an editor completes
    keys: Collection[str] = ()  # the names that there are
    strange: str = "{what} names `{name}`, which is no kind of part"
    least: int = 0
    whole: bool = False
    listed: bool = False  # a list of words is short for it
    named: Leaf | None = None


class Words(NamedTuple):
    """A mapping of words of the language. `then` names what is looked at across them."""

    what: str
    words: Mapping[str, Word]
    name: str = ""  # by which the schema of editors defines it
    then: str = ""
    sets: tuple[tuple[str, ...], ...] = ()  # one of these stands, and what is in none beside it
    texts: bool = False  # all its values are texts, and it is wrong as a whole
    but: str = ""  # the word of them whose value is another one
    needed: tuple[str, ...] = ()
    missing: str = ""  # what is said of a needed word that does not stand there
    layered: bool = True  # `word!` and `$removed` may stand in a file that lies over another
    whole: bool = False
    least: int = 0
    message: str = "{what} is a mapping"
    help: str = ""
    rule: str = "R022"
    strange: str = "`{name}` is no word of {what}"
    lead: str = "its words are"


class Special(NamedTuple):
    """A form of its own: the `events` of a stream, or what may have `limits`."""

    of: str


Form = Any  # one of the above; they hold each other
Word = tuple[Form, str]  # what a word takes, and what it says, as docs/rule-language.md tells it


def one_of(*words: str, told: Collection[str] = (), message: str = "", **more: Any) -> Leaf:
    """Return the form of one of some words."""
    meaning = {"enumDescriptions": list(told)} if told else {}
    schema = {"type": "string", "enum": list(words), **meaning}
    return Leaf(schema, message or "`{name}: {value}` is not known", **more)


def like(*words: str) -> Leaf:
    """Return the form of a text of which some are offered, and others are as good."""
    return Leaf({**TEXT, "examples": sorted({*words})})


def names(schema: Schema = TEXT) -> Listed:
    """Return the form of a list of names."""
    return Listed(Leaf(schema, "{what} is a list of names", "each is a text"))


def texts(words: Mapping[str, Word], message: str, help: str = "", **more: Any) -> Words:
    """Return the form of a mapping of words to texts, that is wrong as a whole."""
    more = {"what": "", **more}
    return Words(words=words, message=message, help=help, texts=True, layered=False, **more)


def free(schema: Schema) -> Leaf:
    """Return the form of what is looked at elsewhere."""
    return Leaf(schema, rule="")


def crossings(units: Collection[str]) -> Map:
    """Return the form of what crosses: by units, by names."""
    asked = Leaf(TEXT, "{what} is the name of a model", rule="R025")
    source = Leaf(TEXT, "{what} is the name of a dialect", rule="R025")
    words: dict[str, Word] = {
        "from": (source, "the dialect of which the wire is read"),
        "ir": (free({}), "the value of the IR that is written"),
        "wires": (_WIRES, "the wire of each dialect"),
        "notes": (_CODES, "the codes of the notes of each dialect"),
        "model": (asked, "the model that is asked"),
    }
    sets = (("from", "wires"), ("ir", "wires"), ("wires",))
    help = "write `NAME: {from: DIALECT, wires: {...}}`"
    one = Words("an example", words, "Crossing", sets=sets, layered=False, whole=True, help=help,
                rule="R025")  # fmt: skip
    named = Map(one, "{what} is a mapping of names", "as `two calls: {from: ..., wires: {...}}`")
    return Map(named, "`crossings` is a mapping of units", keys=units, offered=units,
               strange="there is no unit `{value}`")  # fmt: skip


_WIRES = Map(free({}), "{what} is a mapping of dialects", "as `wires: {acme: ...}`")
_CODES = Map(names(), "{what} is a mapping of dialects", "as `notes: {acme: [filled-in]}`")


def _examples(name: str, *pairs: tuple[str, str], more: tuple[str, ...]) -> Word:
    shown = "- {" + ": ..., ".join(pairs[0]) + ": ...}"
    words = {word: (free({}), _EXAMPLE[word]) for word in (*sum(pairs, ()), *more)}
    one = Words("an example", words, name, sets=pairs, layered=False, whole=True,
                help=f"write `{shown}`", rule="R025")  # fmt: skip
    listed = Listed(one, "{what} is a list", f"write `{shown}` for each", "R025")
    return listed, "what it reads and writes: examples"


_EXAMPLE = {
    **dict.fromkeys(("wire", "ir"), "the wire reads as the IR, and the IR writes as the wire"),
    **dict.fromkeys(("reads", "as"), "this on the wire reads as that in the IR"),
    "writes": "this in the IR writes as that on the wire",
    "notes": "`notes` lists the codes that come of it",
    "crossing": "`crossing: {DIALECT: {CODE: 3}}` counts those of crossing",
    **dict.fromkeys(("from", "to", "beside"), "what a row of the ladder makes"),
}
# The examples of a shape, a table and the like, and those of a row of the ladder.
EXAMPLES = _examples(
    "Example", ("wire", "ir"), ("reads", "as"), ("writes", "as"), more=("notes", "crossing")
)
ROW_EXAMPLES = _examples("RowExample", ("from", "to"), more=("notes", "beside"))
