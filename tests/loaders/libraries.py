"""Load messages with the library that they are for, and print the calls and results that it finds.

    python libraries.py FILE

FILE is JSON, `{dialect: session}`. It runs in a virtual environment with these libraries, apart
from wireglot; `frameworks.py` makes both.
"""

from __future__ import annotations

import enum
import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any

Json = Any
# {"calls": [[id, name, arguments]], "results": {id: whether it failed}}; where nothing has an id,
# the results are a list in the order of their calls.
Found = dict[str, Json]


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


def ag_ui_events(streams: Json) -> dict[str, list[str]]:
    """Return what the types have against the events of streams, by the names of these."""
    from ag_ui.core import Event
    from pydantic import TypeAdapter, ValidationError

    adapter: Any = TypeAdapter(Event)
    found: dict[str, list[str]] = {name: [] for name in streams}
    for name, events in streams.items():
        for event in events:
            try:
                more = adapter.validate_python(event).model_extra
            except ValidationError as error:
                more = error
            if more:
                found[name].append(f"{event['type']}: {more}")
    return found


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


def sharegpt(row: Json) -> Found:
    """Let LLaMA-Factory align a row and take its calls apart; nothing in it has an id."""
    turns, formatter = aligned(row), factory("formatter")
    apart = formatter.FunctionFormatter(slots=["{{content}}"], tool_format="qwen")
    tags = {"thought_words": ("<think>\n", "\n</think>\n\n"),
            "tool_call_words": ("<tool_call>", "</tool_call>")}  # fmt: skip
    found = []
    for turn in turns:
        if turn["role"] == "function":
            [text] = apart.apply(content=turn["content"], **tags)
            found += factory("tool_utils").QwenToolUtils.tool_extractor(text)
    said = [turn["content"] for turn in turns if turn["role"] == "observation"]
    between = "\n</tool_response>\n<tool_response>\n"  # as its own converter of Chat joins them
    return {
        "calls": [[None, one.name, json.loads(one.arguments)] for one in found],
        "results": [None for text in said for _ in text.split(between)],
    }


def hermes(row: Json) -> Found:
    """Let LLaMA-Factory align a row, and its extractor for Qwen find the calls in the texts."""
    turns, tools = aligned(row, observation_tag="tool"), factory("tool_utils")
    calls, results = [], 0
    for turn in turns:
        found = tools.QwenToolUtils.tool_extractor(turn["content"])
        if turn["role"] == "assistant" and isinstance(found, list):
            calls += [[None, one.name, json.loads(one.arguments)] for one in found]
        if turn["role"] == "observation":
            results += turn["content"].count("<tool_response>")
    return {"calls": calls, "results": [None] * results}


def aligned(row: Json, **tags: str) -> list[Json]:
    """Return the turns of a row as LLaMA-Factory has them; it skips a row that it does not take."""
    values = {"messages": "conversations", "role_tag": "from", "content_tag": "value",
              "user_tag": "human", "assistant_tag": "gpt", "observation_tag": "observation",
              "function_tag": "function_call", "system_tag": "system", **tags}  # fmt: skip
    more = ("system", "tools", "images", "videos", "audios", "kto_tag", "ranking")
    attributes = types.SimpleNamespace(**dict.fromkeys(more), **values)
    made = factory("converter").SharegptDatasetConverter(attributes, None)(row)
    turns: list[Json] = [*made["_prompt"], *made["_response"]]
    assert turns, "LLaMA-Factory skips this row"
    return turns


class Role(enum.Enum):
    """The roles of turns, as LLaMA-Factory calls them."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    FUNCTION = "function"
    OBSERVATION = "observation"


def factory(name: str) -> Any:
    """Import a module of LLaMA-Factory's data; what imports torch in it says little, and is told.

    The package itself, and what it logs with, need torch to be imported.
    """
    root = next(Path(one) / "llamafactory" for one in sys.path
                if (Path(one) / "llamafactory").is_dir())  # fmt: skip
    logger = types.SimpleNamespace(warning_rank0=print)
    parts: dict[str, dict[str, Any]] = {
        "": {"__path__": [str(root)]},
        ".data": {"__path__": [str(root / "data")]},
        ".data.data_utils": {"Role": Role, "SLOTS": list},
        ".extras": {"logging": types.SimpleNamespace(get_logger=lambda _: logger)},
    }
    for part, values in parts.items():
        module = types.ModuleType(f"llamafactory{part}")
        module.__dict__.update(values)
        sys.modules.setdefault(module.__name__, module)
    return importlib.import_module(f"llamafactory.data.{name}")


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
