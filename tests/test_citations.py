"""Citations cross between all pairs, whole and streamed: the same piece, the same source."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import wireglot
from wireglot.language.lenses import byte_offset, character_offset

from . import citations
from .citations import ANSWERS, CITED, PAGE, START, STOP, TARGETS, URL, cited, left, rules, streamed
from .oracles import sdk
from .streamsdk import accepted

Json = Any
RULES = rules()
TRAFFIC = Path(__file__).parents[2] / "shared" / "traffic"
PAIRS = [(s, kind, t) for s, kind in ANSWERS for t in TARGETS if s != t]
SPANNED = ("openai-chat", "openai-responses", "gemini", "vertex")


def said(found: list[Json]) -> list[Json]:
    """Return what citations name, however the texts around them are put together."""
    return [(one.get("url"), one.get("title"), one.get("quote"), one["piece"]) for one in found]


def test_the_page_has_the_table() -> None:
    text = PAGE.read_text("utf-8")
    there = text.partition(citations.BEGIN)[2].partition(citations.END)[0]
    assert there.strip().splitlines() == list(citations.table()), "python -m tests.citations"


@pytest.mark.parametrize(("source", "kind", "target"), PAIRS)
def test_what_crosses_names_the_same_piece_and_what_does_not_is_noted(
    source: str, kind: str, target: str
) -> None:
    body = ANSWERS[source, kind]
    out = RULES.convert(copy.deepcopy(body), source, target, "response")
    assert list(sdk.problems(target, "response", out.body)) == []
    words, lost = left(body, source, target), [n for n in out.notes if n.effect == "lost"]
    if "place" in words:
        assert {one["piece"] for one in cited(out.body, target)} <= {CITED, ""}
    places = [n.source_path for n in lost if "itation" in n.source_path or "nnot" in n.source_path
              or "rounding" in n.source_path]  # fmt: skip
    known = set(citations.WORDS) & set(cited(body, source)[0])
    if len(words.split(", ")) < len(known) + 1:
        assert places, "a loss that nobody was told of"
    if target == "ollama":
        assert places and "citation" not in json.dumps(out.body)


@pytest.mark.parametrize(("source", "kind", "target"), PAIRS)
def test_a_stream_says_what_the_whole_answer_says(source: str, kind: str, target: str) -> None:
    body = ANSWERS[source, kind]
    whole = RULES.convert(copy.deepcopy(body), source, target, "response").body
    frames, translator = streamed(body, source, target)
    assert translator.result.body == whole
    assert (
        accepted(copy.deepcopy(frames), copy.deepcopy(whole), target) == ""
    )  # an SDK renames keys
    assert said(cited(RULES.collect(frames, target), target)) == said(cited(whole, target))
    short = RULES.translator(source=source, target=target, result=False)
    there = list(RULES.frames(copy.deepcopy(body), source))
    assert [new for f in there for new in short.feed(f)] + short.finish() == frames


LATE = {
    True: "this text was over when it was said what it cites; the whole response has that",
    False: "of texts that are over nothing is kept, so what they cite has no place",
}


@pytest.mark.parametrize("result", [True, False])
@pytest.mark.parametrize("target", TARGETS[:4])
def test_what_comes_when_its_text_is_written_is_noted(target: str, result: bool) -> None:
    chunk = {"web": {"uri": citations.URL, "title": citations.TITLE}}
    support = {"segment": {"endIndex": 5, "text": "Hello"}, "groundingChunkIndices": [0]}
    grounding = {"groundingChunks": [chunk], "groundingSupports": [support]}
    call = {"functionCall": {"name": "f", "args": {}}}
    steps: list[tuple[list[Any], dict[str, Any]]] = [
        ([{"text": "Hello"}], {}),
        ([call], {}),
        ([], {"finishReason": "STOP", "groundingMetadata": grounding}),
    ]
    t = RULES.translator(source="gemini", target=target, result=result)
    frames = []
    for parts, more in steps:
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, **more}
        frames += t.feed({"candidates": [candidate], "modelVersion": "m", "responseId": "r"})
    frames += t.finish()
    late = target in ("anthropic", "openai-responses") or (target == "openai-chat" and not result)
    assert (citations.URL in json.dumps(frames, ensure_ascii=False)) != late
    told = [n for n in t.notes if n.message == LATE[result]]
    assert [(n.code, n.effect) for n in told] == [("no-place", "lost")] * late
    if result:
        assert citations.URL in json.dumps(t.result.body, ensure_ascii=False)


def cohere(*texts: tuple[str, list[tuple[int, str]]]) -> list[Json]:
    """Return the frames of an answer of texts; each is cited, also others, when it is over."""
    head = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    frames: list[Json] = [{"type": "message-start", "id": "r", "delta": {"message": head}}]
    entry = 0
    for nth, (text, cites) in enumerate(texts):
        begun = {"content": {"type": "text", "text": text}}
        frames.append({"type": "content-start", "index": nth, "delta": {"message": begun}})
        frames.append({"type": "content-end", "index": nth})
        for part, piece in cites:
            source = {
                "type": "document",
                "id": "d",
                "document": {"url": f"https://a.example/{entry}"},
            }
            start = texts[part][0].index(piece)
            made = {"content_index": part, "start": start, "end": start + len(piece),
                    "text": piece, "sources": [source]}  # fmt: skip
            told = {"message": {"citations": made}}
            frames.append({"type": "citation-start", "index": entry, "delta": told})
            frames.append({"type": "citation-end", "index": entry})
            entry += 1
    usage = {"tokens": {"input_tokens": 1, "output_tokens": 1}}
    return [
        *frames,
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}},
    ]


@pytest.mark.parametrize(
    "target", ["openai-chat", "openai-responses", "bedrock-converse", "gemini"]
)
@pytest.mark.parametrize("late", [False, True])
def test_a_text_that_ended_is_cited_until_another_part_begins(target: str, late: bool) -> None:
    cites = [(1, "two"), (0, "on")] if late else [(1, "two")]
    t = RULES.translator(source="cohere", target=target)
    frames = [new for f in cohere(("one", [(0, "one")]), ("two", cites)) for new in t.feed(f)]
    frames += t.finish()
    whole, folded = t.result.body, RULES.collect(frames, target)
    missing = late and target in ("openai-responses", "bedrock-converse")
    assert json.dumps(whole).count("a.example") == 2 + late
    assert json.dumps(folded).count("a.example") == 2 + late - missing
    assert [n.code for n in t.notes if n.message == LATE[True]] == ["no-place"] * missing


def test_an_error_comes_behind_what_a_text_cites() -> None:
    frames = [*cohere(("one", [(0, "one")]))[:-1], {"message": "No."}]
    t = RULES.translator(source="cohere", target="openai-responses")
    made = [new for f in frames for new in t.feed(f)] + t.finish()
    kinds = [one["type"] for one in made]
    assert kinds.index("response.output_text.annotation.added") < kinds.index("error")


# -- what the SDKs have of it ---------------------------------------------------------------------


def pieces_of(target: str, body: Json) -> Iterator[tuple[str, str]]:
    """Yield address and piece of each citation of an answer, as the SDK's objects say them."""
    answer: Any
    if target == "openai-chat":
        from openai.types.chat import ChatCompletion

        answer = TypeAdapter(ChatCompletion).validate_python(body)
        message = answer.choices[0].message
        for note in message.annotations or ():
            page = note.url_citation
            yield page.url, message.content[page.start_index : page.end_index]
    elif target == "openai-responses":
        from openai.types.responses import Response

        answer = TypeAdapter(Response).validate_python(body)
        for part in (part for item in answer.output for part in item.content):
            for one in part.annotations:
                assert one.type == "url_citation"
                yield one.url, part.text[one.start_index : one.end_index]
    elif target == "anthropic":
        from anthropic.types import Message

        answer = TypeAdapter(Message).validate_python(body)
        for block in answer.content:
            for place in block.citations or ():
                assert place.type == "web_search_result_location"
                yield place.url, block.text
    else:
        from google.genai.types import GenerateContentResponse

        answer = GenerateContentResponse.model_validate(body)
        [candidate] = answer.candidates
        found = candidate.grounding_metadata
        for support in found.grounding_supports:
            part = candidate.content.parts[support.segment.part_index or 0]
            start, end = support.segment.start_index or 0, support.segment.end_index
            piece = part.text.encode()[start:end].decode()
            assert piece == support.segment.text
            for number in support.grounding_chunk_indices:
                yield found.grounding_chunks[number].web.uri, piece


