"""Coding agents as they are, run before `wireglot serve` and strict providers."""
