"""The words of a rule file and of the ladder's: what each takes, and what it says."""

from __future__ import annotations

from ..hooks import HOOKS
from ..ir import FUNCTION, PARTS, ROLES, TOOLS, WHOLES
from ..ir import UNITS as PAYLOADS
from ..notes import CODES, EFFECTS
from ..payload import OPTIONS
from .events import ACTS
from .forms import (
    ANY_TEXT,
    EXAMPLES,
    ROW_EXAMPLES,
    TEXT,
    Leaf,
    Listed,
    Map,
    Picture,
    Special,
    Word,
    Words,
    crossings,
    free,
    like,
    names,
    one_of,
    texts,
)
from .intext import ELEMENT, INNER
from .orderwords import ENFORCE, SPEAKERS
from .valuewords import LIKE, SCHEMA, TABLE, WORD_MAP
from .variants import NEVER
from .version import VERSION

KINDS = (*PARTS, *TOOLS, FUNCTION)
_TEXT = Leaf(TEXT)
REASONS = Map(
    Leaf(TEXT, "{owner} gives no reason for {what}", "say it in a sentence"),
    "{what} is a mapping of what is given up and why",
)

# -- shapes, whole payloads, the conversation -----------------------------------------------------

UNITS = ("request", "response", "error", "envelope", "session")
_LAID = "the picture. A case's own `wire` is laid over it: objects merge key by key"
_MORE = "a picture of the IR side, where it is more than the holes of `wire`"
_NOTED = ("noted abroad with this code: that this case was written, "
          "or that it was read where writing takes another")  # fmt: skip
_READ = Leaf(
    {"enum": [True, "refused"]},
    "{what} is `true` or `refused`, or is not said",
    "write `read-only: true`",
)
_OBJECT = Picture("wire", whole=True)
CASE = Words(
    "a case",
    {
        "wire": (Picture("wire"), _LAID),
        "ir": (Picture("ir"), _MORE),
        "note": (like(*CODES), _NOTED),
        "read-only": (_READ, "the case is read, and written only where it was read"),
        "drop": (REASONS, "`drop` in a unit gives up paths of the wire, with reasons"),
        "examples": EXAMPLES,
    },
    "Case",
)  # fmt: skip


def _cases(case: Words, offered: tuple[str, ...] = ()) -> Word:
    told = "several pictures of one thing, each with `wire`, `ir`, `drop`, `note`, `examples`"
    return Map(case, each="the case `{name}`", offered=offered), told


SHAPE = Words(
    "a shape",
    {
        **CASE.words,
        "cases": _cases(CASE),
        "like": LIKE,
        "by": (like("kind", "name"), "short for `ir: {kind: <name of the case>}`"),
        "also": (_TEXT, "the keys of that shape's picture are read and written here too"),
        "groups": (like(*KINDS),
                   "neighbours of these kinds stand together in one element of the wire"),
        "marks": (like("cache"), "an element of this shape is no element of its own, "
                                 "it is that field of the element before"),
    },
    "Shape", "shape",
)  # fmt: skip
_UNIT: dict[str, Word] = {"wire": (_OBJECT, _LAID), "ir": (Picture("ir", whole=True), _MORE)}
UNIT_CASE = Words("a case", {**CASE.words, **_UNIT}, "UnitCase")
_OF_UNIT = {**SHAPE.words, **_UNIT, "cases": _cases(UNIT_CASE)}
del _OF_UNIT["like"]  # units have no names
UNIT = SHAPE._replace(words=_OF_UNIT, name="Unit")
_STEPS = Map(
    Map(Leaf({**TEXT, "pattern": r"^[^$]"}, "{what} is a word that stands there as it is"),
        "{what} is an object of words", "as `{type: step-start}`", least=1, whole=True),
    "{what} maps roles to elements", "write `steps: {assistant: {type: step-start}}`",
    keys=SPEAKERS, strange="{what} names `{name}`, which is no role that speaks", whole=True,
)  # fmt: skip
_PARTS = "or a hole such as `$parts each tool_result`, for messages of one part"
_TALK: dict[str, Word] = {
    "wire": (Picture("wire", help=_PARTS, whole=True, spliced=True), ""),
    "ir": (Picture("ir.message", whole=True), _MORE),
}
TALK = Words("a case", {**CASE.words, **_TALK}, "Talk")
CONVERSATION = Words(
    "a conversation",
    {
        "per": (one_of("message", "run", "turn", lead="say"),
                "`per: message` writes one wire message for each message"),
        "steps": (_STEPS, "neighbours of the role are one wire message, this element before each"),
        "wire": (_OBJECT._replace(message="`wire` of a conversation is an object"), _LAID),
        "cases": _cases(TALK, ROLES),
        "enforce": (ENFORCE, ""),
        "examples": EXAMPLES,
    },
    "Conversation", "talk",
)  # fmt: skip

