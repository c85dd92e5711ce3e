"""Generated functions of a dialect: their text, and when it becomes code.

Each picture becomes one function, made when it is first called: until then a stub stands under
its name. All functions of a dialect that go one way share one namespace, in which they call each
other by name. Functions that a wheel brings (`modules`) are not made: a stub stands for them until
what their constants stand for has been found in the model.

Names are the same in every process. A constant is called after what it stands for: after its place
in the model, or after what it holds.
"""

from __future__ import annotations

import functools
import keyword
from _thread import RLock
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import CodeType, FunctionType
from typing import Any, NamedTuple, Protocol

from ..language.lenses import is_guard
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole
from ..language.picture import Text as TextPicture
from ..language.shape import Case, Shape
from ..language.source import Pos
from ..patterns import later
from . import places

Key = tuple[Any, ...]  # a word, and what a function is of: names, shapes, groups, cases
# Names that functions which write have anyhow, and how those that they call begin.
LOCALS = frozenset(
    "x o w m n b g i k at mem view wire took miss held poor lost misfit "
    "id len list dict str int float bool set tuple".split()
)
PLAIN = (str, int)  # classes of what is the same in every process
NAME = "NAME"  # what the dialect is called: its functions may be just so in others
CLASSES = {"string": "str", "object": "dict", "list": "list", "bool": "bool"}  # of guards
CALLED = (
    "write_", "part_", "parts_", "one_", "any_", "choice_",
    "read_", "choose_", "each_", "inner_",
)  # fmt: skip


_APART = later(r"[^0-9A-Za-z]")  # what no name has


def spelled(word: str) -> str:
    """Return a word as a piece of a name."""
    return _APART.sub("_", word)


def begins(hole: Hole) -> Any:
    """Return the signs with which the JSON text of a hole begins, if it is an object or a list."""
    words = {word for lens in hole.lenses if is_guard(lens) for word in lens.split("+")}
    signs = {"object": "{", "list": "["}
    known = words and words <= signs.keys()
    return "".join(signs[word] for word in sorted(words)) if known else None


class Text:
    """The text of one function while it is written."""

    def __init__(self, code: Code, head: str, taken: frozenset[str] = LOCALS) -> None:
        """Begin with the `head`; `taken` are names that have another meaning in it."""
        self.code, self.lines, self.depth, self._taken = code, [head], 1, taken
        self._given: set[str] = set()

    def __call__(self, line: str, pos: Pos | None = None) -> None:
        """Add a line, with the line of the rule that it comes from."""
        where = "" if pos is None else f"  # {pos.file}:{pos.line}"
        self.lines.append("    " * self.depth + line + where)

    @contextmanager
    def trial(self, *failed: str) -> Iterator[None]:
        """Stand below what may raise a Misfit; some lines are for the case that it did."""
        with self.under("try:"):
            yield
        with self.under("except Misfit as misfit:"):
            for line in ("misfit.__traceback__ = None", *failed):
                self(line)

    @contextmanager
    def under(self, head: str) -> Iterator[None]:
        """Add a line, and stand below it."""
        self(head)
        self.depth += 1
        size = len(self.lines)
        yield
        self.depth -= 1
        if len(self.lines) > size:
            return
        if head == "else:":  # nothing is done then
            self.lines.pop()
        else:
            self.lines.append("    " * self.depth + "    pass")

    def where(self, test: str) -> AbstractContextManager[None]:
        """Stand below a test, if there is one."""
        return self.under(f"if {test}:") if test else nullcontext()

    def fresh(self, start: str = "v") -> str:
        """Return a name that no other value of this function has."""
        base = start.rstrip("_") or "v"
        if base in self._taken or base in self.code.names or base.startswith(CALLED):
            base += "_"
        if keyword.iskeyword(base) or not base[0].islower():
            base = f"v_{base}"
        found, more = base, 1
        while found in self._given:
            more += 1
            found = f"{base}{more}"
        self._given.add(found)
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"


class Brought(NamedTuple):
    """What a wheel brings of a dialect, one way.

    Attributes:
        functions: The functions by name, in a namespace of their own.
        keys: Their names, by keys in which addresses stand for what these are of.
        places: The addresses of constants, by name.
        data: The other constants.
    """

    functions: dict[str, FunctionType]
    keys: dict[Key, str]
    places: dict[str, places.Address]
    data: dict[str, Any]


