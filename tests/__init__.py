"""Hold the tests of wireglot."""
