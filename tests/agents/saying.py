"""Turns of the model in the words of the six wires, whole and as the frames of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wireglot.streaming import eventstream

from .talk import Answer, Call, Json

TIME = 1_790_000_000
COUNTS = (1200, 34)  # tokens of each answer, in and out


def pieces(text: str, size: int = 9) -> Iterator[str]:
    """Yield a text in pieces."""
    yield from (text[at : at + size] for at in range(0, len(text), size))


def _written(call: Call) -> str:
    # No text that a program would write: where the wire has text, it must come back as it is.
    return (
        call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, indent=1)
    )


def _sse(frame: Json, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    text = frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False)
    return f"{head}data: {text}\n\n".encode()


# -- Chat ------------------------------------------------------------------------------------------


def _chat_call(call: Call, freeform: bool) -> Json:
    if freeform:
        return {
            "id": call.id,
            "type": "custom",
            "custom": {"name": call.name, "input": _written(call)},
        }
    function = {"name": call.name, "arguments": _written(call)}
    return {"id": call.id, "type": "function", "function": function}


def _chat_usage() -> Json:
    sent, said = COUNTS
    return {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}


def chat(answer: Answer, thinks: str | None = None) -> Json:
    """Return an answer; `thinks` is the key of a thought."""
    message: Json = {"role": "assistant", "content": answer.text or None}
    if answer.thought and thinks:
        message[thinks] = answer.thought.text
    if answer.calls:
        message["tool_calls"] = [_chat_call(c, isinstance(c.arguments, str)) for c in answer.calls]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if answer.calls else "stop",
    }
    head = {"id": answer.id, "object": "chat.completion", "created": TIME, "model": answer.model}
    return {**head, "choices": [choice], "usage": _chat_usage()}


def chat_frames(answer: Answer, counts: bool = True, thinks: str | None = None) -> Iterator[bytes]:
    head = {
        "id": answer.id,
        "object": "chat.completion.chunk",
        "created": TIME,
        "model": answer.model,
    }

    def chunk(delta: Json, stop: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        return _sse({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": None if answer.thought else ""})
    for piece in pieces(answer.thought.text) if answer.thought else ():
        yield chunk({str(thinks): piece})
    for piece in pieces(answer.text):
        yield chunk({"content": piece})
    for nth, call in enumerate(answer.calls):
        whole = _chat_call(call, isinstance(call.arguments, str))
        inner, key = (
            (whole["custom"], "input") if "custom" in whole else (whole["function"], "arguments")
        )
        text, inner[key] = inner[key], ""
        yield chunk({"tool_calls": [{"index": nth, **whole}]})
        for piece in pieces(text):
            yield chunk({"tool_calls": [{"index": nth, whole["type"]: {key: piece}}]})
    yield chunk({}, "tool_calls" if answer.calls else "stop")
    if counts:
        yield _sse({**head, "choices": [], "usage": _chat_usage()})
    yield _sse("[DONE]")


# -- Responses -------------------------------------------------------------------------------------


def _items(answer: Answer) -> list[Json]:
    made: list[Json] = []
    tail = answer.id.rpartition("_")[2]
    if answer.thought:
        summary = [{"type": "summary_text", "text": answer.thought.text}]
        sealed = {"encrypted_content": answer.thought.signature}
        made.append({"id": f"rs_{tail}", "type": "reasoning", "summary": summary, **sealed})
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        head = {"id": f"msg_{tail}", "type": "message", "status": "completed", "role": "assistant"}
        made.append({**head, "content": [part]})
    for nth, call in enumerate(answer.calls):
        kind, key, prefix = "function_call", "arguments", "fc"
        if isinstance(call.arguments, str):
            kind, key, prefix = "custom_tool_call", "input", "ctc"
        said = {"call_id": call.id, "name": call.name, key: _written(call)}
        made.append({"id": f"{prefix}_{tail}{nth}", "type": kind, "status": "completed", **said})
    return made


def _response(answer: Answer, items: list[Json], over: bool) -> Json:
    sent, said = COUNTS
    usage = {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + said,
    }
    head = {"id": answer.id, "object": "response", "created_at": TIME, "model": answer.model}
    none: Json = {"error": None, "incomplete_details": None, "instructions": None, "tools": []}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "usage": usage if over else None}
    return {
        **head,
        **none,
        **rest,
        "status": "completed" if over else "in_progress",
        "output": items,
    }


def responses(answer: Answer) -> Json:
    return _response(answer, _items(answer), over=True)


def responses_frames(answer: Answer) -> Iterator[bytes]:
    number = 0

    def event(kind: str, **fields: Json) -> bytes:
        nonlocal number
        number += 1
        return _sse({"type": kind, "sequence_number": number - 1, **fields}, kind)

    yield event("response.created", response=_response(answer, [], over=False))
    yield event("response.in_progress", response=_response(answer, [], over=False))
    for nth, item in enumerate(_items(answer)):
        at = {"item_id": item["id"], "output_index": nth}
        opened: Json = {**item, "status": "in_progress"} if "status" in item else {**item}
        key = {"function_call": "arguments", "custom_tool_call": "input"}.get(item["type"])
        if item["type"] == "reasoning":
            opened |= {"summary": [], "encrypted_content": ""}
        elif key is None:
            opened["content"] = []
        else:
            opened[key] = ""
        yield event("response.output_item.added", output_index=nth, item=opened)
        if item["type"] == "reasoning":
            yield from _flowing(event, item["summary"][0], at, "reasoning_summary", "summary_index")
        elif key is None:
            yield from _flowing(event, item["content"][0], at, "output", "content_index")
        else:
            word = "function_call_arguments" if key == "arguments" else "custom_tool_call_input"
            for piece in pieces(item[key]):
                yield event(f"response.{word}.delta", **at, delta=piece)
            yield event(f"response.{word}.done", **at, **{key: item[key]})
        yield event("response.output_item.done", output_index=nth, item=item)
    yield event("response.completed", response=responses(answer))


def _flowing(event: Any, part: Json, at: Json, word: str, index: str) -> Iterator[bytes]:
    """Yield the events of a text within an item."""
    place = {**at, index: 0}
    whole = "content_part" if word == "output" else "reasoning_summary_part"
    more: Json = {"logprobs": []} if word == "output" else {}
    yield event(f"response.{whole}.added", **place, part={**part, "text": ""})
    for piece in pieces(part["text"]):
        yield event(f"response.{word}_text.delta", **place, delta=piece, **more)
    yield event(f"response.{word}_text.done", **place, text=part["text"], **more)
    yield event(f"response.{whole}.done", **place, part=part)


# -- Anthropic -------------------------------------------------------------------------------------


def anthropic(answer: Answer) -> Json:
    blocks: list[Json] = []
    if answer.thought:
        said = {"thinking": answer.thought.text, "signature": answer.thought.signature}
        blocks.append({"type": "thinking", **said})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    blocks += [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in answer.calls
    ]
    head = {"id": answer.id, "type": "message", "role": "assistant", "model": answer.model}
    stop = {"stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None}
    sent, said_ = COUNTS
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    usage = {"input_tokens": sent, **cached, "output_tokens": said_}
    return {**head, "content": blocks, **stop, "usage": usage}


def anthropic_frames(answer: Answer) -> Iterator[bytes]:
    def event(frame: Json) -> bytes:
        return _sse(frame, frame["type"])

    whole = anthropic(answer)
    usage = {**whole["usage"], "output_tokens": 1}
    none: Json = {"content": [], "stop_reason": None, "usage": usage}
    yield event({"type": "message_start", "message": {**whole, **none}})
    yield event({"type": "ping"})
    for nth, block in enumerate(whole["content"]):
        kind = block["type"]
        key = {"thinking": "thinking", "text": "text"}.get(kind, "input")
        empty: Json = {} if key == "input" else ""
        opened: Json = {**block, key: empty, **({"signature": ""} if kind == "thinking" else {})}
        yield event({"type": "content_block_start", "index": nth, "content_block": opened})
        word = {"thinking": "thinking", "text": "text"}.get(kind, "partial_json")
        name = {"partial_json": "input_json_delta"}.get(word, f"{word}_delta")
        text = block[key] if key != "input" else json.dumps(block["input"], ensure_ascii=False)
        deltas = [{"type": name, word: piece} for piece in pieces(text)]
        if kind == "thinking":
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        for delta in deltas:
            yield event({"type": "content_block_delta", "index": nth, "delta": delta})
        yield event({"type": "content_block_stop", "index": nth})
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": COUNTS[1]}})
    yield event({"type": "message_stop"})


# -- Gemini ----------------------------------------------------------------------------------------


def _chunk(answer: Answer, parts: list[Json], over: bool) -> Json:
    sent, said = COUNTS
    counts = {
        "promptTokenCount": sent,
        "candidatesTokenCount": said,
        "totalTokenCount": sent + said,
    }
    stop = {"finishReason": "STOP"} if over else {}
    candidate = {"content": {"role": "model", "parts": parts}, **stop, "index": 0}
    tail = {"modelVersion": answer.model, "responseId": answer.id}
    return {"candidates": [candidate], "usageMetadata": counts, **tail}


def _parts(answer: Answer) -> list[Json]:
    parts: list[Json] = []
    if answer.thought:
        parts.append({"text": answer.thought.text, "thought": True})
    if answer.text:
        parts.append({"text": answer.text})
    for call in answer.calls:
        given = {"id": call.id} if call.id else {}
        part: Json = {"functionCall": {**given, "name": call.name, "args": call.arguments}}
        parts.append({**part, "thoughtSignature": call.signature} if call.signature else part)
    return parts


def gemini(answer: Answer) -> Json:
    return _chunk(answer, _parts(answer), over=True)


def gemini_frames(answer: Answer) -> Iterator[bytes]:
    for part in _parts(answer):
        for piece in pieces(part["text"], 20) if "text" in part else ():
            yield _sse(_chunk(answer, [{**part, "text": piece}], over=False))
        if "text" not in part:
            yield _sse(_chunk(answer, [part], over=False))
    yield _sse(_chunk(answer, [{"text": ""}], over=True))


# -- Bedrock's Converse, whose events are binary ---------------------------------------------------


def converse(answer: Answer) -> Json:
    content: list[Json] = []
    if answer.thought:
        told = {"text": answer.thought.text, "signature": answer.thought.signature}
        content.append({"reasoningContent": {"reasoningText": told}})
    if answer.text:
        content.append({"text": answer.text})
    content += [
        {"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments}} for c in answer.calls
    ]
    stop = "tool_use" if answer.calls else "end_turn"
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": stop, **_converse_end()}


def _converse_end() -> Json:
    sent, said = COUNTS
    usage = {"inputTokens": sent, "outputTokens": said, "totalTokens": sent + said}
    return {"usage": usage, "metrics": {"latencyMs": 9}}


def converse_frames(answer: Answer) -> Iterator[bytes]:
    def line(name: str, data: Json) -> bytes:
        return eventstream.as_bytes({name: data})

    whole = converse(answer)
    yield line("messageStart", {"role": "assistant"})
    for nth, block in enumerate(whole["output"]["message"]["content"]):
        at = {"contentBlockIndex": nth}
        deltas: list[Json] = []
        if "toolUse" in block:
            call = block["toolUse"]
            start = {"toolUse": {"toolUseId": call["toolUseId"], "name": call["name"]}}
            yield line("contentBlockStart", {**at, "start": start})
            text = json.dumps(call["input"], ensure_ascii=False)
            deltas = [{"toolUse": {"input": piece}} for piece in pieces(text)]
        elif "text" in block:
            deltas = [{"text": piece} for piece in pieces(block["text"])]
        else:
            told = block["reasoningContent"]["reasoningText"]
            deltas = [{"reasoningContent": {"text": piece}} for piece in pieces(told["text"])]
            deltas.append({"reasoningContent": {"signature": told["signature"]}})
        for delta in deltas:
            yield line("contentBlockDelta", {**at, "delta": delta})
        yield line("contentBlockStop", at)
    yield line("messageStop", {"stopReason": whole["stopReason"]})
    yield line("metadata", _converse_end())


# -- Ollama ----------------------------------------------------------------------------------------


def _line(answer: Answer, message: Json, over: bool) -> Json:
    head = {"model": answer.model, "created_at": "2026-01-01T00:00:00.5Z"}
    counts = {"total_duration": 5, "prompt_eval_count": COUNTS[0], "eval_count": COUNTS[1]}
    end = {"done": True, "done_reason": "stop", **counts} if over else {"done": False}
    return {**head, "message": {"role": "assistant", "content": "", **message}, **end}


def _ollama_calls(answer: Answer) -> Json:
    return [
        {"id": c.id, "function": {"index": nth, "name": c.name, "arguments": c.arguments}}
        for nth, c in enumerate(answer.calls)
    ]


def ollama(answer: Answer) -> Json:
    message: Json = {"content": answer.text}
    if answer.thought:
        message["thinking"] = answer.thought.text
    if answer.calls:
        message["tool_calls"] = _ollama_calls(answer)
    return _line(answer, message, over=True)


def ollama_frames(answer: Answer) -> Iterator[bytes]:
    def line(message: Json, over: bool = False) -> bytes:
        return json.dumps(_line(answer, message, over), ensure_ascii=False).encode() + b"\n"

    for piece in pieces(answer.thought.text) if answer.thought else ():
        yield line({"thinking": piece})
    for piece in pieces(answer.text):
        yield line({"content": piece})
    for call in _ollama_calls(answer):
        yield line({"tool_calls": [call]})
    yield line({}, over=True)


WHOLE = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock-converse": converse,
    "ollama": ollama,
}
FRAMES = {
    "openai-chat": chat_frames,
    "openai-responses": responses_frames,
    "anthropic": anthropic_frames,
    "gemini": gemini_frames,
    "bedrock-converse": converse_frames,
    "ollama": ollama_frames,
}
