"""The packaged rules with packaged overlays on: each such set is loaded once by a process."""

from __future__ import annotations

import functools

import wireglot


@functools.cache
def rules(*overlays: str) -> wireglot.RuleSet:
    """Return the packaged rules with some overlays laid over them, in this order."""
    return wireglot.load_rules(overlays=overlays) if overlays else wireglot.packaged()
