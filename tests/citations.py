"""Answers with every kind of citation, and what is left of each in the other dialects.

python -m tests.citations        print the table of docs/citations.md
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wireglot

Json = Any
PAGE = Path(__file__).parents[1] / "docs" / "citations.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
TARGETS = ("openai-chat", "openai-responses", "anthropic", "gemini", "vertex", "ollama")
# Signs of one, two, three and four bytes stand before, in and behind the cited piece.
BEFORE, CITED, BEHIND = "Aä€😀 ", "Züri 😀 hat Seen", ", said ä."
TEXT = BEFORE + CITED + BEHIND
START, STOP = len(BEFORE), len(BEFORE + CITED)
FROM, TO = len(BEFORE.encode()), len((BEFORE + CITED).encode())
URL, TITLE, QUOTE = "https://a.example/züri", "Zürich", "Zürich hat einen See."
PLACE = {"start_index": START, "end_index": STOP}
SUPPORT = {"segment": {"startIndex": FROM, "endIndex": TO, "text": CITED}}


def _chat(note: Json) -> Json:
    message = {"role": "assistant", "content": TEXT, "refusal": None, "annotations": [note]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [choice], "usage": usage}  # fmt: skip


def _responses(note: Json) -> Json:
    text = {"type": "output_text", "text": TEXT, "annotations": [note]}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [text]}  # fmt: skip
    usage = {
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    return {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [item],
            "status": "completed", "error": None, "incomplete_details": None, "usage": usage,
            "instructions": None, "parallel_tool_calls": True, "tool_choice": "auto",
            "tools": []}  # fmt: skip


def _anthropic(note: Json) -> Json:
    blocks = [
        {"type": "text", "text": BEFORE},
        {"type": "text", "text": CITED, "citations": [note]},
        {"type": "text", "text": BEHIND},
    ]
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks,
            "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip


def _gemini(more: Json) -> Json:
    content = {"role": "model", "parts": [{"text": TEXT}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [{"index": 0, "content": content, "finishReason": "STOP", **more}],
            "usageMetadata": usage, "modelVersion": "m", "responseId": "g"}  # fmt: skip


def _grounded(chunk: Json) -> Json:
    support = {**SUPPORT, "groundingChunkIndices": [0]}
    return _gemini({"groundingMetadata": {"groundingChunks": [chunk],
                                          "groundingSupports": [support]}})  # fmt: skip


_PAGE = {**PLACE, "url": URL, "title": TITLE}
_OF = {"cited_text": QUOTE, "document_index": 0, "document_title": TITLE}
_SOURCE = {"startIndex": FROM, "endIndex": TO, "uri": URL, "license": "mit"}
# By source and kind: an answer of which one piece is cited.
ANSWERS: dict[tuple[str, str], Json] = {
    ("openai-chat", "`url_citation`"): _chat({"type": "url_citation", "url_citation": _PAGE}),
    ("openai-responses", "`url_citation`"): _responses({"type": "url_citation", **_PAGE}),
    ("openai-responses", "`file_citation`"): _responses(
        {"type": "file_citation", "file_id": "file_1", "filename": TITLE, "index": STOP}
    ),
    ("openai-responses", "`container_file_citation`"): _responses(
        {"type": "container_file_citation", "container_id": "c", "file_id": "file_1",
         "filename": TITLE, **PLACE}
    ),
    ("openai-responses", "`file_path`"): _responses(
        {"type": "file_path", "file_id": "file_1", "index": 0}
    ),
    ("anthropic", "`web_search_result_location`"): _anthropic(
        {"type": "web_search_result_location", "cited_text": QUOTE, "url": URL, "title": TITLE,
         "encrypted_index": "e"}
    ),
    ("anthropic", "`search_result_location`"): _anthropic(
        {"type": "search_result_location", "cited_text": QUOTE, "source": URL, "title": TITLE,
         "search_result_index": 0, "start_block_index": 0, "end_block_index": 1}
    ),
    ("anthropic", "`char_location`"): _anthropic(
        {"type": "char_location", **_OF, "start_char_index": 0, "end_char_index": 21}
    ),
    ("anthropic", "`page_location`"): _anthropic(
        {"type": "page_location", **_OF, "start_page_number": 1, "end_page_number": 2}
    ),
    ("anthropic", "`content_block_location`"): _anthropic(
        {"type": "content_block_location", **_OF, "start_block_index": 0, "end_block_index": 1}
    ),
    ("gemini", "`web`"): _grounded({"web": {"uri": URL, "title": TITLE}}),
    ("gemini", "`maps`"): _grounded(
        {"maps": {"uri": URL, "title": TITLE, "text": QUOTE, "placeId": "places/1"}}
    ),
    ("gemini", "`image`"): _grounded(
        {"image": {"sourceUri": URL, "title": TITLE, "imageUri": "https://a.example/b.png"}}
    ),
    ("gemini", "`retrievedContext`"): _grounded(
        {"retrievedContext": {"uri": URL, "title": TITLE, "text": QUOTE}}
    ),
    ("gemini", "`citationSources`"): _gemini({"citationMetadata": {"citationSources": [_SOURCE]}}),
    ("vertex", "`citations`"): _gemini({"citationMetadata": {"citations": [_SOURCE]}}),
}  # fmt: skip
WORDS = {"url": "page", "title": "title", "quote": "quote", "file": "file"}


@functools.cache
def rules() -> Any:
    """Return the packaged rules."""
    return wireglot.load_rules()


def cited(body: Json, dialect: str) -> list[Json]:
    """Return the citations of an answer, each with the piece of the text that it is of."""
    ir = rules()[dialect].read(copy.deepcopy(body), unit="response").ir
    found = []
    for part in ir["candidates"][0]["parts"] if ir["candidates"] else ():
        for one in part.get("citations", ()):
            text = part["text"]
            start = one.get("start_index", 0)
            end = one.get("end_index", start if "start_index" in one else len(text))
            found.append({**one, "piece": text[start:end], "before": text[:start]})
    return found


def streamed(body: Json, source: str, target: str) -> tuple[list[Json], Any]:
    """Return the frames of an answer in another dialect, and who translated them."""
    translator = rules().translator(source=source, target=target)
    frames = list(rules().frames(copy.deepcopy(body), source))
    return [new for f in frames for new in translator.feed(f)] + translator.finish(), translator


def left(body: Json, source: str, target: str) -> str:
    """Say what is left of the one citation of an answer."""
    there = rules().convert(copy.deepcopy(body), source, target, "response").body
    known, found = cited(body, source)[0], cited(there, target)
    if not found:
        return "-"
    words = [word for key, word in WORDS.items() if key in known and found[0].get(key)]
    if found[0]["piece"] == known["piece"]:
        words.append("place")
    return ", ".join(words) or "-"


def table() -> Iterator[str]:
    """Write the table: a row for each kind of citation."""
    yield "| of | kind | " + " | ".join(f"to `{target}`" for target in TARGETS) + " |"
    yield "|---|---|" + "---|" * len(TARGETS)
    for (source, kind), body in ANSWERS.items():
        cells = ["all" if target == source else left(body, source, target) for target in TARGETS]
        yield f"| `{source}` | {kind} | " + " | ".join(cells) + " |"
    yield f"| `ollama` | none | {' | '.join('-' for _ in TARGETS)} |"


if __name__ == "__main__":
    print("\n".join(table()))