def folded(target: str, frames: list[Json]) -> Json:
    """Return the answer that the SDK's own accumulator makes of frames."""
    if target == "openai-chat":
        from openai.lib.streaming.chat import ChatCompletionStreamState
        from openai.types.chat import ChatCompletionChunk

        state: Any = ChatCompletionStreamState()
        for frame in frames[:-1]:
            state.handle_chunk(TypeAdapter(ChatCompletionChunk).validate_python(frame))
        return state.current_completion_snapshot.model_dump()
    if target == "openai-responses":
        from openai import omit
        from openai.lib.streaming.responses._responses import ResponseStreamState
        from openai.types.responses import ResponseStreamEvent

        state = ResponseStreamState(input_tools=omit, text_format=omit)
        added = []
        for frame in frames:
            event: Any = TypeAdapter(ResponseStreamEvent).validate_python(frame)
            if event.type == "response.output_text.annotation.added":
                added.append(event.annotation)
            state.handle_event(event)
        made: Json = state._completed_response.model_dump()
        at_the_end = [one for item in made["output"] for part in item.get("content") or ()
                      for one in part.get("annotations") or ()]  # fmt: skip
        assert [one if isinstance(one, dict) else one.model_dump() for one in added] == at_the_end
        return made
    if target == "anthropic":
        from anthropic.lib.streaming._messages import accumulate_event
        from anthropic.types import RawMessageStreamEvent

        snapshot: Any = None
        buffers: Any = {}
        for frame in frames:
            one: Any = TypeAdapter(RawMessageStreamEvent).validate_python(frame)
            snapshot = accumulate_event(event=one, current_snapshot=snapshot, json_bufs=buffers)
        return snapshot.model_dump()
    from google.genai.types import GenerateContentResponse

    read = [GenerateContentResponse.model_validate(f).model_dump(by_alias=True) for f in frames]
    text = "".join(p["text"] for f in read for c in f.get("candidates") or ()
                   for p in (c.get("content") or {}).get("parts") or ())  # fmt: skip
    last = next(f for f in read if f["candidates"] and f["candidates"][0]["groundingMetadata"])
    last["candidates"][0]["content"]["parts"] = [{"text": text}]
    return last