class Code:
    """The functions of one dialect that go one way; `names` is their namespace."""

    def __init__(
        self,
        dialect: Dialect,
        title: str,
        runtime: Mapping[str, Any],
        made: Callable[[places.Address], Any],
        brought: Brought | None = None,
    ) -> None:
        """Hold no function yet but those that are `brought`.

        `title` tells where it is in tracebacks; `made` gives what stands at an address that is
        none of the model.
        """
        self.title, self.names = title, {**runtime, NAME: dialect.name}
        self.places, self._made, self._brought = places.of(dialect), made, brought
        self.texts: dict[str, str] = {}  # of each function that was made
        self._makes: dict[str, Callable[[], str]] = {}
        self._lock = RLock()  # names are given by one thread at a time
        self.stubs: dict[Key, str] = {}
        self._values: dict[int, tuple[Any, str]] = {}
        # The address or the text of each constant; None where it stands nowhere.
        self.meant: dict[str, places.Address | str | None] = {}
        if brought is not None:
            self.meant.update(brought.places)
            self.names.update(brought.data)
            for name in brought.functions:
                self._stand_in(name)

    def value(self, value: Any, start: str = "K", at: places.Address | None = None) -> str:
        """Return an expression for a value: itself, or a name under which it stands.

        `at` is an address of what does not stand in the model.
        """
        if value is ABSENT:
            return "ABSENT"
        if value is None or value.__class__ in (str, int, bool):
            return repr(value)
        if id(value) not in self._values:
            self._values[id(value)] = (value, self._named(value, start, at))
        return self._values[id(value)][1]

    def origin(self, dialect: str) -> str:
        """Return an expression for who reads a field: mostly the dialect itself."""
        return NAME if dialect == self.names[NAME] else repr(dialect)

    def _named(self, value: Any, start: str, at: places.Address | None) -> str:
        """Give a constant its name, after its place in the model or after what it holds."""
        text = literal(value) if at is None else None
        if at is None and text is None:
            at = self.places.address(value)
        if at is not None and at[0] in places.MODEL:
            word = self.places.name(at)
        elif at is None and text is None:
            word = str(len(self._values))  # it stands nowhere: no other process knows it
        else:
            from zlib import crc32  # what a wheel brings has its names

            words = value if isinstance(value, dict | frozenset | tuple) else ()
            said = min((word for word in words if isinstance(word, str)), default="")
            whole = text or repr(at)
            word = f"{said[:20]}_{crc32(whole.encode('utf-8', 'replace')) & 0xFFFF:04x}"
        name = spelled(f"{start}_{word}".rstrip("_").replace("__", "_"))
        while (name in self.names or name in self.meant) and self._meaning(name) != (at or text):
            name += "_"
        self.meant[name] = at or text
        self.names.setdefault(name, value)
        return name

    def _meaning(self, name: str) -> Any:
        return self.meant.get(name) or literal(self.names[name])

    def function(self, key: Key, words: tuple[str, ...], make: Callable[..., str], *of: Any) -> str:
        """Return the name of the function for a key: words, of which the last may be empty.

        Once it is called, `make` gives its text, for that name and what the function is `of`.
        """
        known = self.stubs.get(key)
        if known is not None:
            return known
        with self._lock:
            return self.stubs.get(key) or self._stub(key, words, make, of)

    def stable(self, key: Key) -> Key:
        """Return a key with addresses in the place of what stands in the model."""
        held = self.places.holder
        return tuple([one if one.__class__ in PLAIN else held(one) or one for one in key])

    def keys(self) -> dict[str, Key]:
        """Return the keys of all functions, by their names."""
        return {name: self.stable(key) for key, name in self.stubs.items()}

    def _stub(self, key: Key, words: tuple[str, ...], make: Callable[..., str], of: Key) -> str:
        if self._brought is not None and (known := self._brought.keys.get(self.stable(key))):
            self.stubs[key] = known
            return known
        name = spelled("_".join(words).rstrip("_"))
        while name in self.names:
            name += "_"
        self._makes[name] = functools.partial(make, name, *of)
        self._stand_in(name)
        self.stubs[key] = name
        return name

    def _stand_in(self, name: str) -> None:
        """Let a stub stand for a function, which makes way for it when it is called."""

        def stub(*given: Any) -> Any:
            self._ready(name)
            return self.names[name](*given)

        self.names[name] = stub

    def _ready(self, name: str) -> None:
        """Put a function where its stub stands."""
        with self._lock:
            if name in self.texts:
                return
            brought = self._brought
            if brought is not None and name in brought.functions:
                code = brought.functions[name].__code__
                for one in _known(code):
                    if one in brought.places and one not in self.names:
                        address = brought.places[one]
                        find = self.places.at if address[0] in places.MODEL else self._made
                        self.names[one] = find(address)
                self.names[name] = FunctionType(code, self.names, name)
                self.texts[name] = ""
            else:
                self._compile(name, self._makes[name]())

    def text(self, name: str) -> str:
        """Return the text of a function, which is made now if it was not called yet."""
        if name not in self.texts:
            self._ready(name)
        if not self.texts[name]:
            import inspect

            self.texts[name] = inspect.getsource(self.names[name])
        return self.texts[name]

    def all(self) -> list[str]:
        """Return the names of all functions that were asked for, after those that they call."""
        while waiting := [name for name in self._makes if name not in self.texts]:
            for name in waiting:
                self.text(name)
        return list(self.texts)

    def known(self, name: str) -> list[str]:
        """Return the names that a function knows, as they come in it."""
        self.text(name)
        return [one for one in _known(self.names[name].__code__) if one in self.names]

    def _compile(self, name: str, text: str) -> None:
        import linecache  # for tracebacks

        place = f"<{self.title}: {name}>"
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        made: dict[str, Any] = {}
        exec(_called(_compiled(text), place), self.names, made)
        self.names[name] = made[name]
        self.texts[name] = text


