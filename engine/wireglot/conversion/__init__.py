"""A payload as a whole: what reads it and what writes it, by functions and by the walk."""
