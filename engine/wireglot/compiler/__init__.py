"""The compiler: Python source for the requests of a pair of dialects, and what runs it."""
