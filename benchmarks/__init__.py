"""Time conversions against hand-written converters: `python -m benchmarks`."""
