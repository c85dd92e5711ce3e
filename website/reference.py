"""The page of the Python API: which public names stand under which heading.

The rest, signatures and docstrings, mkdocstrings takes from the code.
"""

from __future__ import annotations

import wireglot

ABOUT = (
    "Made of the docstrings and the annotations of the code. All names stand in `wireglot`. Bodies "
    "and frames are parsed JSON; paths are RFC 6901 pointers; times are seconds since 1970 where a "
    "clock gives them. What is wrong with a call, a payload or a rule file raises an error that is "
    "a `WireglotError`."
)
GROUPS: dict[str, tuple[str, ...]] = {
    "Converting": ("convert", "Conversion", "Note", "Envelope"),
    "Rule sets": ("packaged", "load_rules", "RuleSet", "DialectRules", "Reading", "LiveRules"),
    "Exchanges": ("exchange", "Exchange"),
    "Streams": (
        "translate",
        "atranslate",
        "collect",
        "frames",
        "text_stream",
        "Translator",
        "streaming.streams.Bytes",
        "TextStream",
    ),
    "Traces": ("Trace", "traces.Origin", "traces.Fate", "traces.Step"),
    "Policies": ("load_policy", "Policy"),
    "Diagnosis": ("repair.Diagnosis",),
    "Errors": ("WireglotError", "UsageError", "ConversionError", "PolicyError", "RuleError"),
    "Telling messages apart": ("has_tool_calls", "is_tool_result"),
}
MADE = frozenset(
    "RuleSet DialectRules Exchange Translator streaming.streams.Bytes TextStream Trace".split()
)
# Methods by which the modules of the engine speak to each other.
WITHIN = frozenset(
    "prepare_like rows rows_for at model_keys model_in begun opened grown closed failed".split()
)


def markdown() -> str:
    """Return the page as Markdown that mkdocstrings fills in."""
    named = {name for names in GROUPS.values() for name in names}
    more = tuple(sorted(set(wireglot.__all__) - named))
    groups = {**GROUPS, "More": more} if more else GROUPS
    hidden = ["!^_", *(f"!^{name}$" for name in sorted(WITHIN))]
    lines = ["# Python API", "", ABOUT, ""]
    for title, names in groups.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"::: wireglot.{name}", "    options:", f"      filters: {hidden}"]
            if name in MADE:  # by a function: how it is built says nothing to a caller
                lines += ["      merge_init_into_class: false", "      show_signature: true"]
            if name == "RuleSet":  # what it does with loaded rules stands in the class below it
                lines += ["      inherited_members: true"]
            lines += [""]
    return "\n".join(lines)