# -- streams, and documents of sessions -----------------------------------------------------------

_ASKED = "{what} names events and how a request asks for them"
_HOW = "write `asks: {usage: {KEY: VALUE}}`, what a request holds that asks for it"
_ASKS = Map(
    Leaf({"type": "object", "minProperties": 1}, _ASKED.replace("what", "owner"), _HOW),
    _ASKED, _HOW, keys=ACTS,
    strange="{what} names `{name}`, which is nothing that an event does", whole=True,
)  # fmt: skip
_FRAME = Picture("wire", message="{what} is an object", whole=True)
STREAM = Words(
    "a stream",
    {
        "framing": (one_of("sse", "lines", lead="say"), "how frames follow each other in bytes"),
        "named": (_TEXT, "the key of a frame whose word is the name of its event"),
        "frame": (_FRAME, "what every frame holds"),
        "events": (Special("events"), "a picture of its frame for each thing that a stream tells"),
        "read-also": (Special("events"),
                      "further pictures of events, which are read and never written"),
        "asks": (_ASKS, "events that come only where a request asks for them, and how it asks"),
        "drop": (REASONS, "`drop` in a stream gives up paths of frames, with reasons"),
        "examples": EXAMPLES,
    },
    "Stream", "stream",
)  # fmt: skip


_KEYS = Leaf({"type": "object"}, "{what} is a mapping of keys and their values")


def _keys(name: str, may: tuple[str, ...] = (), **told: str) -> Words:
    words: dict[str, Word] = {w.replace("_", "-"): (_TEXT, text) for w, text in told.items()}
    but = "says" if "says" in words else ""
    words.update({but: (_KEYS, told[but])} if but else {})
    must = tuple(word for word in words if word not in may)
    said = f"here stand {', '.join(must)}, and each names a key"
    return texts(words, said, what=f"`{name.lower()}`", name=name, needed=must, but=but)


LOG = _keys(
    "Log", replace_by="a line with a value of this key that was there replaces that line",
    set="a line with this key sets fields of the head, or all messages",
    rewind="a line with this key takes back that message, and all behind it",
)  # fmt: skip
TREE = _keys(
    "Tree", ("leaf", "says", "firm", "turn", "beside", "aside", "keeps", "after"),
    id="the key of a line's id", parent="the key of the id of the line before",
    leaf="a line that has this key names the end of the path",
    says="what else stands in such a line",
    firm="what is true of it where it holds although others go on from that end",
    turn="lines with the same value of this key",
    beside="a line with this key is on the path if the line before it is",
    aside="a line that says something under this key is not the end of the path",
    keeps="a line with this key sums up the lines before it, and says which of them stay",
    after="it names the line behind which these stand",
)  # fmt: skip
SUMMARY = _keys(
    "Summary", ("whole", "keeps"),
    said="what is true of a message that sums up others", whole="what is true once it is whole",
    id="where messages have their ids", of="where it names the message that asked for it",
    keeps="where one of the two names the first message before them that stays",
)  # fmt: skip
UNDONE = _keys(
    "Undone", ("turns", "of", "but", "says", "first"), of="where the texts of a message stand",
    turns="a line with a number takes back so many turns", but="texts with which no turn begins",
    says="what is true of a line that sums up all but the messages with which turns begin",
    first="where the head names the first message that is taken back",
)  # fmt: skip
KEPT = ("lines", "json", "list")  # the texts of a document
_KEPT = one_of(*KEPT, "lines (or json)", "json (or lines)",
               message="{what} is `lines`, `json` or `list`",
               help="or both, as in `lines (or json)`")  # fmt: skip
