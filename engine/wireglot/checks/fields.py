"""The fields of every object of the IR, and the words of its closed vocabularies, for the checks.

`docs/ir.md` describes them. A field maps to what it holds: `[NAME]` is a list of objects NAME, `*`
takes any fields below it, nothing is a plain value.
"""

from __future__ import annotations

import functools

from ..ir import FUNCTION, MEDIA, PARTS, ROLES, TOOLS, wire_type
from ..language.forms import Words
from ..language.valuewords import BOUNDS, LIMIT, NAMED, OTHERS

ANY = "*"
ASKED = 4096  # questions of a walk whose answers are remembered
_ASIDE = "type own:* kept:* spelled:* metadata:* cache:* signature:*"
_TEXTS: dict[str, str] = {
    "request": "model messages:[message] tools:[tool] system:[part] tool_choice:tool_choice "
    "parallel_tool_calls max_tokens temperature top_p top_k presence_penalty frequency_penalty "
    "stop seed n logprobs top_logprobs logit_bias:* reasoning:settings verbosity modalities "
    "metadata:* response_format:response_format service_tier user store stream",
    "tool_choice": "name freeform allowed mode",
    "settings": "effort budget mode display include",
    "response_format": "type name description schema:* strict",
    "message": "role parts:[part] level prefix name id time model usage:usage stop_reason "
    "citations:[cited] sources:[cited]",
    "session": "id start end cwd messages:[message]",
    # `role`: whose it is, where it stands beside what others say
    "text": "text citations:[cited] logprobs:[token] role",
    "cited": "url title quote file:* start_index end_index document_index search_result_index "
    "start_char end_char start_page end_page start_block end_block recited retrieved found_at "
    # where a wire says it of a whole answer
    "part_index text sources",
    "token": "token logprob bytes top:[token]",
    **dict.fromkeys(MEDIA, "source:source filename detail media_type"),
    "document": "source:source filename detail media_type context citable found_at",
    "source": "type media_type data url file:* text blocks:[part]",
    "reasoning": "text title redacted",
    "refusal": "text",
    "tool_call": "id name arguments:* arguments_json input arguments_text result:tool_result",
    "tool_result": "tool_call_id name kind value:[part] value_json media:[part] failed "
    "output_ref:* trimmed time freeform tools:[tool]",
    "search": "id arguments:* arguments_json arguments_text",
    "finding": "search_id results:[result] error",
    "result": "url title",
    "native": "name tools:[tool] domains blocked_domains max_uses location:location "
    "label description url authorization headers:* allowed",
    "location": "city region country timezone",
    "unknown": "dialect value:*",
    FUNCTION: "name description parameters:* output_schema:* strict",
    "custom": "name description format:format",
    "format": "kind syntax definition",
    "response": "id model created candidates:[candidate] candidate:candidate usage:usage",
    "candidate": "parts:[part] stop_reason stop_message stop_sequence index "
    "citations:[cited] sources:[cited] logprobs:[token] likely:[token]",
    "usage": "input cache_read cache_write output reasoning tool_input by:*",
    "error": "kind message http reason",
    "entry": "key value",
}
KINDS = PARTS | TOOLS


def _fields(text: str) -> dict[str, str]:
    pairs = (word.partition(":") for word in text.split())
    return {name: held for name, _, held in pairs}


OBJECTS: dict[str, dict[str, str]] = {
    name: _fields(f"{text} own:*" if name in ("entry", "source") else f"{text} {_ASIDE}")
    for name, text in _TEXTS.items()
}
for _made, _of in (("part", sorted(PARTS)), ("tool", [FUNCTION, "custom", "native"])):
    OBJECTS[_made] = {k: v for kind in _of for k, v in OBJECTS[kind].items()}
KEPT = frozenset("type own kept spelled metadata".split())
EVERY = frozenset(name for fields in OBJECTS.values() for name in fields)

