"""What the official SDKs make of frames: their types, and their own accumulators."""

from __future__ import annotations

import functools
import json
import warnings
from importlib.util import find_spec
from typing import Any

from pydantic import TypeAdapter, ValidationError

from .oracles import bedrock

warnings.filterwarnings("ignore")


def accepted(frames: list[Any], body: Any, dialect: str) -> str:
    """Return what an SDK has against the frames of a stream; an empty text if it takes them."""
    checks = {"openai-chat": _openai, "openai-responses": _responses, "anthropic": _anthropic,
              "ollama": _ollama, "mistral": _mistral, "cohere": _cohere,
              "bedrock-converse": _bedrock, "gemini-interactions": _interactions}  # fmt: skip
    check = checks.get(dialect, _gemini)
    try:
        return check(frames, body)
    except (ValidationError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        return f"SDK: {type(error).__name__}: {error}"[:300]


def _openai(frames: list[Any], body: Any) -> str:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    chunk = TypeAdapter(ChatCompletionChunk)
    state: Any = ChatCompletionStreamState()
    for i, frame in enumerate(frames):
        if frame == "[DONE]":
            if i != len(frames) - 1:
                return "[DONE] is not last"
            continue
        state.handle_chunk(chunk.validate_python(frame))
    if not body["choices"]:
        return ""
    made = state.current_completion_snapshot
    message = made.choices[0].message
    want = body["choices"][0]
    if (message.content or "") != (want["message"].get("content") or ""):
        return "the SDK has another text"
    calls = [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or []]
    meant = [
        (c["id"], c["function"]["name"], c["function"]["arguments"])
        for c in want["message"].get("tool_calls", [])
        if c["type"] == "function"
    ]
    if [c[:2] for c in calls] != [c[:2] for c in meant]:
        return "the SDK has other calls"
    if [_loads(c[2]) for c in calls] != [_loads(c[2]) for c in meant]:
        return "the SDK has other arguments"
    if made.choices[0].finish_reason != want["finish_reason"]:
        return "the SDK stopped otherwise"
    usage = body.get("usage")
    if usage and (made.usage is None or made.usage.total_tokens != usage["total_tokens"]):
        return "the SDK counts otherwise"
    return ""


def _responses(frames: list[Any], body: Any) -> str:
    """Fold as `client.responses.stream` does; its result is the response that the end says."""
    from openai import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.responses import ResponseStreamEvent

    event = _adapter(ResponseStreamEvent)
    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    if wrong := brackets(frames):
        return wrong
    for frame in frames:
        state.handle_event(event.validate_python(frame))
    last = frames[-1]
    if last["type"] not in ("response.completed", "response.incomplete", "response.failed"):
        return f"{last['type']} is last"
    items = [f["item"] for f in frames if f["type"] == "response.output_item.done"]
    if items != last["response"]["output"]:
        return "the items are other ones at the end"
    snapshot = state._ResponseStreamState__current_snapshot
    if last["type"] == "response.completed" and state._completed_response is None:
        return "the SDK has no response"
    made = [_shown(item.to_dict()) for item in snapshot.output]
    if made != [_shown(item) for item in items]:
        return "the SDK has other items from the pieces"
    if _meant(items) != _meant(body["output"]):
        return "the whole has other texts or calls"
    usage = body.get("usage")
    if usage and last["response"]["usage"]["total_tokens"] != usage["total_tokens"]:
        return "the SDK counts otherwise"
    return "" if last["response"]["status"] == body["status"] else "it stopped otherwise"


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return what checks a type of an SDK; some take long to be made."""
    return TypeAdapter(kind)


def _shown(item: Any) -> Any:
    """Return what the SDK keeps of an item from its pieces."""
    text = [(p["type"], p.get("text")) for p in item.get("content") or ()]
    return item["type"], item.get("call_id"), item.get("name"), text, item.get("arguments")


def _meant(items: list[Any]) -> Any:
    """Return the text and the calls of items; what stands around a call may be two texts."""
    text = [p.get("text") or p.get("refusal") or "" for i in items for p in i.get("content") or ()]
    calls = [
        (i["call_id"], i["name"], _loads(i["arguments"]) if "arguments" in i else i["input"])
        for i in items
        if i["type"] in ("function_call", "custom_tool_call")
    ]
    return "".join(text), calls


def brackets(frames: list[Any]) -> str:
    """Return what is wrong with the order: each item and part is opened and closed once."""
    items: dict[int, Any] = {}
    parts: dict[tuple[int, int], str] = {}
    for nth, frame in enumerate(frames):
        if frame.get("sequence_number") != nth:
            return "the numbers do not rise by one"
        word, item = frame["type"].removeprefix("response."), frame.get("output_index")
        inner = frame.get("content_index", frame.get("summary_index"))
        if word == "output_item.added":
            if item != len(items) or any(open for open in items.values()):
                return "an item begins out of order"
            items[item] = frame["item"].get("id") or True
        elif item is not None and not items.get(item):
            return f"{word} is of an item that is not open"
        elif "item_id" in frame and frame["item_id"] != items[item]:
            return f"{word} is of another item"
        elif word.endswith("part.added"):
            if (item, inner) in parts or "open" in parts.values():
                return "a part begins out of order"
            parts[item, inner] = "open"
        elif word.endswith("part.done"):
            if parts.get((item, inner)) != "open":
                return "a part ends that is not open"
            parts[item, inner] = "over"
        elif word == "output_item.done":
            if "open" in parts.values():
                return "an item ends before its part"
            items[item] = None
        elif inner is not None and parts.get((item, inner)) != "open":
            return f"{word} is of a part that is not open"
    return "something is not closed" if any(items.values()) else ""


def _loads(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError:
        return text


def _anthropic(frames: list[Any], body: Any) -> str:
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import Message, RawMessageStreamEvent

    event: Any = TypeAdapter(RawMessageStreamEvent)
    snapshot: Any = None
    buffers: Any = {}
    if wrong := blocks(frames):
        return wrong
    for frame in frames:
        if frame.get("type") in ("ping", "error"):
            continue
        one = event.validate_python(frame)
        snapshot = accumulate_event(event=one, current_snapshot=snapshot, json_bufs=buffers)
    want = TypeAdapter(Message).validate_python(body)
    made = [b.model_dump(exclude_none=True) for b in snapshot.content]
    meant = [b.model_dump(exclude_none=True) for b in want.content]
    broken = any("_unparsed" in (b.get("input") or {}) for b in meant)
    if not broken and _merged(made) != _merged(meant):
        return "the SDK has other blocks"
    if snapshot.stop_reason != want.stop_reason:
        return "the SDK stopped otherwise"
    if snapshot.usage.output_tokens != want.usage.output_tokens:
        return "the SDK counts otherwise"
    return ""


def _merged(blocks: list[Any]) -> list[Any]:
    return [b for b in blocks if b != {"type": "text", "text": ""}]


def blocks(frames: list[Any]) -> str:
    """Return what is wrong with the order of blocks: each is opened and closed once, in order."""
    opened, nth = None, -1
    for frame in frames:
        kind = frame.get("type")
        if kind == "content_block_start":
            if opened is not None or frame["index"] != nth + 1:
                return "a block begins out of order"
            opened = nth = frame["index"]
        elif kind == "content_block_delta" and frame["index"] != opened:
            return "a delta is of a block that is not open"
        elif kind == "content_block_stop":
            if frame["index"] != opened:
                return "a block ends that is not open"
            opened = None
    return "a block is not closed" if opened is not None else ""


def _gemini(frames: list[Any], body: Any) -> str:
    from google.genai import types

    calls: list[Any] = []
    texts = {False: "", True: ""}  # of the answer, of thoughts
    counts = None
    for frame in frames:
        one = types.GenerateContentResponse.model_validate(frame)
        counts = one.usage_metadata or counts
        for part in _google_parts(one):
            if part.function_call is not None:
                calls.append(part.function_call)
            elif part.text:
                texts[bool(part.thought)] += part.text
    want = types.GenerateContentResponse.model_validate(body)
    meant = _google_parts(want)
    if calls != [p.function_call for p in meant if p.function_call is not None]:
        return "the SDK has other calls"
    for thought, text in texts.items():
        said = (p.text or "" for p in meant if bool(p.thought) == thought)
        if text != "".join(said):
            return "the SDK has another text"
    said_counts = want.usage_metadata
    if said_counts and counts != said_counts:
        return "the SDK counts otherwise"
    return ""


def _google_parts(response: Any) -> list[Any]:
    """Return the parts of the first candidate."""
    for one in response.candidates or ():
        if not one.index:
            return list((one.content and one.content.parts) or ())
    return []


def _cohere(frames: list[Any], body: Any) -> str:
    if find_spec("cohere") is None:
        return ""
    from cohere import V2ChatStreamResponse

    event = _adapter(V2ChatStreamResponse)
    for frame in frames:
        event.validate_python(frame)
    return "" if frames[-1]["type"] == "message-end" else "the end is not last"


def _mistral(frames: list[Any], body: Any) -> str:
    if find_spec("mistralai") is None:
        return ""
    from mistralai.client.models import CompletionChunk

    for frame in frames[:-1]:
        CompletionChunk.model_validate(frame)
    return "" if frames[-1] == "[DONE]" else "[DONE] is not last"


def _bedrock(frames: list[Any], body: Any) -> str:
    """Let botocore's parser read the frames, binary, and add up what its user would."""
    if told := bedrock.heard(frames):
        return f"botocore: {told[0]}"
    calls: dict[int, Any] = {}
    said = ""
    last: dict[str, Any] = {}
    for frame in frames:
        ((name, data),) = frame.items()
        last[name] = data
        at, delta = data.get("contentBlockIndex"), data.get("delta", {})
        if "toolUse" in data.get("start", {}):
            calls[at] = {**data["start"]["toolUse"], "input": ""}
        elif "toolUse" in delta:
            calls[at]["input"] += delta["toolUse"]["input"]
        said += delta.get("text", "")
    content = body["output"]["message"]["content"]
    made = [(c["toolUseId"], c["name"], _loads(c["input"])) for c in calls.values()]
    meant = [b["toolUse"] for b in content if "toolUse" in b]
    broken = any("_unparsed" in call["input"] for call in meant)
    if not broken and made != [(c["toolUseId"], c["name"], c["input"]) for c in meant]:
        return "the SDK has other calls"
    texts = [b.get("citationsContent", {}).get("content", [b])[0].get("text", "") for b in content]
    if said != "".join(texts):
        return "the SDK has another text"
    if last["messageStop"]["stopReason"] != body["stopReason"]:
        return "the SDK stopped otherwise"
    counts = last["metadata"]["usage"]
    return "" if counts == body["usage"] else "the SDK counts otherwise"


def _interactions(frames: list[Any], body: Any) -> str:
    """Add up the steps, as the SDK's user would: it has types for frames and folds none."""
    from google.genai._gaos.types.interactions import InteractionSSEEvent

    event = _adapter(InteractionSSEEvent)
    steps: list[Any] = []
    texts, calls, opened = "", [], None
    for frame in frames[:-1]:
        kind = event.validate_python(frame).event_type
        if kind == "UNKNOWN":
            return "the SDK does not know a frame"
        if kind == "step.start":
            if opened is not None or frame["index"] != len(steps):
                return "a step begins out of order"
            opened = frame["index"]
            steps.append(frame["step"])
            if frame["step"]["type"] == "function_call":
                calls.append([frame["step"]["id"], frame["step"]["name"], ""])
        elif kind.startswith("step.") and frame["index"] != opened:
            return f"{kind} is of a step that is not open"
        elif kind == "step.stop":
            opened = None
        elif kind == "step.delta":
            texts += frame["delta"].get("text", "")
            if frame["delta"]["type"] == "arguments_delta":
                calls[-1][2] += frame["delta"]["arguments"]
    meant = [s for s in body["steps"] if s["type"] == "function_call"]
    broken = any("_unparsed" in call["arguments"] for call in meant)
    made = [(*call[:2], _loads(call[2])) for call in calls]
    if not broken and made != [(c["id"], c["name"], c["arguments"]) for c in meant]:
        return "the SDK has other calls"
    blocks = [b for s in body["steps"] if s["type"] == "model_output" for b in s.get("content", ())]
    if texts != "".join(b.get("text", "") for b in blocks):
        return "the SDK has another text"
    last = frames[-2]["interaction"]
    if (last["status"], last.get("usage")) != (body["status"], body.get("usage")):
        return "the SDK stopped or counts otherwise"
    return "" if frames[-1] == "[DONE]" and opened is None else "[DONE] is not last"


def _ollama(frames: list[Any], body: Any) -> str:
    import ollama

    made = [ollama.ChatResponse.model_validate(frame) for frame in frames]
    want = ollama.ChatResponse.model_validate(body)
    for key in ("content", "thinking"):
        said = "".join(one.message.get(key) or "" for one in made)
        if said != (want.message.get(key) or ""):
            return f"the SDK has another {key}"
    calls = [call for one in made for call in one.message.tool_calls or ()]
    if calls != list(want.message.tool_calls or ()):
        return "the SDK has other calls"
    for key in ("prompt_eval_count", "eval_count", "done_reason"):
        if want.get(key) is not None and made[-1].get(key) != want.get(key):
            return f"the SDK has another {key}"
    return ""