_LINE = Picture("line", "a line is an object, with `$message` in one place",
                "write `$message` where the message stands", whole=True)  # fmt: skip
_AGAIN = Map(
    Picture("wire", "{what} is an object", whole=True), "{what} maps roles to lines",
    keys=("user", "assistant"), strange="{what} names `{name}`, which is no role that speaks",
)  # fmt: skip
_PLACE = Leaf({**TEXT, "pattern": r"^[^.\s]+(\.[^.\s]+)*$"},
              "{what} is a path of keys", "as `parts[].id`")  # fmt: skip
_FIRST = Leaf({"anyOf": [TEXT, {"type": "integer"}]}, "{what} is a text, or the first number")
_IDS = Map(
    Words(
        "an id",
        {
            "at": (_PLACE, "where it stands: that of the session in the head, others in a message"),
            "made": (_FIRST, "what an id begins with that is made"),
            "again": (Listed(_PLACE, "{what} is a list of paths"), "where it stands once more"),
        },
        "Ids",
    ),
    "{what} maps what has an id to words",
)  # fmt: skip
DOCUMENT = Words(
    "`document`",
    {
        "text": (_KEPT, "the first is written, all are read"),
        "log": (LOG, "a file of events, replayed"),
        "tree": (TREE, "lines that name the line before them"),
        "message": (_LINE, "what stands around each message"),
        "again": (_AGAIN, "the picture of a line that says `$text` of a message once more"),
        "head": (one_of("in-each"), "the keys of the head stand in each message"),
        "ids": (_IDS, "where ids stand, how they are made, and where they stand once more"),
        "instead": (_PLACE, "a line with this list of messages says them instead of all before it"),
        "summary": (SUMMARY, "a message that sums up all before the one that asked for it"),
        "undone": (UNDONE, "what a person took back, and what a line sums up"),
    },
    "Document", "document", whole=True,
)  # fmt: skip

# -- the whole file -------------------------------------------------------------------------------

