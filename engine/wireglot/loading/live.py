"""Rules that follow their files: a change is checked, then the whole set is swapped."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from ..errors import RuleError, UsageError
from ..rulesets import RuleSet

if TYPE_CHECKING:
    from types import TracebackType

    from ..dialects import DialectRules

Given = ParamSpec("Given")
Made = TypeVar("Made")


def _in_force(
    method: Callable[Concatenate[RuleSet, Given], Made],
) -> Callable[Concatenate[LiveRules, Given], Made]:
    """Return what lets the set in force do what a rule set does."""

    def done(self: LiveRules, /, *given: Given.args, **named: Given.kwargs) -> Made:
        return method(self.rules, *given, **named)

    functools.update_wrapper(done, method)
    return done


class LiveRules:
    """The newest rules that were right; safe to share between threads.

    A conversion ends on the set it began with, and so does an exchange.

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
        self.rules, self.swaps = rules, 0
        self.error: RuleError | UsageError | None = None
        self._on_change = on_change
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if start:
            self._start()

    def reload(self) -> bool:
        """Load the rules again; put them in force if they are right, and tell whether they are.

        Pairs that were compiled are compiled again first, so that no conversion waits for it.
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
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def __enter__(self) -> LiveRules:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # -- what a rule set does, by the set in force -------------------------------------------------

    @property
    def dialects(self) -> tuple[str, ...]:
        """The names of the dialects."""
        return self.rules.dialects

    @property
    def hash(self) -> str:
        """The hash of the rules in force."""
        return self.rules.hash

    def __getitem__(self, name: str) -> DialectRules:
        return self.rules[name]

    convert = _in_force(RuleSet.convert)
    """Convert as `RuleSet.convert` does."""
    exchange = _in_force(RuleSet.exchange)
    """Put a client in front of a provider as `RuleSet.exchange` does."""
    translator = _in_force(RuleSet.translator)
    """Translate a stream as `RuleSet.translator` does, to its end by the set in force now."""
    collect = _in_force(RuleSet.collect)
    """Return the response that frames make, as `RuleSet.collect` does."""
    frames = _in_force(RuleSet.frames)
    """Yield the frames of a response, as `RuleSet.frames` does."""
    repair = _in_force(RuleSet.repair)
    """Heal a request as `RuleSet.repair` does."""
    diagnose = _in_force(RuleSet.diagnose)
    """Say what a provider would refuse, as `RuleSet.diagnose` does."""
    audit = _in_force(RuleSet.audit)
    """Audit a pair of dialects as `RuleSet.audit` does."""

    # -- watching ----------------------------------------------------------------------------------

    def _start(self) -> None:
        paths = [os.fspath(s) for s in self.rules.sources if isinstance(s, str | os.PathLike)]
        if not paths:
            raise UsageError("these rules come from no folder or zip file, so nothing can change")
        try:
            from watchfiles import watch
        except ImportError:
            raise UsageError("watching needs `pip install 'wireglot[watch]'`") from None
        # A zip file is watched in its folder: it is mostly replaced, not written to.
        places = {path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths}

        def follow() -> None:
            for _ in watch(*places, stop_event=self._stop, debounce=200, recursive=False):
                self.reload()

        self._thread = threading.Thread(target=follow, name="wireglot-watch", daemon=True)
        self._thread.start()
