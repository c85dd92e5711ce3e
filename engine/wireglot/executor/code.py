"""Generated functions of a dialect: their text, and when it becomes code.

Each picture becomes one function, made when it is first called: until then a stub stands under
its name. All functions of a dialect that go one way share one namespace, in which they call each
other by name.
"""

from __future__ import annotations

import keyword
import linecache
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..language.picture import ABSENT

Key = tuple[Any, ...]
# Names that functions which write have anyhow, and how those that they call begin.
LOCALS = frozenset(
    "x o w m n b g i k at mem view wire took miss held poor lost misfit "
    "id len list dict str int float bool set tuple".split()
)
CALLED = ("write_", "inside_", "part_", "parts_", "one_", "any_", "choice_")


def spelled(word: str) -> str:
    """Return a word as a piece of a name."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in word)


class Text:
    """The text of one function while it is written."""

    def __init__(self, code: Code, head: str) -> None:
        self.code, self.lines, self.depth = code, [head], 1
        self._given: set[str] = set()

    def __call__(self, line: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.depth + line)

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

    def fresh(self, start: str = "v") -> str:
        """Return a name that no other value of this function has."""
        base = start.rstrip("_") or "v"
        if base in LOCALS or base in self.code.names or base.startswith(CALLED):
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


class Code:
    """The functions of one dialect that go one way; `names` is their namespace."""

    def __init__(self, title: str, runtime: Mapping[str, Any]) -> None:
        """Hold no function yet. `title` tells where it is in tracebacks."""
        self.title, self.names = title, dict(runtime)
        self.texts: dict[str, str] = {}  # of each function that was made
        self._makes: dict[str, Callable[[str], str]] = {}
        self._lock = threading.RLock()  # names are given by one thread at a time
        self._stubs: dict[Key, str] = {}
        self._values: dict[Any, tuple[Any, str]] = {}

    def value(self, value: Any, start: str = "K") -> str:
        """Return an expression for a value: itself, or a name under which it stands."""
        if value is ABSENT:
            return "ABSENT"
        if value is None or value.__class__ in (str, int, bool):
            return repr(value)
        if id(value) not in self._values:
            word = getattr(value, "path", None) or getattr(value, "name", None)
            told = isinstance(word, str) and word != "."
            name = f"{start}_{spelled(str(word))}" if word and told else start
            if name == start or name in self.names:
                name += str(len(self._values))
            self._values[id(value)] = (value, name)
            self.names[name] = value
        return self._values[id(value)][1]

    def function(self, key: Key, name: str, make: Callable[[str], str]) -> str:
        """Return the name of the function for a key; `make` writes its text once it is called."""
        known = self._stubs.get(key)
        if known is not None:
            return known
        with self._lock:
            return self._stubs.get(key) or self._stub(key, name, make)

    def _stub(self, key: Key, name: str, make: Callable[[str], str]) -> str:
        name = spelled(name)
        while name in self.names:
            name += "_"

        def stub(*given: Any) -> Any:
            self.text(name)
            return self.names[name](*given)

        self.names[name] = stub
        self._makes[name] = make
        self._stubs[key] = name
        return name

    def text(self, name: str) -> str:
        """Return the text of a function, which is made now if it was not called yet."""
        if name not in self.texts:
            with self._lock:
                if name not in self.texts:
                    self._compile(name, self._makes[name](name))
        return self.texts[name]

    def known(self, name: str) -> list[str]:
        """Return the names that a function knows, as they come in it."""
        self.text(name)
        return [one for one in self.names[name].__code__.co_names if one in self.names]

    def _compile(self, name: str, text: str) -> None:
        place = f"<{self.title}: {name}>"
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        made: dict[str, Any] = {}
        exec(compile(text, place, "exec"), self.names, made)
        self.names[name] = made[name]
        self.texts[name] = text
