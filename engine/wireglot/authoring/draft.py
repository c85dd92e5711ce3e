"""A first rule file for an API that samples show; what they do not tell is marked `# ?`."""

from __future__ import annotations

import re
from typing import Any

from ..checks.fields import KEPT, OBJECTS
from ..ir import FUNCTION, MEDIA, PARTS, field_type
from .samples import Group, Path, Samples, is_arguments, is_content, is_schema, objects_at, sole_key
from .sketch import Say, Tree, scalar
from .vocabulary import tokens

Example = tuple[str, Any, Any]  # an owner of examples, and a value of the wire or else of the IR
FIELDS = [name for name, held in OBJECTS["request"].items() if not held and name not in KEPT]
ELSEWHERE = (
    "if a dialect has such messages elsewhere, `--extends` it and say the wire of `request!` anew"
)
# What media are held by, by how it looks.
HELD = {"media_type": r"[a-z]+/[\w.+-]+$", "url": r"https?:", "data": ""}
COUNTS = "input output cache_read cache_write reasoning".split()


class Draft:
    """Builds the pictures of a dialect from what samples have in common."""

    def __init__(self, seen: Samples) -> None:
        self.seen, self.words = seen, seen.words
        self.used_fields: set[tuple[str, str]] = set()
        self.own_names: set[tuple[str, str]] = set()  # names under `own`, by shape
        self.field_of_key: dict[str, str] = {}  # which field a key was taken for
        self.questions: list[str] = []  # what no word of the draft could be found for
        self.shapes: Tree = {}
        self.other_samples: dict[str, list[Any]] = {}  # samples of shapes that are no parts
        self.tables: Tree = {}

    def tree(self) -> Tree:
        """Return the words of the rule file below its head."""
        order = [unit for unit in ("request", "response", "error") if unit in self.seen.bodies]
        units = {unit: self._unit(unit) for unit in order}
        if self.seen.tools is not None:
            self.shapes[FUNCTION] = {"wire": self._fields(FUNCTION, self.seen.tools[1])}
        for group in self.seen.groups:
            self._part(group)
        found: Tree = {}
        if self.seen.tools is not None:
            found["schemas"] = {"object_schema": {"root": Say("object")}}
        found |= {"tables": self.tables} if self.tables else {}
        talk = {} if self.seen.talk is None else {"conversation": self._conversation()}
        found |= {"shapes": self.shapes} if self.shapes else {}
        kinds = [group.kind for group in self.seen.groups if group.kind]
        said = [kind for kind in kinds if kind in ("text", "tool_call", "reasoning", "refusal")]
        if self.seen.talk is not None and self.seen.talk.bare and "text" not in kinds:
            kinds, said = [*kinds, "text"] if kinds else [], [*said, "text"]
        unions = {"item": kinds, "said": said if self.seen.parts_at else []}
        if any(unions.values()):
            found["unions"] = {name: members for name, members in unions.items() if members}
        return {**found, **talk, **{unit: {"wire": wire} for unit, wire in units.items()}}

    def shown(self) -> list[Example]:
        """Return what is to be an example of each shape: from the samples, or made of the IR."""
        wires: dict[str, list[Any]] = {group.kind: group.elements for group in self.seen.groups
                                       if group.kind}  # fmt: skip
        if self.seen.tools is not None:
            wires[FUNCTION] = self.seen.tools[1]
        wires |= self.other_samples
        found: list[Example] = []
        for name, some in wires.items():
            different = {repr(sorted(one)): one for one in some}
            found += [(f"shapes/{name}", one, None) for one in [*different.values()][:2]]
        call = next(iter(sorted(self.seen.ids)), "c1")
        if "cases" in self.shapes.get("tool_call", {}):
            ir = {"type": "tool_call", "id": call, "name": next(iter(self.seen.names), "f")}
            found.append(("shapes/tool_call", None, {**ir, "arguments_text": '{"x":'}))
        cases = self.shapes.get("tool_result", {}).get("cases", {})
        values = {"text": "Done.", "data": {"ok": 1}, "error": "It failed."}
        for kind in cases:
            ir = {"type": "tool_result", "tool_call_id": call, "kind": kind}
            found.append(("shapes/tool_result", None, {**ir, "value": values[kind]}))
        return found

    # -- fields -------------------------------------------------------------------------------

    def _fields(self, shape: str, some: list[dict[str, Any]], path: Path = ()) -> Tree:
        """Picture the keys of some objects."""
        found: Tree = {}
        for key in dict.fromkeys(key for one in some for key in one):
            values = [one[key] for one in some if one.get(key) is not None]
            said = self._whole_place(shape, (*path, key), values)
            held = values and all(isinstance(value, dict) and value for value in values)
            if said is None and held and shape != "tool_result":
                said = self._fields(shape, values, (*path, key))
            elif said is None:
                said = self._value_hole(shape, (*path, key), values)
            if said != {}:
                found[key] = said
        return found

    def _whole_place(self, shape: str, path: Path, values: list[Any]) -> Say | Tree | None:
        """Picture what the samples as a whole tell of a place, or return None."""
        seen = self.seen
        if shape == "request" and seen.talk is not None and path == seen.talk.path:
            return Say("$messages as conversation")
        if shape == "request" and seen.tools is not None and path == seen.tools[0]:
            return Say("$tools each function (optional)")
        if shape == "request" and _asks_for_form(path[-1], values):
            self.questions.append(f"request: `{path[-1]}` is thought to say the form of an answer")
            why = "a shape of `$response_format` may picture it"
            return Say(f"$own.{self._own(shape, path)} (optional)", why)
        if shape == "candidate" and seen.parts_at is not None:
            if path == ((seen.parts_at[1],) if seen.parts_at[1] else seen.parts_at[0]):
                return Say("$parts each said")
        if shape == "response" and self._is_usage(path[-1], values):
            self.other_samples["usage"] = values
            self.shapes["usage"] = {"wire": self._fields("usage", values)}
            return Say("$usage as usage (optional)")
        if (shape in PARTS or shape == FUNCTION) and values:
            return self._by_value(shape, path[-1], values)
        return None

    def _is_usage(self, key: str, values: list[Any]) -> bool:
        """Tell whether values count tokens: by their key, or they are objects of whole numbers."""
        if not values or not all(isinstance(one, dict) and len(one) > 1 for one in values):
            return False
        named = self.words.field("response", key, values[0])
        whole = all(type(number) is int for one in values for number in one.values())
        return whole or (named is not None and named[0] == "usage")

    def _value_hole(self, shape: str, path: Path, values: list[Any]) -> Say:
        """Picture one value: by its name, else by what it looks like, else as the dialect's own."""
        key, value = path[-1], values[0] if values else None
        known = self.words.field(shape, key, value)
        if known is not None and (shape, known[0]) not in self.used_fields:
            self.field_of_key[key] = known[0]
            return self._hole(shape, *known, value)
        guess = self._guess(shape, value)
        if shape == "response" and self.field_of_key.get(key) == "model":
            guess = "model"
        if guess is not None and (shape, guess) not in self.used_fields:
            self.field_of_key[key] = guess
            return self._hole(shape, guess, False, value)
        self.questions.append(f"{shape}: `{key}`")
        free = [f for f in self._candidates(shape, value) if (shape, f) not in self.used_fields]
        perhaps = f"; perhaps ${', $'.join(free[:4])}" if free else ""
        return Say(f"$own.{self._own(shape, path)} (optional)", f"what is it in the IR{perhaps}")

    def _own(self, shape: str, path: Path) -> str:
        """Return a name under `own` that nothing else of a shape has: of a key, or of its path."""
        names = [_name("_".join(path[-n:])) for n in range(1, len(path) + 1)]
        names += [f"{names[-1]}_{n}" for n in range(2, len(self.own_names) + 3)]
        name = next(name for name in names if (shape, name) not in self.own_names)
        self.own_names.add((shape, name))
        return name

    def _hole(self, shape: str, field: str, certain: bool, value: Any) -> Say:
        self.used_fields.add((shape, field))
        why = "" if certain else "a guess"
        if not certain:
            self.questions.append(f"{shape}: ${field} is a guess")
        if field == "system":
            lens = " | text" if isinstance(value, str) else ""
            return Say(f"$system each text{lens} (optional)", why)
        required = field in ("model", "message") and shape in ("request", "error")
        return Say(f"${field}" if required else f"${field} (optional)", why)

    def _guess(self, shape: str, value: Any) -> str | None:
        if shape == "request" and isinstance(value, list) and value:
            return "stop" if all(isinstance(word, str) for word in value) else None
        if not isinstance(value, str):
            return None
        if shape == "error" and " " in value:
            return "message"
        if shape == "request":
            if re.fullmatch(r"[\w.:/-]*\d[\w.:/-]*", value) and "-" in value:
                return "model"
            text = any(group.kind == "text" for group in self.seen.groups)
            return "system" if is_content(value) and text else None
        return None

    def _candidates(self, shape: str, value: Any) -> list[str]:
        if shape == "usage":
            return COUNTS
        if shape != "request":
            return []
        kinds = {str: ["string"], list: ["list", "list of text"], bool: ["bool"]}.get(
            type(value), []
        )
        if type(value) in (int, float):
            whole = isinstance(value, int) and value > 2
            kinds = ["integer", "number"] if whole else ["number", "integer"]
        found = [f for kind in kinds for f in FIELDS if field_type(shape, f) == kind]
        return ["tool_choice", *found] if kinds == ["string"] else found

    # -- parts, tools, messages ---------------------------------------------------------------

    def _by_value(self, kind: str, key: str, values: list[Any]) -> Say | None:
        """Picture a key of a part or tool by its values, which tell more than names do."""
        if key == self.seen.kind_key and kind != FUNCTION:
            return Say(scalar(values[0]))
        if kind == FUNCTION and {*map(str, values)} == {"function"}:
            return Say("function")
        said = self._value(kind, values[0])
        field = said and said.partition(" ")[0]
        if field is None or (kind, field) in self.used_fields:
            return None
        self.used_fields.add((kind, field))
        return Say(f"${said}")

    def _value(self, kind: str, first: Any) -> str | None:
        seen = self.seen
        if kind == FUNCTION:
            if is_schema(first):
                return "parameters | object_schema"
            if isinstance(first, str):
                named = first in seen.names
                return "name" if named else "description (optional)" if " " in first else None
        if kind in ("tool_call", "tool_result") and isinstance(first, str) and first in seen.ids:
            return "id" if kind == "tool_call" else "tool_call_id"
        if kind in ("tool_call", "tool_result") and isinstance(first, str) and first in seen.names:
            return "name" if kind == "tool_call" else "name (made)"
        if kind == "tool_call" and is_arguments(first):
            return "arguments | object" + (" | json" if isinstance(first, str) else "")
        if kind in MEDIA and isinstance(first, str) and len(first) > 1:
            return next(word for word, looks in HELD.items() if re.match(looks, first))
        return "text" if kind == "text" and isinstance(first, str) else None

    def _part(self, group: Group) -> None:
        if group.kind is None:
            self.questions.append(f"elements of `{group.word}`: no part of the IR was recognized")
            return
        key = sole_key(group.elements)
        if key is None:
            self.shapes[group.kind] = self._shape(group.kind, group)
            return
        inner = self._shape(group.kind, group._replace(elements=[e[key] for e in group.elements]))
        for one in (inner, *inner.get("cases", {}).values()):
            one["wire"] = {key: one["wire"]}
        self.shapes[group.kind] = inner

    def _shape(self, kind: str, group: Group) -> Tree:
        if kind == "tool_result":
            return self._result(group)
        if kind == "tool_call":
            return self._with_broken_case(self._fields(kind, group.elements))
        wire = self._fields(kind, group.elements)
        if kind not in MEDIA:
            return {"wire": wire}
        # A sample mostly shows bytes or an address.
        source = {one: Say(f"${one}") for one in HELD if (kind, one) in self.used_fields}
        word = Say("url" if "url" in source else "base64")
        return {"ir": {"source": {"type": word, **source}}, "wire": wire}

    def _with_broken_case(self, wire: Tree) -> Tree:
        """Give a call whose arguments are text a second case, for text that is no JSON."""
        place = next((k for k, v in wire.items() if "| json" in getattr(v, "text", "")), None)
        if place is None:
            return {"wire": wire}
        broken = {"wire": {place: Say("$arguments_text")}}
        cases = {"object": {"wire": {place: wire.pop(place)}}, "broken": broken}
        return {"wire": wire, "cases": cases}

    def _result(self, group: Group) -> Tree:
        flag = next((k for e in group.elements for k, v in e.items() if isinstance(v, bool)), None)
        bare = [{k: v for k, v in e.items() if k != flag} for e in group.elements]
        keys = dict.fromkeys(k for e in bare for k, v in e.items() if self._holds_result(k, v))
        wire = self._fields(
            "tool_result", [{k: v for k, v in e.items() if k not in keys} for e in bare]
        )
        held = sorted(keys, key=lambda k: not any(not isinstance(e.get(k), str) for e in bare))
        if not held:
            self.questions.append(f"elements of `{group.word}`: where is what the tool said?")
            return {"wire": wire}
        for key in held[1:]:
            wire[key] = self._value_hole("tool_result", (key,), [e[key] for e in bare if key in e])
        text = {held[0]: Say("$value | string")}
        data = {held[0]: Say("$value | object+list+number+bool+null")}
        cases: Tree = {"text": {"wire": text}, "data": {"wire": data}}
        if flag is not None:
            bad = bool(re.search("err|fail", flag.lower()))
            good = f"{str(not bad).lower()} (or $absent)"
            cases = {
                word: {"wire": {flag: Say(good), **case["wire"]}} for word, case in cases.items()
            }
            self.questions.append(f"tool_result: `{flag}` is thought to say whether a tool failed")
            why = "a guess: this says that the tool failed"
            error = {flag: Say(str(bad).lower(), why), held[0]: Say("$value | string")}
            cases = {"error": {"wire": error}, **cases}
        return {"by": Say("kind"), "wire": wire, "cases": cases}

    def _holds_result(self, key: str, value: Any) -> bool:
        """Tell whether a key of a result holds what the tool said."""
        if key == self.seen.kind_key or value in (*self.seen.ids, *self.seen.names):
            return False
        known = self.words.field("tool_result", key, value)
        return known is None or known[0] == "value"

    def _conversation(self) -> Tree:
        talk = self.seen.talk
        assert talk is not None
        kinds = {group.kind for group in self.seen.groups}
        cases: Tree = {}
        for word, role in talk.roles.items():
            if role and role not in cases:
                why = "a guess" if word in talk.guessed else ""
                cases[role] = {"wire": {talk.role: Say(scalar(word), why)}}
        apart = "tool" in cases or "tool_result" not in kinds
        if not apart and "user" in cases:
            cases["tool"] = {"wire": {talk.role: cases["user"]["wire"][talk.role]._replace(why="")}}
        if talk.beside:
            keys = ", ".join(f"`{key}`" for key in talk.beside)
            self.questions.append(f"messages: {keys}: not pictured; {ELSEWHERE}")
        each = "item" if kinds - {None} else "text"
        content = Say(f"$parts each {each}" + (" | text (or list)" if talk.bare else ""))
        found: Tree = {"per": Say("message" if apart else "run")}
        found |= {"wire": {talk.content: content}, "cases": cases}
        if "text" not in kinds:
            self.shapes.setdefault("text", {"wire": {"type": Say("text"), "text": Say("$text")}})
        lift = ("request", "system") in self.used_fields
        return {**found, "enforce": Say("{system: lifted}")} if lift else found

    # -- units --------------------------------------------------------------------------------

    def _unit(self, unit: str) -> Tree:
        bodies = self.seen.bodies[unit]
        if unit != "response" or self.seen.parts_at is None:
            return self._fields(unit, bodies)
        path, inner = self.seen.parts_at
        top = path[0]
        within = [one for b in bodies for one in objects_at(b, path)] if inner else bodies
        key = next((k for one in within for k, v in one.items() if self._stops(k, v)), None)
        if inner is None:  # what holds the parts, and why they end; the rest is the response's own
            within = [{k: v for k, v in one.items() if k in (top, key)} for one in within]
        self.other_samples["candidate"] = within
        bare = [{k: v for k, v in one.items() if k != key} for one in within]
        candidate = self._fields("candidate", bare)
        if key is not None:
            candidate[key] = self._stop(key, [one[key] for one in within if key in one])
        self.shapes["candidate"] = {"wire": candidate}
        apart = (top,) if inner else (top, key)
        wire = self._fields(unit, [{k: v for k, v in b.items() if k not in apart} for b in bodies])
        if inner is None:
            return {**wire, "...": Say("$candidates each candidate | single")}
        outer: Any = Say("$candidates each candidate")
        for word in reversed(path[1:]):
            outer = {word: outer}
        return {**wire, top: outer}

    def _stops(self, key: str, value: Any) -> bool:
        """Tell whether a key of a response says why it ended."""
        if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]+", value):
            return False
        known = self.words.field("candidate", key, value)
        if known is not None and known[0] == "stop_reason":
            return True
        named = self.words.field("response", key, value)
        return value.lower() in self.words.stops or named is None

    def _stop(self, key: str, values: list[str]) -> Say:
        write: Tree = {}
        for value in dict.fromkeys(values):
            write.setdefault(
                self.words.stops.get(value.lower(), self.words.usual), Say(scalar(value))
            )
        usual = write.get(self.words.usual) or next(iter(write.values()))
        why = "the words of the samples; what others are there"
        self.tables["stop"] = {"write": write, "otherwise": Say(usual.text, why)}
        self.questions.append(f"tables.stop: the words of `{key}` that the samples do not show")
        return Say(f"$stop_reason | stop (fill {usual.text})")


def _asks_for_form(key: str, values: list[Any]) -> bool:
    """Tell whether objects say of which form an answer is to be."""
    return "format" in tokens(key) and bool(values) and all(isinstance(v, dict) for v in values)


def _name(key: str) -> str:
    name = re.sub(r"\W", "_", key)
    return name if re.match(r"[a-zA-Z_]", name) else f"_{name}"
