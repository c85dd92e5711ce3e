"""Hold the rule files that come with wireglot."""
