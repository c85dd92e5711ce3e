"""Where loading begins: what a wheel has prepared needs nothing of what reads rule files."""

from __future__ import annotations

import functools
from _thread import RLock
from collections.abc import Sequence

from ..errors import mistyped
from ..payload import check_text
from ..room import unswept
from ..rulesets import RuleSet
from .rulesources import Source, prepared

_LOADING = RLock()  # threads that come at once want one set


def packaged() -> RuleSet:
    """Return the packaged rule set, loaded once; what the wheel prepared is used as it is."""
    with _LOADING:
        return _packaged()


@functools.cache
def _packaged() -> RuleSet:
    return load_rules()


def wanted(sources: Sequence[Source], overlays: Sequence[str], plugins: bool) -> RuleSet:
    """Return the rules that are asked for; where nothing is, the packaged ones, loaded once."""
    if not (sources or overlays or plugins):
        return packaged()
    return load_rules(*sources, overlays=overlays, plugins=plugins)


@unswept
def load_rules(
    *sources: Source,
    builtin: bool = True,
    overlays: Sequence[str] = (),
    plugins: bool = False,
) -> RuleSet:
    """Load rule files: the packaged ones (unless `builtin` is false), then those of the sources.

    A file of a packaged dialect's name replaces it whole, and `findings` says so.

    Args:
        *sources: Folders, zip files, or mappings of file names to YAML text or parsed YAML.
        builtin: Whether the packaged dialects are there, too.
        overlays: Names of overlays, of the sources or packaged ones, laid over their dialects in
            this order.
        plugins: Whether installed packages that have an entry point in the group `wireglot.rules`
            bring theirs, which imports them; without it nothing is imported.

    Raises:
        RuleError: A rule file is wrong; it has file, line and column.
        UsageError: A source or overlay is not there.
    """
    if isinstance(overlays, str) or not isinstance(overlays, Sequence):
        raise mistyped("`overlays` is a list of names", overlays)
    for name in overlays:
        check_text("overlay", name)
    again = functools.partial(
        load_rules, *sources, builtin=builtin, overlays=tuple(overlays), plugins=plugins
    )
    if builtin and not (sources or overlays or plugins) and (known := prepared()) is not None:
        flat = known.flat  # as a wheel ships it
        return RuleSet(flat, varied=known.varied, known=known, same=flat, again=again)
    if sources or plugins:
        from . import checking

        return checking.load_checked(sources, builtin, overlays, plugins, again)
    from . import load

    return load.with_overlays(overlays, builtin, again)
