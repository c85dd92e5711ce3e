"""Conversions of many values: `wireglot batch`, and the same as a function over any iterable."""

from __future__ import annotations

from .job import Converted, Job, NoJson
from .many import convert

__all__ = ["Converted", "Job", "NoJson", "convert"]