PAGES = {
    "openai-chat": "`url_citation`",
    "openai-responses": "`url_citation`",
    "anthropic": "`web_search_result_location`",
    "gemini": "`web`",
}


@pytest.mark.parametrize("source", PAGES)
@pytest.mark.parametrize("target", [*PAGES, "vertex"])
@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_each_sdk_reads_the_page_and_the_piece(source: str, target: str, way: str) -> None:
    if source == target:
        return
    body = ANSWERS[source, PAGES[source]]
    if way == "whole":
        there = RULES.convert(copy.deepcopy(body), source, target, "response").body
    else:
        there = folded(target, streamed(body, source, target)[0])
    # Anthropic's blocks have no places: the whole of it is cited.
    piece = CITED if target in SPANNED else citations.TEXT
    assert list(pieces_of(target, there)) == [(URL, piece)]


# -- home ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "kind"), ANSWERS)
def test_home_gets_what_it_said(source: str, kind: str) -> None:
    body = ANSWERS[source, kind]
    read = RULES[source].read(copy.deepcopy(body), unit="response")
    kept = json.loads(json.dumps(read.ir))
    written = RULES[source].write(kept, unit="response")
    assert (written.body, written.notes, read.notes) == (body, (), ())
    assert RULES.collect(list(RULES.frames(copy.deepcopy(body), source)), source) == body


