"""The programs whose sessions we write, loading them: see `__main__.py`."""
