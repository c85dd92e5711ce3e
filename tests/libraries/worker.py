"""Runs one library: reads a conversation to hold from each line, writes what came of it.

    python -m tests.libraries.worker NAME

Needs the libraries of `requirements.txt`, and nothing of wireglot.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import traceback
from dataclasses import asdict

from . import weather

QUESTIONS = ("Hello?", "How is it?", "Thanks.")


def main(name: str) -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print
    logging.disable(logging.CRITICAL)
    kind: type[weather.Client] = importlib.import_module(f".by_{name}", __package__).Client
    for line in sys.stdin:
        said = json.loads(line)
        client = kind(said["wire"], said["url"], said["streamed"])
        error = None
        try:
            for nth, question in enumerate(QUESTIONS):
                client.asks(question, pictured=nth == 1)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
            traceback.print_exc()
        out.write(json.dumps({**asdict(client.seen), "error": error}) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
