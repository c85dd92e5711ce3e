"""The interpreter: the meaning of the language, wire to IR and IR to wire."""
