"""Coding agents as they are, run before the gateway of the examples and strict providers."""
