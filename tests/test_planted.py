"""A key that nobody knows, put into each object of payloads that take each choice: it is told of.

Each dialect's payloads are those of its audits (`wireglot.audits.provoke`). The key has the name of
a field now and then, for other pictures know that. What comes of it is in the output, or a note
names it or what is around it.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

import wireglot
from wireglot.audits.provoke import payloads
from wireglot.trail import At, pointer, value_at

from . import width

RULES = wireglot.packaged()
SAID = "sentinel-7"
NAMES = (*["unheard"] * 6, "name", "schema", "id", "mode", "text", "value", "url", "title", "index")
UNITS = ("request", "response")
SOURCES = [
    (name, unit)
    for name in width.dialects(RULES.dialects, 6)
    for unit in UNITS
    if unit in RULES[name].model.units
]


def objects(value: Any, at: At = ()) -> Iterator[At]:
    """Yield the places of all objects in a body."""
    if isinstance(value, dict):
        yield at
        for key, child in value.items():
            yield from objects(child, (*at, key))
    elif isinstance(value, list):
        for nth, child in enumerate(value):
            yield from objects(child, (*at, nth))


@pytest.mark.parametrize(("source", "unit"), SOURCES)
def test_a_key_that_nobody_knows_is_told_of(source: str, unit: str) -> None:
    chance = random.Random(f"wireglot {source} {unit}")
    bodies = [one.body for one in payloads(RULES[source], unit) if isinstance(one.body, dict)]
    targets = [one for one in RULES.dialects if unit in RULES[one].model.units and one != source]
    tried = 0
    for body in chance.sample(bodies, min(width.times(200, 16), len(bodies))):
        for at in list(objects(body)):
            planted = copy.deepcopy(body)
            owner, name = value_at(planted, at), chance.choice(NAMES)
            if name in owner:
                continue
            owner[name] = SAID
            here, target = pointer((*at, name)), chance.choice(targets)
            try:
                out = RULES.convert(planted, source, target, unit, model="m")
            except wireglot.ConversionError:
                continue  # the key has another meaning here
            tried += 1
            told = [note.source_path for note in out.notes if note.source_path is not None]
            around = any(here == path or here.startswith(f"{path}/") for path in told)
            assert around or SAID in json.dumps(out.body), (target, here, planted)
    assert tried > 10