@pytest.mark.parametrize(("source", "kind"), ANSWERS)
def test_an_edit_is_not_undone_by_memory(source: str, kind: str) -> None:
    ir = RULES[source].read(copy.deepcopy(ANSWERS[source, kind]), unit="response").ir
    for part in ir["candidates"][0]["parts"]:
        for one in part.get("citations", ()):
            one["title"] = "Another"
    again = RULES[source].write(ir, unit="response").body
    if kind != "`file_path`":  # which has no name
        assert [one["title"] for one in cited(again, source)] == ["Another"]
    for part in ir["candidates"][0]["parts"]:
        part.pop("citations", None)
    assert cited(RULES[source].write(ir, unit="response").body, source) == []


@pytest.mark.parametrize("name", ["gemini", "anthropic", "openai-responses", "openai-chat"])
def test_recorded_answers_with_citations_come_home_and_cross(name: str) -> None:
    file = TRAFFIC / f"{name}.jsonl.gz"
    if not file.exists():
        pytest.skip("the recorded traffic is not here")
    found = 0
    with gzip.open(file, "rt") as lines:
        for line in lines:
            body = json.loads(line).get("response")
            named = any(word in line for word in ("itation", "rounding"))
            if not isinstance(body, dict) or not named:
                continue
            try:
                there = cited(body, name)
            except wireglot.ConversionError:
                continue  # an error, or no answer
            if not there:
                continue
            found += 1
            assert (
                RULES[name].write(RULES[name].read(body, unit="response").ir, unit="response").body
                == body
            )
            for one in there:
                if "url" in one and name == "openai-responses":
                    assert one["piece"].startswith("([") and one["piece"].endswith("))")
            for target in set(TARGETS[:5]) - {name}:
                out = RULES.convert(copy.deepcopy(body), name, target, "response")
                pages = [one["url"] for one in there if "url" in one]
                if target != "anthropic" and all("url" in one for one in there):
                    assert [one["url"] for one in cited(out.body, target)] == pages
    assert found >= {"gemini": 4, "anthropic": 4, "openai-responses": 2, "openai-chat": 0}[name]


# -- places that are not right --------------------------------------------------------------------


def grounded(parts: list[Json], *supports: Json, chunks: int = 1) -> Json:
    """Return an answer of Gemini whose supports name pages."""
    pages = [{"web": {"uri": f"https://a.example/{n}"}} for n in range(chunks)]
    meta = {"groundingChunks": pages, "groundingSupports": list(supports)}
    content = {"role": "model", "parts": parts}
    return {"candidates": [{"content": content, "groundingMetadata": meta,
                            "finishReason": "STOP"}]}  # fmt: skip


def support(numbers: list[int] | None = None, **segment: Json) -> Json:
    """Return a support; it names the first page where nothing else is said."""
    return {"segment": segment, "groundingChunkIndices": [0] if numbers is None else numbers}


@pytest.mark.parametrize(
    ("parts", "segment", "piece", "codes"),
    [
        (["äb c"], {"endIndex": 3}, "äb", []),
        (["äb c"], {"startIndex": 4, "endIndex": 5, "text": "c"}, "c", []),
        (["äb c"], {"startIndex": 1, "endIndex": 3}, "äb c", ["inconsistent"]),  # within a sign
        (["äb c"], {"startIndex": 0, "endIndex": 9}, "äb c", ["inconsistent"]),
        (["äb c"], {"startIndex": 3, "endIndex": 1}, "äb c", ["inconsistent"]),
        (["äb c"], {"startIndex": 6, "endIndex": 7, "text": "c"}, "c", ["inconsistent"]),
        (["äb c"], {"startIndex": 3, "endIndex": 4, "text": "x"}, " ", ["inconsistent"]),
        (["äb", "cd"], {"partIndex": 1, "startIndex": 1, "endIndex": 2}, "d", []),
        (["ab", "cd"], {"startIndex": 0, "endIndex": 2, "text": "cd"}, "cd", []),  # another part
        (["äb c"], {}, "äb c", []),
    ],
)
def test_bytes_of_a_part_become_characters_of_its_text(
    parts: list[str], segment: Json, piece: str, codes: list[str]
) -> None:
    body = grounded([{"text": text} for text in parts], support(**segment))
    out = RULES.convert(copy.deepcopy(body), "gemini", "openai-responses", "response")
    texts = [p for item in out.body["output"] for p in item["content"]]
    found = [(p["text"], a) for p in texts for a in p["annotations"]]
    assert [text[a["start_index"] : a["end_index"]] for text, a in found] == [piece]
    odd = [n for n in out.notes if n.code == "inconsistent"]
    assert [n.code for n in odd] == codes
    assert all("/groundingSupports/0/segment" in str(n.source_path) for n in odd)
    assert RULES.convert(copy.deepcopy(body), "gemini", "gemini", "response").body == body
    ir = RULES["gemini"].read(copy.deepcopy(body), unit="response").ir
    assert RULES["gemini"].write(ir, unit="response").body == body


