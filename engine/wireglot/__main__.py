"""Run the command line as `python -m wireglot`."""

from __future__ import annotations

from .cli import main

raise SystemExit(main())