class Unwritten(Exception):
    """Raised where a case has a word that is not generated: the interpreter reads it all."""


class Functions(Protocol):
    """The functions of a dialect that read in one mode; `readers.Reads` is it."""

    dialect: Dialect
    mode: str  # `home`, `away` or `probe`
    code: Code

    def case(self, shape: Shape, case: Case) -> str: ...
    def inners(self, name: str) -> str: ...
    def choice(self, name: str) -> str: ...
    def each(self, name: str) -> str: ...


@functools.lru_cache(4096)
def _compiled(text: str) -> CodeType:
    """Compile a function; a dialect has many that are just so in its parent and its variants."""
    return compile(text, "", "exec")


def _called(code: CodeType, place: str) -> CodeType:
    """Return code, and what stands within it, as of this place in tracebacks."""
    inner = [_called(one, place) if isinstance(one, CodeType) else one for one in code.co_consts]
    return code.replace(co_filename=place, co_consts=tuple(inner))


def _known(code: CodeType) -> list[str]:
    """Return the names that a function knows, and those that stand within it."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return [*code.co_names, *(name for one in inner for name in _known(one))]


def literal(value: Any) -> str | None:
    """Return data as Python writes it, the same for the same data; None for what is none."""
    try:
        return _literal(value)
    except TypeError:
        return None


def _literal(value: Any) -> str:
    if value.__class__ is TextPicture:
        return f"Text({value.fixed!r}, {value.names!r}, Pos{tuple(value.pos)!r})"
    found = plainly(value, _literal)
    if found is None:
        raise TypeError
    return found


def plainly(value: Any, of: Callable[[Any], str]) -> str | None:
    """Return plain data as Python writes it, `of` what stands in it; None for what is none."""
    kind = value.__class__
    if value is ABSENT:
        return "ABSENT"
    if value is None or kind in (str, int, bool, float):
        return repr(value)
    if kind is dict:
        return f"{{{', '.join(f'{of(k)}: {of(v)}' for k, v in value.items())}}}"
    if kind is list:
        return f"[{', '.join(map(of, value))}]"
    if kind is tuple:
        return f"({''.join(f'{of(one)}, ' for one in value)})"
    if kind in (set, frozenset):
        return f"{kind.__name__}(({''.join(f'{one}, ' for one in sorted(map(of, value)))}))"
    return None