def test_a_support_with_several_pages_is_several_citations_and_one_again() -> None:
    body = grounded([{"text": "ab"}], support([2, 0], startIndex=0, endIndex=2), chunks=3)
    out = RULES.convert(copy.deepcopy(body), "gemini", "openai-chat", "response")
    pages = [n["url_citation"]["url"] for n in out.body["choices"][0]["message"]["annotations"]]
    assert pages == ["https://a.example/2", "https://a.example/0"]
    lost = [n.source_path for n in out.notes if n.effect == "lost"]
    assert lost == ["/candidates/0/groundingMetadata/groundingChunks/1"]  # which nothing cites
    back = RULES.convert(out.body, "openai-chat", "gemini", "response").body["candidates"][0]
    assert [s["groundingChunkIndices"] for s in back["groundingMetadata"]["groundingSupports"]] == [
        [0, 1]
    ]


def test_a_number_of_no_page_is_noted() -> None:
    body = grounded([{"text": "ab"}], support([0, 7], endIndex=2))
    out = RULES.convert(copy.deepcopy(body), "gemini", "openai-chat", "response")
    assert len(out.body["choices"][0]["message"]["annotations"]) == 1
    where = "/candidates/0/groundingMetadata/groundingSupports/0/groundingChunkIndices"
    assert where in [n.source_path for n in out.notes if n.code == "inconsistent"]


def test_places_of_chat_are_of_all_texts_and_those_of_anthropic_of_none() -> None:
    body = ANSWERS["anthropic", "`web_search_result_location`"]
    out = RULES.convert(copy.deepcopy(body), "anthropic", "openai-chat", "response").body
    message = out["choices"][0]["message"]
    page = message["annotations"][0]["url_citation"]
    assert (page["start_index"], page["end_index"]) == (START, STOP)
    assert message["content"][START:STOP] == CITED
    back = RULES.convert(out, "openai-chat", "anthropic", "response")
    place = back.body["content"][0]["citations"][0]
    assert (place["encrypted_index"], place["cited_text"]) == ("", "")
    filled = [n.target_path for n in back.notes if n.code == "filled-in"]
    assert {f"/content/0/citations/0/{key}" for key in ("encrypted_index", "cited_text")} <= {
        *filled
    }


@pytest.mark.parametrize("text", ["", "abc", "äbc", "a€😀", "\ud800x"])
def test_bytes_and_characters_are_two_ways_to_say_one_place(text: str) -> None:
    for at in range(len(text) + 1):
        assert character_offset(text, byte_offset(text, at)) == at
    whole = len(text.encode(errors="surrogatepass"))
    assert character_offset(text, whole + 1) is None
    between = set(range(whole + 1)) - {byte_offset(text, at) for at in range(len(text) + 1)}
    assert all(character_offset(text, n) is None for n in between)


# -- histories -------------------------------------------------------------------------------------


def asked(source: str, kind: str) -> Json:
    """Return a request whose history has a cited answer, as an SDK sends it back."""
    body = copy.deepcopy(ANSWERS[source, kind])
    user = {"role": "user", "content": "And then?"}
    if source == "openai-chat":
        return {"model": "m", "messages": [user, body["choices"][0]["message"], user]}
    if source == "openai-responses":
        return {"model": "m", "input": [user, *body["output"], user]}
    turn = {"role": "assistant", "content": body["content"]}
    return {"model": "m", "max_tokens": 9, "messages": [user, turn, user]}


