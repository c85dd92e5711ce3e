"""Traces: which leaf of the output came from which of the input, and what became of each."""
