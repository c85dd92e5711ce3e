"""Rules that follow their files: a change is checked, then the whole set is swapped."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import RuleError, UsageError

if TYPE_CHECKING:
    from types import TracebackType

    from ..audits.audit import Audit
    from ..dialects import DialectRules
    from ..interpreter.repair import Diagnosis
    from ..interpreter.resolver import Resolve
    from ..loop.exchanges import Exchange
    from ..payload import Clock
    from ..policy import Policy
    from ..results import Conversion
    from ..rulesets import RuleSet
    from ..streaming.streams import Translator


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

    def convert(
        self,
        body: Any,
        source: str,
        target: str,
        unit: str = "request",
        model: str | None = None,
        stream: bool | None = None,
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | Policy | None = None,
        resolve: Resolve | None = None,
        clock: Clock | None = None,
        trace: bool = False,
    ) -> Conversion:
        """Convert as `RuleSet.convert` does."""
        return self.rules.convert(
            body, source, target, unit, model, stream, options, policy, resolve, clock, trace
        )

    def exchange(
        self,
        client: str,
        provider: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | Policy | None = None,
        resolve: Resolve | None = None,
    ) -> Exchange:
        """Put a client in front of a provider as `RuleSet.exchange` does."""
        return self.rules.exchange(client, provider, model, options, state, policy, resolve)

    def translator(
        self,
        source: str,
        target: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | Policy | None = None,
        result: bool = True,
    ) -> Translator:
        """Translate a stream as `RuleSet.translator` does, to its end by the set in force now."""
        return self.rules.translator(source, target, model, options, policy, result)

    def collect(self, frames: Iterable[Any], dialect: str) -> Any:
        """Return the response that frames make, as `RuleSet.collect` does."""
        return self.rules.collect(frames, dialect)

    def frames(self, response: Any, dialect: str) -> Iterator[Any]:
        """Yield the frames of a response, as `RuleSet.frames` does."""
        return self.rules.frames(response, dialect)

    def repair(
        self,
        body: Any,
        dialect: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | Policy | None = None,
    ) -> Conversion:
        """Heal a request as `RuleSet.repair` does."""
        return self.rules.repair(body, dialect, model, options, policy)

    def diagnose(
        self,
        body: Any,
        dialect: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Diagnosis, ...]:
        """Say what a provider would refuse, as `RuleSet.diagnose` does."""
        return self.rules.diagnose(body, dialect, model, options)

    def audit(
        self,
        source: str,
        target: str,
        unit: str = "request",
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        examples: bool = False,
    ) -> Audit:
        """Audit a pair of dialects as `RuleSet.audit` does."""
        return self.rules.audit(source, target, unit, model, options, examples)

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