HISTORIES = [key for key in ANSWERS if key[0] not in ("gemini", "vertex")]


@pytest.mark.parametrize(("source", "kind"), HISTORIES)
def test_a_history_comes_home(source: str, kind: str) -> None:
    body = asked(source, kind)
    assert RULES.convert(copy.deepcopy(body), source, source).body == body
    ir = json.loads(json.dumps(RULES[source].read(copy.deepcopy(body)).ir))
    assert RULES[source].write(ir).body == body


@pytest.mark.parametrize(("source", "kind"), HISTORIES)
@pytest.mark.parametrize("target", TARGETS)
def test_a_history_has_its_citations_where_the_api_takes_them(
    source: str, kind: str, target: str
) -> None:
    if source == target:
        return
    out = RULES.convert(asked(source, kind), source, target)
    assert list(sdk.problems(target, "request", out.body)) == []
    ir = RULES[target].read(out.body).ir
    parts = [p for message in ir["messages"] for p in message["parts"]]
    found = [(p["text"], one) for p in parts for one in p.get("citations", ())]
    page = any("url" in one for one in cited(ANSWERS[source, kind], source))
    if target == "openai-responses" and page:
        [(text, one)] = found
        assert one["url"] == URL and text[one["start_index"] : one["end_index"]] == CITED
        return
    assert found == []
    where = ("/citations", "/annotations")
    lost = [n for n in out.notes if n.effect == "lost" and any(w in n.source_path for w in where)]
    assert lost, "citations that nobody was told of"


def test_what_needs_an_index_of_its_own_is_not_made_up() -> None:
    text = {"type": "text", "text": "ab", "citations": [{"url": URL, "title": "T"}]}
    ir = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "q"}]},
                       {"role": "assistant", "parts": [text]}]}  # fmt: skip
    out = RULES["anthropic"].write(ir)
    assert "citations" not in json.dumps(out.body)
    assert "no-place" in [n.code for n in out.notes]
    mine = {"url": URL, "quote": "q", "signature": {"value": "e", "origin": "anthropic"}}
    text["citations"] = [mine]
    block = RULES["anthropic"].write(ir).body["messages"][1]["content"][0]
    assert block["citations"][0]["encrypted_index"] == "e"


def test_what_perplexity_found_is_cited_by_all_of_its_answer() -> None:
    rules = wireglot.load_rules()
    urls = ["https://a.b/1", "https://a.b/2"]
    found = [{"url": url, "title": "T", "snippet": "w", "source": "web"} for url in urls]
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "sonar"}
    for more in ({"citations": urls, "search_results": found}, {"citations": urls}):
        frames: list[Json] = []
        for said, reason in (("It is ", None), ("so[1].", "stop")):
            choice = {"index": 0, "delta": {"role": "assistant", "content": said}}
            frames.append({**head, **more, "choices": [{**choice, "finish_reason": reason}]})
        for target in ("openai-chat", "openai-responses", "anthropic", "gemini"):
            t = rules.translator("perplexity", target)
            out = [one for frame in frames for one in t.feed(frame)] + t.finish()
            whole = rules.collect([one for one in out if isinstance(one, dict)], target)
            ir = rules[target].read(whole, "response").ir["candidates"][0]
            cited = [one for part in ir["parts"] for one in part.get("citations", ())]
            assert [one["url"] for one in cited] == urls, target


def test_a_whole_answer_that_is_cited_has_no_place_where_nothing_is_said_of_any() -> None:
    rules = wireglot.load_rules()
    for end, lost in ((2, []), (1, ["start_index", "end_index"])):
        page = {"start_index": 0, "end_index": end, "url": "u", "title": "t"}
        note = {"type": "url_citation", "url_citation": page}
        message = {"role": "assistant", "content": "Hi", "annotations": [note]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        out = rules.convert({**body, "choices": [choice]}, "openai-chat", "perplexity", "response")
        assert out.body["search_results"] == [{"url": "u", "title": "t"}]
        paths = [str(n.source_path).rpartition("/")[2] for n in out.notes if n.code == "no-place"]
        assert sorted(paths) == sorted(lost)
