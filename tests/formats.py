"""Payloads of the formats that the seeds describe, one of each unit."""

from __future__ import annotations

from typing import Any

PNG = "iVBORw0KGgo="
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}


def modular_prompt() -> dict[str, Any]:
    tool = {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}
    call = {
        "id": "c1",
        "name": "f",
        "arguments": {"city": "x", "n": [1, {}]},
        "metadata": {"thoughtSignature": "c2ln"},
    }
    result = {
        "type": "message",
        "role": "tool",
        "toolCallId": "c1",
        "name": "f",
        "kind": "data",
        "value": {"t": [1, None]},
    }
    assistant = {"type": "message", "role": "assistant", "content": "I look.", "toolCalls": [call]}
    messages = [
        {"type": "message", "role": "system", "content": "Be brief."},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                {"type": "file", "file": {"path": "/a.pdf", "mime_type": "application/pdf"}},
            ],
        },
        assistant,
        result,
        {"role": "assistant", "content": "It is."},
        {"role": "user", "content": "Well?", "name": "ann"},
    ]
    usage = {"promptTokens": 12, "completionTokens": 7, "totalTokens": 19}
    return {
        "request": {
            "mode": "chat",
            "temperature": 0.5,
            "maxTokens": 100,
            "topP": 0.9,
            "topK": 40,
            "stream": False,
            "tools": [tool],
            "toolChoice": {"name": "f"},
            "messages": messages,
            "reasoningEffort": "low",
        },
        "response": {
            "content": "I look.",
            "thinkingContent": "Hm.",
            "toolCalls": [call],
            "finishReason": "tool_calls",
            "usage": usage,
            "structuredOutput": {"a": 1},
        },
        "messages": messages,
        "message": assistant,
        "tools": [tool],
        "tool": tool,
        "tool_choice": {"name": "f"},
        "tool_call": call,
        "tool_result": result,
        "usage": usage,
    }


def modular_prompt_v1() -> dict[str, Any]:
    tool = {
        "type": "function",
        "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True},
    }
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"city":"x"}'}}
    result = {"role": "tool", "content": '{"t": 1}', "toolCallId": "c1", "name": "f"}
    assistant = {"role": "assistant", "content": "I look.", "toolCalls": [call]}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look."},
        assistant,
        result,
        {"role": "assistant", "content": "It is."},
    ]
    usage = {"promptTokens": 12, "completionTokens": 7, "totalTokens": 19}
    choice = {"type": "function", "function": {"name": "f"}}
    return {
        "request": {"tools": [tool], "toolChoice": choice, "messages": messages, "maxTokens": 100},
        "response": {
            "content": "",
            "toolCalls": [call],
            "finishReason": "tool_calls",
            "usage": usage,
        },
        "messages": messages,
        "message": assistant,
        "tools": [tool],
        "tool": tool,
        "tool_choice": choice,
        "tool_call": call,
        "tool_result": result,
        "usage": usage,
    }


def universal_tool() -> dict[str, Any]:
    call = {
        "id": "c1",
        "name": "f",
        "arguments": {"city": "x", "n": [1, {}]},
        "raw_context": {"signature": "c2ln", "origin": "gemini"},
    }
    image = {"type": "image", "media_type": "image/png", "data": PNG}
    result = {"tool_call_id": "c1", "name": "f", "result": {"code": 7}, "is_error": True}
    seen = {"tool_call_id": "c2", "name": "f", "result": "Seen.", "is_error": False}
    assistant = {
        "role": "assistant",
        "parts": [{"type": "text", "text": "I look."}, call, {**call, "id": "c2"}],
    }
    messages = [
        {"role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "text": "Look."}, image]},
        assistant,
        {"role": "tool", "parts": [result, seen | {"multimodal_parts": [image]}]},
    ]
    return {
        "request": {"messages": messages},
        "response": assistant,
        "messages": messages,
        "message": assistant,
        "tool_call": call,
        "tool_result": result,
    }


def agent_sdk() -> dict[str, Any]:
    tool = {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": '{"city": "x"}'},
        "provider_meta": {"signature": "c2ln", "origin": "gemini"},
    }
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    document = {"type": "document", "source": {"data": "AA==", "media_type": "application/pdf"}}
    result = {
        "role": "tool",
        "tool_call_id": "c1",
        "tool_name": "f",
        "content": [{"type": "text", "text": "No."}, image],
        "is_error": True,
        "output_ref": {"id": "r1", "byte_size": 9, "line_count": 2},
        "trimmed": True,
    }
    raw = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    turn = [
        {"role": "reasoning", "content": "Hm.", "raw_item": raw},
        {"role": "assistant", "content": "I look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    messages = [
        {"role": "system", "content": "Be brief.", "cache": True},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Look."}, image, document],
            "name": "ann",
            "meta": {"a": 1},
        },
        *turn,
        result,
        {"role": "assistant", "content": "Again.", "tool_calls": [{**call, "id": "c2"}]},
        {**result, "tool_call_id": "c2", "content": "ok"},
        {"role": "assistant", "content": None, "refusal": "No."},
    ]
    usage = {
        "input_tokens": 12,
        "input_cached_tokens": 4,
        "input_cache_creation_tokens": 2,
        "output_tokens": 7,
        "total_tokens": 19,
    }
    return {
        "request": {"messages": messages, "model": "m", "tools": [tool], "toolChoice": "f"},
        "response": {
            "messages": turn,
            "usage": {"model": "m", **usage},
            "stop_reason": "tool_use",
            "provider_meta": {"response_id": "r"},
        },
        "messages": messages,
        "message": messages[-1],
        "tools": [tool],
        "tool": tool,
        "tool_choice": "f",
        "tool_call": call,
        "tool_result": result,
        "usage": usage,
    }


BODIES: dict[str, dict[str, Any]] = {
    "modular-prompt": modular_prompt(),
    "modular-prompt-v1": modular_prompt_v1(),
    "universal-tool": universal_tool(),
    "agent-sdk": agent_sdk(),
}
