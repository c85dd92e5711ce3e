"""Judge conversions from outside: nothing here looks at the engine's own bookkeeping but notes."""