_DIALECT = Leaf(TEXT, "{what} names a dialect")
SIGNATURES = Words(
    "`signatures`",
    {
        "models": (Map(names()), "the models of a row read each other's signatures"),
        "of": (_DIALECT, "the dialect whose signatures these are, too"),
        "placeholder": (_TEXT, "a text that this API takes for a signature where there is none"),
    },
    "Signed",
)  # fmt: skip
_STORED = Words(
    "`stored`",
    {
        "in": (_TEXT, "an element of this list of a request"),
        "of": (_TEXT, "stands for one of this list of an answer"),
        "by": (_TEXT, "the key of the id of both"),
        "as": (_KEYS, "what else the element holds"),
        "unless": (_KEYS, "keys of a request that wants nothing kept"),
        "after": (_TEXT, "the key under which a request names the answer that it goes on from"),
    },
    "Stored", needed=("in", "of", "by"), missing="{what} names no `{value}`", whole=True,
)  # fmt: skip
_WITHIN = Words(
    "`within-text`",
    {
        "reasoning": (
            Leaf({**TEXT, "pattern": r"^[^$]*\S[^$]*\$\{text\}[^$]*\S[^$]*$"},
                 "{what} is a text with `${text}` between two marks",
                 'write `reasoning: "<think>${text}</think>"`'),
            "it stands at the head of what the model says, between two marks",
        ),
        "tool_call": (
            Leaf({**TEXT, "pattern": rf"^[^$]*\S[^$]*{INNER}[^$]*$"},
                 "{what} is a text with a part by a shape behind a mark",
                 'write `tool_call: "<tool_call>${. as call | json}</tool_call>"`'),
            "calls stand in what the model says, each between two marks, or to the end",
        ),
    },
    "Within", strange="{what} names `{name}`, which stands within no text", lead="there are",
)  # fmt: skip
_LISTS = Map(
    Leaf({**TEXT, "pattern": rf"^[^$]*{ELEMENT}[^$]+{ELEMENT}[^$]*$"},
         "{what} is a text that shows a list by two elements, each `${.}`",
         'write `NAME: "${.}, ${.}"`'),
    "{what} maps names to texts",
)  # fmt: skip
_SNAKE = Leaf({"const": ["camelCase", "snake_case"]}, "{what} is [camelCase, snake_case]")
_CARRY = Map(
    Leaf(TEXT, "`{value}` is no word"), "{what} maps words to words", keys=(*PARTS, "message"),
    strange="{what} names `{name}`, which is no kind of part and no `message`",
)  # fmt: skip
_PAYLOAD: Word = UNIT, "`request`, `response`, `error` and `session` are shapes of whole payloads"
_BODY: dict[str, Word] = {
    "family": (_DIALECT, "`family: NAME` says so by hand, or gives a child one of its own"),
    "files": (_DIALECT, "the dialect whose files these are, too"),
    "see": (free(TEXT), "where the provider describes it"),
    "verified": (free({"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"}),
                 "when somebody last compared the two"),
    "within-text": (_WITHIN, "parts that stand within what the model says, between two marks"),
    "carry": (_CARRY, "kinds of part, or `message`, and a key of each"),
    "signatures": (SIGNATURES, "Who reads a `$signature`"),
    "stored": (_STORED, "what the API keeps of its answers"),
    "limits": (Special("limits"), "A name or id that does not fit"),
    "tables": (Map(TABLE), "words that stand for themselves"),
    "schemas": (Map(SCHEMA), "A dialect of JSON Schema"),
    "lists": (_LISTS, "how a list stands in one text, shown with two elements"),
    "shapes": (Map(SHAPE), "A shape is a picture with a name"),
    "unions": (Map(names()), "names for alternatives"),
    "conversation": (CONVERSATION, "`$messages as conversation`: the list of messages"),
    "envelope": (UNIT, "`envelope` pictures what stands outside a request's body"),
    **dict.fromkeys(WHOLES, _PAYLOAD),
    "document": (DOCUMENT, "how a session is kept in a file"),
    "stream": (STREAM, "how the frames of a stream make a response"),
    "hooks": (Listed(one_of(*HOOKS, message="no hook `{value}` is registered", rule="R012")),
              "names registered Python, which runs after reading"),
    "spelling": (_SNAKE, "every key of the file is read in snake_case too"),
    "media-types": (WORD_MAP,
                    "other spellings of media types in text pictures, and the usual ones"),
    "unsupported": (REASONS, "Kinds of part and tool, and fields of a request, "
                             "that this API has no place for"),
    "repeated": (names(), "fields of `$own` in a response that say again what the request said"),
    "slight": (REASONS, "fields of `$own` that say nothing to a model or an application, and why"),
    "usual": (_KEYS, "values of fields of `$own` that say what is so anyway"),
    "examples": (Map(EXAMPLES[0]), "Examples stand beneath what they show"),
}  # fmt: skip
_OPTIONS = {name: said for name, said in OPTIONS.items() if said}
_NO_OPTION = "`{name}` is no such option"
_THERE = f"there are: {', '.join(_OPTIONS)}; docs/rule-language.md says what each takes"
_OPTION = Words(
    "`option`",
    {name: (Leaf({"enum": [*said]}, _NO_OPTION, _THERE, "R033"), "")
     for name, said in _OPTIONS.items()},
    "Options", layered=False, whole=True, least=1, message="{what} is a mapping of options",
    rule="R033", strange=_NO_OPTION, lead="there are",
)  # fmt: skip
_MODEL = Leaf(ANY_TEXT, "{what} is the name of a model, or a list", rule="R033")
WHEN = Words(
    "`for`",
    {
        "model": (Listed(_MODEL, _MODEL.message, "", "R033", least=1, whole=True, alone=True),
                  "the argument `model=`, else the `$model` of the body, is of such a name"),
        "version": (_MODEL._replace(message="{what} is a text"),
                    "the option `version` is that text"),
        "option": (_OPTION, "the option is given so"),
    },
    "When", layered=False, whole=True, message="a variant has a `for`",
    help="say for which `model`, `version` or `option`",
    rule="R033", strange="`{name}` selects no variant", lead="there are",
)  # fmt: skip
_VARIED = {word: said for word, said in _BODY.items() if word not in NEVER}
_FOR = {"for": (WHEN, "all that is said must hold")}
VARIANT = Words("a variant", _FOR | _VARIED, "Variant", needed=("for",))
_VERSION: Word = free({"const": VERSION}), "the version of this language"
# Words of a file that its layers take off; rows of variants are looked at when they are laid.
LAYERS: dict[str, Word] = {
    "extends": (free(TEXT), "`extends: PARENT` lays the file over the parent's"),
    "overlay": (free(TEXT), "changes that dialect in place"),
    "examples-of": (free(TEXT), "a file of nothing but `examples`, of that dialect"),
    "crossings": (crossings(PAYLOADS), "the wires of several dialects beside each other"),
    "variants": (Listed(VARIANT, rule=""), "rows of a dialect that apply to some calls only"),
}
_NAME = free({"type": "string", "pattern": r"^[\w.-]+$"})
_HEAD: dict[str, Word] = {
    "wireglot": _VERSION,
    "dialect": (_NAME, "the name by which it is called; or `overlay`, see Layers"),
}
FILE = Words("a rule file", {**_HEAD, **_BODY, **LAYERS}, needed=("wireglot",))

