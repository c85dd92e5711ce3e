"""Messages as they are written: in the order that a dialect asks for, and which become one."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from functools import partial
from itertools import repeat
from typing import Any

from ..ir import MEDIA
from ..language.lenses import Misfit
from ..language.model import Dialect, once
from ..language.picture import Hole
from ..language.shape import Case
from ..language.talk import Conversation, Group
from ..notes import ONE_ROLE, Draft
from ..trail import HOLDERS, everywhere
from . import (
    answers,
    aside,
    enforce,
    marks,
    pairing,
    prefix,
    signing,
    steps,
    system,
    turns,
    weaving,
    within,
)
from .copies import with_parts
from .jobs import Message, WriteJob
from .placing import case_of, drop_roles, note_beside_parts, note_cases, walk_run
from .system import PLAIN
from .views import Survey, recalled

TEXT = "\0"  # stands for any text


def write_talk(writer: WriteJob, h: Hole, messages: Any, listed: bool, into: Any) -> Any:
    """Write a conversation; where its hole is `bare`, one plain text of the user is that text.

    `listed` says that it was a list at home.
    """
    out = write_messages(writer, messages)
    if listed or "bare" not in h.lenses:
        return out
    for text in _lone_texts(writer, messages) if len(out) == 1 else ():
        if _fits_form(writer.dialect.once("one text", partial(_lone_text_form, writer)), out, text):
            for _, wire in everywhere(out[0]) if into is not None else ():
                if isinstance(wire, HOLDERS):
                    writer.relocated[id(wire)] = (wire, *into)
            return text
    return out


def _lone_text_form(writer: WriteJob) -> list[Any]:
    """Return how a conversation is written in which the user says one text, which is TEXT."""
    said = [{"role": "user", "parts": [{"type": "text", "text": TEXT}]}]
    return write_messages(writer.afresh(), said)


def _fits_form(form: Any, wire: Any, text: str) -> bool:
    """Tell whether a wire value is like another one, with a text where that has TEXT."""
    if form == TEXT:
        return bool(wire == text)
    if isinstance(form, list) and isinstance(wire, list):
        return len(form) == len(wire) and all(map(_fits_form, form, wire, repeat(text)))
    if isinstance(form, dict) and isinstance(wire, dict):
        if form.keys() != wire.keys():
            return False
        return all(_fits_form(child, wire[key], text) for key, child in form.items())
    return bool(form == wire)


def _lone_texts(writer: WriteJob, messages: Any) -> Iterator[str]:
    """Yield what a list of one message may say: a user's text, a system's, what stands for none.

    What else a message or its part has (an id) may have no place in the list either.
    """
    for message in messages:
        match message.get("parts"):
            case [{"type": "text", "text": str(text)}]:
                yield text
    if writer.filler is not None:
        yield writer.filler


def write_messages(writer: WriteJob, messages: Any, whole: bool = True) -> list[Any]:
    """Write IR messages as the list of wire messages; they may be no `whole` conversation."""
    talk, survey = writer.dialect.talk, writer.survey
    if not isinstance(messages, list):
        raise Misfit("`messages` is no list", (), talk.pos)
    messages = drop_roles(writer, messages)
    if not (writer.same or (survey is not None and survey.kinds.isdisjoint(MEDIA))):
        messages = aside.media_to_results(writer, messages)
    if survey is None or survey.system:
        messages = system.reword_later(writer, messages)
    if writer.repair:
        messages = enforce_steps(writer, messages, whole)
        if whole and prefix.TRIMMED in writer.enforced:
            messages = prefix.trim_end(writer, messages)
    if whole:
        messages = prefix.write_end(writer, messages)
    if not writer.same and (survey is None or survey.marked):
        messages = marks.settle_result_marks(writer, messages)
    if writer.dialect.marks_cache:
        messages = marks.marks_to_messages(writer, messages)
    if writer.dialect.holds_results:
        messages = answers.results_into_calls(writer, messages)
    if not writer.same and prefix.goes_on(writer.dialect) and talk.joins("assistant"):
        messages = prefix.first_goes_on(writer, messages)
    return _Runs(writer, messages).write()


def enforce_steps(writer: WriteJob, messages: list[Message], whole: bool) -> list[Message]:
    """Put messages in the order that a dialect asks for; they may be no `whole` conversation."""
    given, survey = bool(messages), writer.survey
    if survey is None or not writer.dialect.talk.weighed.isdisjoint(survey.kinds):
        left = signing.drop_unsigned_thoughts(writer, messages)
        left = enforce.drop_at_end(writer, left) if whole else left
        messages, survey = left, survey if left is messages else None
    if given and orderly(writer, survey or Survey(messages)):
        wants = whole and writer.dialect.talk.turns
        return turns.add_turns(writer, messages) if wants else messages
    messages = pairing.unique_ids(writer, marks.limit_parts(writer, messages))
    messages = pairing.pair_results(writer, pairing.say_uncalled(writer, messages))
    messages = pairing.mark_freeform(writer, messages)
    messages = enforce.order_results(writer, enforce.drop_empty(writer, messages))
    messages = enforce.one_call_a_turn(writer, messages)
    messages = enforce.drop_past(writer, enforce.drop_half_searches(writer, messages))
    messages = signing.sign_calls(writer, turns.add_companions(writer, messages))
    if whole:
        messages = turns.with_some_message(writer, messages) if given else messages
        messages = turns.order_turns(writer, messages)
    return weaving.weave(writer, messages)


def orderly(writer: WriteJob, survey: Survey) -> bool:
    """Tell whether no step that a dialect asks for has anything to do with these messages."""
    dialect = writer.dialect
    kinds, plain = _watched(dialect)
    if writer.repair_asked or not plain or not survey.paired or not survey.none_empty:
        return False
    return kinds.isdisjoint(survey.kinds) and not (survey.freeform and dialect.tells_freeform)


@once
def _watched(dialect: Dialect) -> tuple[frozenset[Any], bool]:
    """Return the kinds of parts that a step looks at, and whether a survey tells all else."""
    talk = dialect.talk
    words = ("this-turn", "signed", "found", "one-call")
    kinds = {kind for word, kind in talk.enforce if word in words}
    kinds |= {one.kind for one in talk.beside}
    kinds |= within.marks_to_write(dialect).keys() | within.marks_in_items(dialect).keys()
    kinds |= {kind for kind, bound in dialect.bounds.items() if "count" in bound}
    unique = any("." in name and limit.get("unique") for name, limit in dialect.limits.items())
    alternate = ("alternate", "") in talk.enforce
    return frozenset(kinds), dialect.part_kinds >= enforce.SAID and not unique and not alternate


@once
def _one_part_each(_: Dialect, group: Group) -> bool:
    """Tell whether messages of a group hold one part each."""
    return group.alone


class _Runs:
    """Messages on their way to the wire: those that become one stand in one run."""

    def __init__(self, writer: WriteJob, messages: list[Message]) -> None:
        self.writer, self.talk = writer, writer.dialect.talk
        self.out: list[Any] = []
        self.waiting = deque(messages)
        self.run: list[tuple[Case, Message]] = []
        self.group: Group | None = None
        self.joined: list[Draft] = []
        self.asides: list[Message] = []  # messages that the source does not have
        self.looks = writer.repair and bool(self.talk.leads or self.talk.bars)
        self.refused: Message | None = None  # what no function writes: it is walked
        # Whether a message that nobody joins is written as it is.
        self.plain = not (self.talk.steps or writer.dialect.told_roles)

    def write(self) -> list[Any]:
        """Write all messages."""
        writer, talk, waiting, run = self.writer, self.talk, self.waiting, self.run
        while waiting:
            found, case, message = case_of(writer, waiting.popleft())
            if run and (found is not self.group or not self._joins(found, message)):
                if self._flush(message):
                    continue
            elif run and writer.repair:
                role = message.get("role")
                if run[-1][1].get("role") == role != "tool" and role not in talk.steps:
                    at = writer.trail.find(message)
                    writer.note("joined", "changed", at, writer.rule(), ONE_ROLE)
                    self.joined.append(writer.notes[-1])
            self.group = found
            run.append((case, message))
            if not waiting:
                self._flush()
        return self.out

    def _joins(self, found: Group, message: Message) -> bool:
        """Tell whether a message of the same group becomes one with those of the run."""
        writer, talk, role = self.writer, self.talk, message.get("role")
        if not (found.spliced or talk.joins(role)):
            last = self.run[-1][1].get("role")
            if not writer.same or role == last or not talk.splits(found):
                return False
        if _one_part_each(writer.dialect, found):
            return False
        if not writer.same or "spelled" not in message:
            return True
        memory = recalled(writer, message)
        return "line" not in memory if found.spliced else not memory.get("apart")

    def _flush(self, behind: Message | None = None) -> bool:
        """Write the run; what left its messages stands behind it, before the one `behind` it.

        Tell whether it does: that message waits again.
        """
        writer, run = self.writer, self.run
        mark = len(writer.notes), len(writer.lost_fields)
        wires = self._lone(*run[0]) if len(run) == 1 else None
        if wires is None:
            wires = self._wires(run)
        # Media that a result cannot hold have left it by now (`beside`). They stand in the run, if
        # that may hold them, else in a user's message behind it: `behind` may be that message.
        beside = bool(writer.beside)
        if beside:
            if behind is not None:
                self.waiting.appendleft(behind)
            wires = self._again(wires, *mark)
        self.out += wires
        if wires and writer.dialect.document is not None:
            writer.line_messages[id(wires[0])] = run[0][1]
        if self.joined:  # noted while the run grew; only now there is what these notes point to
            for draft in self.joined if wires else ():
                draft.owner = wires[0]
            self.joined.clear()
        run.clear()
        self.group = None
        if not beside:
            return False
        if writer.beside:
            left = self._left()
            self.asides.append(left)
            turns.queue_beside(writer, left, self.waiting)
        if behind is None or self.waiting[0] is not behind:
            return True
        self.waiting.popleft()
        return False

    def _again(self, wires: list[Any], mark: int, lost: int) -> list[Any]:
        """Write the run once more where what left its messages belongs to it, or ends it there."""
        writer, talk, run = self.writer, self.talk, self.run
        if talk.steps and len(run) > 1:
            # What left its message stands behind that very step: the others begin a new message.
            steps = run[:]
            run.clear()
            writer.beside = []
            while not writer.beside:
                del writer.notes[mark:], writer.lost_fields[lost:]
                run.append(steps[len(run)])
                wires = self._wires(run)
            self.waiting.extendleft(message for _, message in reversed(steps[len(run) :]))
        if turns.joins_aside(writer) or run[-1][1].get("role") == "user":
            group, case, _ = case_of(writer, {"role": "user", "parts": []})
            if group is self.group and not group.spliced:
                # What left its message belongs to this very run: write that once more.
                del writer.notes[mark:], writer.lost_fields[lost:]
                wires = self._wires(_with_aside(talk, run, case, self._left()))
                writer.beside = []
        return wires

    def _lone(self, case: Case, message: Message) -> list[Any] | None:
        """Write a message that is one of its own, if that can be done at once; else None."""
        writer, parts, talk = self.writer, message.get("parts"), self.talk
        if not parts or not self.plain or (self.group is not None and self.group.spliced):
            return None
        if self.looks and (len(parts) > 1 or parts[0].get("type") in talk.bars):
            return None
        writer.message_mark, writer.role = len(writer.notes), message.get("role")
        usual = writer.quick_message(case, message)
        self.refused = message if usual is None else None
        return None if usual is None else [usual]

    def _wires(self, run: list[tuple[Case, Message]]) -> list[Any]:
        """Write a run of messages."""
        writer, talk = self.writer, self.talk
        writer.message_mark = len(writer.notes)
        if self.group is not None and self.group.spliced:
            return self._spliced(run)
        case, first = run[0]
        given = parts = first.get("parts", ())
        if roles := writer.dialect.told_roles:
            run = [(one, _with_roles(writer, roles, message)) for one, message in run]
            parts = run[0][1].get("parts", ())
        if talk.steps:
            parts = steps.with_marks(writer, run)
        elif len(run) > 1:
            parts = []
            for _, message in run:
                parts += message.get("parts", ())
        if self.looks:
            kinds = {part.get("type") for part in parts}
            for kind in talk.leads if len(kinds) > 1 else ():
                parts = enforce.lead_with(writer, kind, parts) if kind in kinds else parts
            if not talk.bars.isdisjoint(kinds):
                parts = enforce.drop_user_parts(writer, first.get("role"), parts)
        alone = len(run) == 1 and parts is given
        writer.role = role = first.get("role")
        for one, message in run if role == "tool" and len(run) > 1 else ():
            if message.get("role") != "tool":  # results stand in what somebody says
                case, role = one, message.get("role")
                break
        if parts and first is not self.refused and (alone or _plain(writer, run)):
            said = first
            if not alone:
                said = {"role": role, "parts": parts}
                writer.trail.copy(first, said)
            usual = writer.quick_message(case, said)
            if usual is not None:
                return [usual]
        whole = dict(first) if alone else {**first, "parts": parts}
        writer.trail.copy(first, whole)
        made = any(first is left for left in self.asides)  # the source has no such message
        return walk_run(writer, case, run, whole, made)

    def _spliced(self, run: list[tuple[Case, Message]]) -> list[Any]:
        """Write messages whose parts are elements of the list, each message by itself."""
        writer, hole, wires = self.writer, run[0][0].wire, list[Any]()
        assert isinstance(hole, Hole)
        for _, message in run:
            said = message.get("parts", [])
            if len(said) > 1 and ("answer-next", "") in writer.enforced:
                said = enforce.texts_before_calls(writer, said)
            wires += writer.elements(hole, said)
            note_beside_parts(writer, message, self.talk.pos)
        note_cases(writer, run, wires)
        return wires

    def _left(self) -> Message:
        """Return a user's message of what left its message."""
        blocks, self.writer.beside = self.writer.beside, []
        return turns.message_of_left(self.writer, blocks)


def _with_roles(writer: WriteJob, roles: Collection[str], message: Message) -> Message:
    """Return a message with parts that say whose they are, where elements of the target do."""
    role = message.get("role")
    if role not in roles:
        return message
    parts: list[Any] = []
    for part in message.get("parts", ()):
        said = part.get("type") == "text"
        parts.append(writer.trail.changed(part, role=role) if said else part)
        if not said:
            why = f"the {role} says texts alone in the target: a part of another kind is the user's"
            writer.note_part("system-as-user", "changed", part, why, writer.rule())
    return with_parts(writer, message, parts)


def _with_aside(
    talk: Conversation, run: list[tuple[Case, Message]], case: Case, left: Message
) -> list[tuple[Case, Message]]:
    """Put a user's message of what left the results right after them."""
    places = [i + 1 for i, (other, _) in enumerate(run) if talk.role(other) == "tool"]
    place = places[-1] if places else len(run)
    return [*run[:place], (case, left), *run[place:]]


def _plain(writer: WriteJob, run: list[tuple[Case, Message]]) -> bool:
    """Tell whether messages that become one are nothing but their parts, and nothing is noted."""
    for case, message in run:
        if case.note is not None or not message.keys() <= PLAIN:
            return False
    return not writer.same
