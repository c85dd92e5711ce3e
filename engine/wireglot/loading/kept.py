"""The packaged rule files of a checkout as they were read last, kept beside Python's bytecode.

What is kept is of the very files, and of the modules that read them: the sum of all of these stands
at its end, and is taken anew in each process. Where Python keeps no bytecode nothing is kept. A
wheel has more than this (`shipped`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

from ..language import apart, layers
from ..language.known import Known, LazyMap
from ..language.layers import RuleFiles
from ..language.source import Node

FOLDER, FILE = "__pycache__", "packaged.kept"
READERS = ("language", "loading")  # the rooms by which files are read


class Kept(NamedTuple):
    """The packaged files: the dialects, and the files that show the wires of several."""

    known: Known
    crossings: Callable[[], list[Node]]


def packaged(folder: str, read: Callable[[], RuleFiles]) -> Kept:
    """Return the packaged files of a folder as they were kept, else read and kept for the next."""
    file, total = os.path.join(folder, FOLDER, FILE), _digest(folder)
    data = b""
    with contextlib.suppress(OSError), open(file, "rb") as opened:
        data = opened.read()
    if not data.endswith(total):
        data = _pickled(read()) + total
        if not sys.dont_write_bytecode:
            _replace_file(file, data)
    pieces, crossings, rest = pickle.loads(data)
    files: LazyMap = LazyMap(pieces, lambda name: pickle.loads(pieces[name]))
    parents = rest[0]
    flat = LazyMap(pieces, lambda name: layers.lay_one(name, files, parents.get(name), flat))
    return Kept(Known(files, flat, *rest), lambda: pickle.loads(crossings))


def _digest(folder: str) -> bytes:
    """Return the sum of the rule files of a folder, and of the modules that read them."""
    top = os.path.dirname(os.path.dirname(__file__))
    places = [(folder, ".yaml"), (f"{folder}/{apart.FOLDER}", ".yaml")]
    found = hashlib.sha256()
    for place, ending in (*places, *((f"{top}/{room}", ".py") for room in READERS)):
        names = os.listdir(place) if os.path.isdir(place) else ()
        for name in sorted(name for name in names if name.endswith(ending)):
            with open(f"{place}/{name}", "rb") as file:
                data = file.read()
            found.update(f"{name} {len(data)}\n".encode())
            found.update(data)
    return found.digest()


def _pickled(read: RuleFiles) -> bytes:
    _, _, *rest = layers.analysed(read.dialects)
    pieces = {name: pickle.dumps(node) for name, node in read.dialects.items()}
    return pickle.dumps((pieces, pickle.dumps(read.crossings), rest))


def _replace_file(file: str, data: bytes) -> None:
    """Put a file in its place at once; where it cannot be, the next process reads YAML again."""
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        number, name = tempfile.mkstemp(dir=os.path.dirname(file))
        try:
            with open(number, "wb") as opened:
                opened.write(data)
            os.replace(name, file)
        except OSError:
            os.unlink(name)
