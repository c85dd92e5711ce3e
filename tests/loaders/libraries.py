"""Load messages with the library that they are for, and print the calls and results that it finds.

    python libraries.py FILE

FILE is JSON, `{dialect: session}`. It runs in a virtual environment with these libraries, apart
from wireglot; `frameworks.py` makes both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Json = Any
Found = dict[str, Json]  # {"calls": [[id, name, arguments]], "results": {id: whether it failed}}


def langchain(messages: Json) -> Found:
    from langchain_core.messages import messages_from_dict

    loaded = messages_from_dict(messages)
    calls = [[c["id"], c["name"], c["args"]] for m in loaded for c in getattr(m, "tool_calls", ())]
    results = {m.tool_call_id: m.status == "error" for m in loaded if m.type == "tool"}
    return {"calls": calls, "results": results}


def pydantic_ai(messages: Json) -> Found:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    loaded = ModelMessagesTypeAdapter.validate_python(messages)
    parts = [part for message in loaded for part in message.parts]
    calls = [p for p in parts if p.part_kind == "tool-call"]
    results = [p for p in parts if p.part_kind == "tool-return"]
    return {
        "calls": [[p.tool_call_id, p.tool_name, p.args_as_dict()] for p in calls],
        "results": {p.tool_call_id: p.outcome == "failed" for p in results},
    }


def chat(messages: Json) -> Found:
    """Look at Chat messages, where nothing says that a tool failed."""
    calls = [
        [call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])]
        for message in messages
        for call in message.get("tool_calls") or ()
    ]
    results = {m["tool_call_id"]: None for m in messages if m["role"] == "tool"}
    return {"calls": calls, "results": results}


def openai_agents(items: Json) -> Found:
    from agents.models.chatcmpl_converter import Converter

    return chat(Converter.items_to_messages(items))


def openai_finetune(row: Json) -> Found:
    """Hold a line against the types of a request; the lists in them are looked at as they go."""
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    adapter = TypeAdapter(ChatCompletionMessageParam)
    for message in row["messages"]:
        adapter.validate_python(message)
    return chat(row["messages"])


def hf_chat(row: Json) -> Found:
    """Render messages by each template of TRL that has tools; what is said must stand there.

    A picture is left out, for these are templates of texts.
    """
    from transformers.utils.chat_template_utils import render_jinja_template

    messages = [message for message in row["messages"] if isinstance(message["content"], str)]
    calls = [c["function"] for m in messages for c in m.get("tool_calls", ())]
    wanted = [text for call in calls for text in (call["name"], *call["arguments"].values())]
    wanted += [message["content"] for message in messages]
    rendered = {}
    for path in sorted(templates().glob("*.jinja")):
        text = path.read_text("utf-8")
        if "tool_calls" not in text or path.stem.endswith("_training"):
            continue
        try:
            (out,), _ = render_jinja_template(
                conversations=[messages], chat_template=text, bos_token="", eos_token=""
            )
        except Exception as error:  # a template says so of what it does not take
            rendered[path.stem] = f"refuses: {str(error)[:80]}"
            continue
        plain = out.replace("\\/", "/").replace("\\", "")
        lacks = [one for one in wanted if str(one).strip().replace("\\", "") not in plain]
        rendered[path.stem] = f"lacks {lacks}" if lacks else "whole"
    return {
        "calls": [[c["id"], c["function"]["name"], c["function"]["arguments"]]
                  for m in messages for c in m.get("tool_calls", ())],
        "results": {m["tool_call_id"]: None for m in messages if m["role"] == "tool"},
        "templates": rendered,
    }  # fmt: skip


def otel_genai(span: Json) -> Found:
    """Make each part by its class, which knows all keys; its JSON Schema takes any part."""
    from opentelemetry.util.genai import types

    known = {"text": types.Text, "reasoning": types.Reasoning, "tool_call": types.ToolCallRequest,
             "tool_call_response": types.ToolCallResponse, "blob": types.Blob}  # fmt: skip
    messages = span["gen_ai.input.messages"]
    for message in messages:
        parts = [known[part["type"]](**part) for part in message["parts"]]
        types.InputMessage(role=message["role"], parts=parts)
    parts = [part for message in messages for part in message["parts"]]
    calls = [p for p in parts if p["type"] == "tool_call"]
    return {
        "calls": [[p["id"], p["name"], p["arguments"]] for p in calls],
        "results": {p["id"]: None for p in parts if p["type"] == "tool_call_response"},
    }


def ag_ui(messages: Json) -> Found:
    from ag_ui.core import Message
    from pydantic import TypeAdapter

    loaded = TypeAdapter(list[Message]).validate_python(messages)
    assert all(not message.model_extra for message in loaded)
    calls = [call for m in loaded if m.role == "assistant" for call in m.tool_calls or ()]
    return {
        "calls": [[c.id, c.function.name, json.loads(c.function.arguments)] for c in calls],
        "results": {m.tool_call_id: m.error is not None for m in loaded if m.role == "tool"},
    }


def atif(trajectory: Json) -> Found:
    """Let Harbor validate a trajectory; it says in `extra` that a tool failed."""
    from harbor.utils.trajectory_validator import TrajectoryValidator

    validator = TrajectoryValidator()
    assert validator.validate(trajectory), validator.errors
    calls = [call for step in trajectory["steps"] for call in step.get("tool_calls", ())]
    results = [
        result
        for step in trajectory["steps"]
        for result in step.get("observation", {}).get("results", ())
    ]
    return {
        "calls": [[c["tool_call_id"], c["function_name"], c["arguments"]] for c in calls],
        "results": {
            one["source_call_id"]: one.get("extra", {}).get("tool_result_is_error", False)
            for one in results
        },
    }


adp = atif  # whose form it has now


def templates() -> Path:
    """Return the folder of TRL's templates; the package itself needs torch to be imported."""
    from importlib.util import find_spec

    spec = find_spec("trl")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "chat_templates"


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    found = {name: globals()[name.replace("-", "_")](body) for name, body in given.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