WORDS: dict[tuple[str, str], frozenset[str]] = {
    ("message", "role"): frozenset(ROLES),
    ("text", "role"): frozenset(("system",)),
    ("message", "level"): frozenset(("developer",)),
    ("tool_result", "kind"): frozenset("text data error multimodal".split()),
    ("source", "type"): frozenset("base64 url file_id text blocks".split()),
    ("response_format", "type"): frozenset("text json json_schema".split()),
    ("format", "kind"): frozenset("text grammar".split()),
    ("tool_choice", "mode"): frozenset("auto required".split()),
    ("request", "tool_choice"): frozenset("auto none required".split()),
    ("settings", "effort"): frozenset("none minimal low medium high xhigh max".split()),
    ("candidate", "stop_reason"): frozenset(
        "end_turn tool_use max_tokens stop_sequence refusal content_filter pause context_full "
        "malformed_call error".split()
    ),
    ("error", "kind"): frozenset(
        "invalid_request authentication permission not_found rate_limit server overloaded "
        "timeout".split()
    ),
    ("error", "reason"): frozenset({"context_full"}),
}
WORDS[("message", "stop_reason")] = WORDS["candidate", "stop_reason"]
for _kind in (*sorted(PARTS), "part"):
    WORDS[_kind, "type"] = PARTS
WORDS["part", "kind"] = WORDS["tool_result", "kind"]
for _kind in (FUNCTION, "custom", "tool"):
    WORDS[_kind, "type"] = TOOLS
WORDS["native", "type"] = KINDS


_TOLD, _KINDS = ("filename", "title", "description"), (*PARTS, *TOOLS, FUNCTION)
# The texts that can have a limit, `KIND.FIELD`, beside names of tools and ids.
TEXTS = {f"{kind}.{field}" for kind in _KINDS for field in _TOLD if field in OBJECTS[kind]}
TEXTS |= {"message.name", "request.user", "response_format.name"}


@functools.cache
def limits() -> dict[str, Words]:
    """Return what can have a limit, with its words: names, ids, texts, fields of a request."""
    found = dict.fromkeys((*NAMED, *sorted(TEXTS)), LIMIT)
    found |= dict.fromkeys(sorted(MEDIA), BOUNDS["media"])
    for name, holds in sorted(OBJECTS["request"].items()):
        for path in (name, *(f"{name}.{below}" for below in OBJECTS.get(holds, ()))):
            kind = wire_type("request", path)
            if name not in KEPT and kind in ("list", "integer", "number"):
                found[path] = BOUNDS[kind]
    return found | {name: BOUNDS[name] for name in OTHERS}


@functools.lru_cache(ASKED)
def held_by(objects: frozenset[str], path: str) -> frozenset[str] | None:
    """Return what a dotted path holds in any of some objects, or None where none has it.

    The result names objects (`[NAME]` for their lists); ANY is among it where all is allowed.
    """
    now = objects
    for name in path.split("."):
        found: set[str] = set()
        for what in now:
            if what == ANY:
                found.add(ANY)
            elif name in OBJECTS.get(what, {}):
                found.add(OBJECTS[what][name])
        if not found:
            return None
        now = frozenset(found)
    return now


@functools.lru_cache(ASKED)
def field_names(objects: frozenset[str]) -> frozenset[str]:
    """Return the names of the fields of some objects, without those that the engine keeps."""
    return frozenset(name for what in objects for name in OBJECTS.get(what, {})) - KEPT


def object_names(what: frozenset[str] | None) -> frozenset[str]:
    """Return the objects that something holds, be it in a list."""
    return frozenset(name.strip("[]") for name in what or ())


def closed_words(objects: frozenset[str], name: str) -> frozenset[str] | None:
    """Return the words that a field of some objects may hold, or None where it may hold others."""
    said = [WORDS.get((what, name)) for what in objects]
    if not said or None in said:
        return None
    return frozenset[str]().union(*(one for one in said if one))