# -- the ladder -----------------------------------------------------------------------------------

# What else has rows, beside kinds of part and tool, and shapes.
OTHERS = ("tool_choice", "message", "request", "response", "usage")
_NOTE = "its message, and its effect if it is not `changed`"
_ROW = Picture("row", "{owner} has `from` and `to`, both objects", whole=True)
_LEAVES = Picture("hole", "{what} is a hole of the parts that leave", "write `beside: $media`")
_WHOSE = Leaf({**TEXT, "pattern": r"^[^$]*(\$\{(name|tool_call_id)\}[^$]*)+$"},
              "{what} is a text that names the call",
              'write `whose: "Returned by ${tool_call_id}:"`')  # fmt: skip
ROW = Words(
    "a row",
    {
        "note": (free(TEXT), _NOTE),
        "effect": (one_of(*EFFECTS, message="`{value}` is no effect"), _NOTE),
        "from": (_ROW, "a picture of the IR that must fit"),
        "to": (_ROW, "the fields that change; `$absent` takes one away"),
        "beside": (_LEAVES, "parts that leave for a user message right after"),
        "whose": (_WHOSE, "a text before these parts, with fields of the part that held them"),
        "examples": ROW_EXAMPLES,
    },
    "Row", needed=("note", "from", "to"), layered=False, whole=True,
    message="{owner} is a mapping", help="note, from, to", lead="there are",
)  # fmt: skip
_TO_NUMBERS = "is a mapping of words to numbers"
_SCALE = Map(Leaf({"type": "number"}, f"{{owner}} {_TO_NUMBERS}", "as `high: 8192`"),
             f"{{what}} {_TO_NUMBERS}", whole=True, least=1)  # fmt: skip
_SCALES = Map(_SCALE, "{what} is a mapping of scales", each="the scale `{name}`")
_ROWS = Map(ROW, "the rows of {what} are a mapping", each="the row `{name}`")
_HOLDS = "the ladder's file holds `ladder:`, a mapping of kinds"
LADDER = Words(
    "the ladder's file",
    {
        "wireglot": _VERSION,
        "scales": (_SCALES, "words that stand for numbers"),
        "ladder": (Map(_ROWS, _HOLDS, offered=(*KINDS, *OTHERS)),
                   "It says what a value becomes where a dialect has no picture for it"),
    },
    needed=("wireglot", "ladder"), layered=False, lead="there are",
)  # fmt: skip
