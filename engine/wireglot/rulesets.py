"""Rule sets: what they offer beside conversions, and those that follow their files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .errors import RuleError, UsageError, library, mistyped
from .loaded import Loaded

if TYPE_CHECKING:
    from threading import Event, Thread

    from .audits.audit import Audit
    from .dialects import DialectRules
    from .interpreter.resolver import Resolve
    from .loop.exchanges import Exchange
    from .loop.states import States
    from .notes import Note
    from .policy import Policy
    from .repair import Diagnosis
    from .results import Conversion
    from .streaming.streams import Translator


class RuleSet(Loaded):
    """An immutable set of dialects; safe to share between threads.

    `rules[NAME]` is a dialect, `NAME in rules` tells whether there is one. What a conversion may do
    without is imported when it is called.

    Attributes:
        dialects: The names of the dialects, sorted.
        findings: What the checks found beside errors.
        sources: Where rule files were loaded from, beside the packaged ones.
    """

    def reloaded(self) -> RuleSet:
        """Load the rules once more from where they came. Raises RuleError, UsageError."""
        again: RuleSet = self if self._again is None else self._again()
        return again

    def watch(
        self, on_change: Callable[[LiveRules], None] | None = None, start: bool = True
    ) -> LiveRules:
        """Return rules that follow their files; `LiveRules` says more."""
        return LiveRules(self, on_change, start)

    def repair(
        self,
        body: Any,
        dialect: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | Policy | None = None,
    ) -> Conversion:
        """Heal a request within its dialect: what the provider would refuse, as far as it can be.

        What is right stays as it is; a second repair changes nothing. Raises as `convert` does.
        """
        from . import repair

        return repair.repair(self, body, dialect, model, options, policy)

    def diagnose(
        self,
        body: Any,
        dialect: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Diagnosis, ...]:
        """Return what the provider of a dialect would refuse in a request, and what helps.

        Raises UsageError.
        """
        from . import repair

        return repair.diagnose(self, body, dialect, model, options)

    def exchange(
        self,
        client: str,
        provider: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | States | None = None,
        policy: Mapping[str, str] | Policy | None = None,
        resolve: Resolve | None = None,
    ) -> Exchange:
        """Put a client of one dialect in front of a provider. `wireglot.exchange` says more."""
        from .loop.exchanges import Exchange

        return Exchange(self, client, provider, model, options, state, policy, resolve)

    def translator(
        self,
        source: str,
        target: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | Policy | None = None,
        result: bool = True,
    ) -> Translator:
        """Translate a stream from one dialect to another, frame by frame.

        `.feed(frame)` returns the frames that it gives rise to, `.finish()` the rest; `.result` is
        then the whole response in the target, unless `result` is false, and `.notes` what was not
        carried exactly. Raises UsageError.
        """
        from .streaming import streams

        return streams.translator(self, source, target, model, options, policy, result)

    def collect(self, frames: Iterable[Any], dialect: str, notes: list[Note] | None = None) -> Any:
        """Return the response that the frames of a stream make, in their own dialect.

        To `notes` is added what was not carried into it, or not exactly.
        """
        from .streaming import responses

        return responses.collect(self, frames, dialect, notes)

    def frames(self, response: Any, dialect: str, notes: list[Note] | None = None) -> Iterator[Any]:
        """Yield the frames of a stream that makes a response, in its own dialect.

        To `notes` is added what no frame can hold, or says otherwise, once the last was taken.
        """
        from .streaming import responses

        return responses.frames(self, response, dialect, notes)

    def audit(
        self,
        source: str,
        target: str,
        unit: str = "request",
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        examples: bool = False,
    ) -> Audit:
        """Say what converting does with each field of a unit, from the rules alone.

        Without a `model` each kind of model is tried that the rules tell apart. With `examples`
        each line holds a payload that shows it. Raises UsageError.
        """
        from .audits.audit import audit

        return audit(self, source, target, unit, model, options, examples)


if TYPE_CHECKING:
    _Set = RuleSet  # to a type checker: live rules do what the set in force does
else:
    _Set = object


class LiveRules(_Set):
    """The newest rules that were right; safe to share between threads.

    What a rule set does, the set in force does. A conversion ends on the set it began with, and so
    does an exchange.

    Attributes:
        rules: The set in force.
        error: What is wrong with the files since, or None.
        swaps: How often the set was exchanged.
    """

    def __init__(
        self,
        rules: RuleSet,
        on_change: Callable[[LiveRules], None] | None = None,
        start: bool = True,
    ) -> None:
        """Hold a rule set, and watch its folders and zip files in a thread of its own.

        `on_change` is called in that thread after each attempt to load, with `error` set where it
        failed. `start=False` watches nothing: `reload()` is then the caller's to call. Raises
        UsageError where there is nothing to watch, or the package `watchfiles` is missing (the
        extra `watch`).
        """
        import threading

        if on_change is not None and not callable(on_change):
            raise mistyped("`on_change` is a function", on_change)
        self.rules: RuleSet = rules
        self.swaps: int = 0
        self.error: RuleError | UsageError | None = None
        self._on_change = on_change
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._thread: Thread | None = None
        if start:
            paths = paths_of(rules)
            if not paths:
                told = "these rules come from no folder or zip file, so nothing can change"
                raise UsageError(told)
            self._thread = following(paths, self.reload, self._stop)

    def reload(self) -> bool:
        """Load the rules again; put them in force if they are right, and tell whether they are.

        The dialects in use are read first, so that no conversion waits for that.
        """
        with self._turn:
            old = self.rules
            try:
                new = old.reloaded()
                new.prepare_like(old)
            except (RuleError, UsageError) as error:
                self.error = error
            else:
                self.error = None
                if new.hash != old.hash:
                    self.rules = new
                    self.swaps += 1
            done = self.error is None
        if self._on_change is not None:
            self._on_change(self)
        return done

    def stop(self) -> None:
        """End watching; the rules in force stay."""
        import threading

        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def __enter__(self) -> LiveRules:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copies it asks for such before there are rules
            raise AttributeError(name)
        return getattr(self.rules, name)

    def __getitem__(self, name: str) -> DialectRules:
        return self.rules[name]

    def __contains__(self, name: str) -> bool:
        return name in self.rules


def paths_of(rules: RuleSet) -> list[str]:
    """Return the folders and zip files that rules were loaded from."""
    return [os.fspath(one) for one in rules.sources if isinstance(one, str | os.PathLike)]


def following(paths: Iterable[str], act: Callable[[], object], stop: Event) -> Thread:
    """Start a thread that acts where one of some files or folders changed, until it is stopped.

    Raises UsageError where the package `watchfiles` is missing (the extra `watch`).
    """
    import threading

    watch = library("watchfiles", "watching needs `pip install 'wireglot[watch]'`").watch
    # A file is watched in its folder: it is mostly replaced, not written to.
    places = {path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths}

    def follow() -> None:
        for _ in watch(*places, stop_event=stop, debounce=200, recursive=False):
            act()

    thread = threading.Thread(target=follow, name="wireglot-watch", daemon=True)
    thread.start()
    return thread
