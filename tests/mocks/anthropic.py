"""What Anthropic's Messages API refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .judge import At, Json, Judge, Refusal, each, fits, integer, like, subschemas, twice

NAME = "[a-zA-Z0-9_-]{1,128}"
ID = "[a-zA-Z0-9_-]+"
NEWEST = "2026-10-21"
PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
# Models that take system text among the messages, and those that take no first words of an answer.
INLINE_SYSTEM = ("claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-haiku-5",
                 "claude-fable-5", "claude-mythos-5")  # fmt: skip
NO_PREFILL = ("claude-opus-4-6", "claude-opus-4-7", "claude-sonnet-4-6", *INLINE_SYSTEM)
THOUGHTS = ("thinking", "redacted_thinking")
OF_ASSISTANT = (*THOUGHTS, "tool_use", "server_tool_use", "mcp_tool_use")
OF_USER = ("tool_result", "image", "document")
BLOCKS = (
    *OF_ASSISTANT,
    *OF_USER,
    "text",
    "search_result",
    "container_upload",
    "mcp_tool_result",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "tool_reference",
    "browser_state",
    "tool_addition",
    "tool_removal",
    "compaction",
)

RULES = {
    "model": ("model: Field required", "facts 3a"),
    "max_tokens": ("max_tokens: Field required", "facts 3a"),
    "messages": ("messages: at least one message is required", "facts 3a; bugs SY-03"),
    "role": (
        "{dotted}: Input should be 'user', 'assistant' or 'system'",
        "facts 3a; bugs SY-01, SY-02",
    ),
    "first": (
        'messages: first message must use the "user" role',
        "github langchain4j/langchain4j#940",
    ),
    "system-place": (
        "{dotted}: system messages must follow a user turn and be last or before an assistant turn",
        "facts 3a; bugs SY-02",
    ),
    "system-model": (
        "{dotted}: Input should be 'user' or 'assistant'",
        "facts 3a; bugs SY-02",
    ),
    "empty": (
        "{dotted}: all messages must have non-empty content except for the optional final "
        "assistant message",
        "bugs OR-17",
    ),
    "content": ("{dotted}: Input should be a valid string or list", "facts 3a"),
    "block": (
        "{dotted}: Input tag '{kind}' found using 'type' does not match any of the expected tags",
        "facts 3a",
    ),
    "block-role": (
        "{dotted}: `{kind}` blocks can only be in `{role}` messages",
        "facts 0.1, 3d, 3e",
    ),
    "empty-text": ("messages: text content blocks must be non-empty", "bugs OR-17"),
    "blank-text": ("messages: text content blocks must contain non-whitespace text", "bugs OR-17"),
    "text": ("{dotted}: Input should be a valid string", "facts 3a"),
    "last-thought": (
        "{dotted}: The final block in an assistant message cannot be `{kind}`.",
        "github tailcallhq/forgecode#3073, NousResearch/hermes-agent#16921",
    ),
    "trailing": (
        "messages: final assistant content cannot end with trailing whitespace",
        "bugs OR-09",
    ),
    "prefill": (
        "This model does not support assistant message prefill. The conversation must end with a "
        "user message.",
        "bugs OR-08; facts 3a",
    ),
    "citations": ("{dotted}: Extra inputs are not permitted", "facts 0.1"),
    "picture": (
        "{dotted}: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
        "bugs MM-04",
    ),
    "source": ("{dotted}: Field required", "facts 3a"),
    "call-id": ("{dotted}: String should match pattern '^[a-zA-Z0-9_-]+$'", "bugs ID-12"),
    "server-id": (
        "{dotted}: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
        "bugs ID-13",
    ),
    "same-id": ("{dotted}: `tool_use` ids must be unique", "github trycua/cua#524"),
    "call-name": ("{dotted}: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'", "facts 3i"),
    "input": ("{dotted}: Input should be a valid dictionary", "bugs AJ-01, AJ-15"),
    "unanswered": (
        "{dotted}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        "{id}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message.",
        "bugs ID-01; facts 3e",
    ),
    "orphan": (
        "{dotted}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each "
        "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
        "bugs ID-02",
    ),
    "answered-twice": (
        "{dotted}: each tool_use must have a single result. Found multiple `tool_result` blocks "
        "with id: {id}",
        "bugs ID-05",
    ),
    "results-first": (
        "{dotted}: Did not find {count} `tool_result` block(s) at the beginning of this message. "
        "Messages following `tool_use` blocks must begin with a matching number of `tool_result` "
        "blocks.",
        "bugs OR-01",
    ),
    "result-content": ("{dotted}: Input should be a valid list of blocks", "facts 3e"),
    "signature": ("{dotted}: Field required", "facts 3d; bugs RS-09"),
    "foreign-thought": ("{dotted}: Invalid `signature` in `thinking` block", "bugs RS-08"),
    "changed-thought": (
        "{dotted}: `thinking` or `redacted_thinking` blocks in the latest assistant message "
        "cannot be modified. These blocks must remain as they were in the original response.",
        "bugs OR-12",
    ),
    "redacted": ("{dotted}: Field required", "bugs RS-10"),
    "no-thought": (
        "{dotted}: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When "
        "`thinking` is enabled, a final `assistant` message must start with a thinking block.",
        "bugs RS-07",
    ),
    "tool-name": ("{dotted}: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'", "facts 3i"),
    "same-tool": ("tools: Tool names must be unique.", "facts 3h"),
    "no-schema": ("{dotted}: Field required", "facts 3b"),
    "schema-root": (
        "{dotted}: Input should be 'object'",
        "traffic anthropic/130ae6e4e4b8dd9f; bugs SD-15",
    ),
    "schema-any": (
        "{dotted}: input_schema does not support oneOf, allOf, or anyOf at the top level",
        "bugs SD-18",
    ),
    "schema-bool": (
        "tools.{number}.custom: For 'object' type, property 'properties' is not supported",
        "traffic anthropic/358b006d77630729",
    ),
    "schema-closed": (
        "tools.{number}.custom: For 'object' type, 'additionalProperties' must be explicitly set "
        "to false",
        "facts 3b",
    ),
    "choice": ("tool_choice: tool_choice may only be specified while providing tools", "facts 3c"),
    "choice-kind": ("tool_choice: Input tag does not match any of the expected tags", "facts 3c"),
    "choice-name": ("tool_choice: Tool '{name}' not found in provided tools", "facts 3c"),
    "choice-parallel": ("{dotted}: Extra inputs are not permitted", "facts 3c"),
    "choice-thinking": (
        "Thinking may not be enabled when tool_choice forces tool use.",
        "bugs TC-05",
    ),
    "budget": (
        "{dotted}: Input should be greater than or equal to 1024 and less than `max_tokens`",
        "facts 3a",
    ),
    "sampling": ("{dotted}: Extra inputs are not permitted", "facts 0.1"),
}


def refusals(
    body: Json,
    model: str | None = None,
    version: str | None = None,
    sent: Sequence[Json] | None = None,
) -> list[Refusal]:
    """Return what the API refuses; `sent` are the responses that it gave, where they are known."""
    judge = Judge(RULES)
    if not isinstance(body, dict):
        judge.tell("messages", ())
        return judge.found
    if "anthropic_version" not in body:  # another cloud has the model in the path
        if not isinstance(body.get("model"), str):
            judge.tell("model", ("model",))
        model = body.get("model", model)
    if not integer(body.get("max_tokens")) or body["max_tokens"] < 0:
        judge.tell("max_tokens", ("max_tokens",))
    if (version or NEWEST) >= NEWEST:
        for key in ("temperature", "top_p", "top_k"):
            if key in body:
                judge.tell("sampling", (key,))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        judge.tell("messages", ("messages",))
        messages = []
    for i, message in enumerate(messages):
        _message(judge, message, ("messages", i), i == len(messages) - 1, version or NEWEST)
    _roles(judge, messages, model)
    turns = _turns(messages)
    _pairs(judge, turns)
    _thinking(judge, body, turns, model)
    if sent is not None:
        _thoughts(judge, turns, sent)
    for i, block in each(body.get("system")):
        _text(judge, block, ("system", i), "system")
    _tools(judge, body)
    return judge.found


# -- messages ---------------------------------------------------------------------------------


def _message(judge: Judge, message: Json, at: At, last: bool, version: str) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ("user", "assistant", "system"):
        judge.tell("role", (*at, "role"))
        return
    content = message.get("content")
    spoken = last and role == "assistant"
    if isinstance(content, str):
        if not content and not spoken:
            judge.tell("empty", at)
        elif content and not content.strip() and role != "assistant":
            judge.tell("blank-text", (*at, "content"))
        if spoken and content != content.rstrip():
            judge.tell("trailing", (*at, "content"))
        return
    if not isinstance(content, list):
        judge.tell("content", (*at, "content"))
        return
    if not content and not spoken:
        judge.tell("empty", at)
    for j, block in enumerate(content):
        _block(judge, block, role, (*at, "content", j), version)
    final = content[-1] if content else None
    if spoken and isinstance(final, dict) and final.get("type") == "text":
        text = final.get("text")
        if isinstance(text, str) and text and text != text.rstrip():
            judge.tell("trailing", (*at, "content", len(content) - 1, "text"))


def _block(judge: Judge, block: Json, role: str, at: At, version: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in BLOCKS:
        judge.tell("block", at, kind=kind)
        return
    if role == "assistant" and kind in OF_USER:
        judge.tell("block-role", at, kind=kind, role="user")
    if role != "assistant" and kind in OF_ASSISTANT:
        judge.tell("block-role", at, kind=kind, role="assistant")
    if kind == "text":
        _text(judge, block, at, role)
        if role == "user" and block.get("citations") and version >= NEWEST:
            judge.tell("citations", (*at, "citations"))
    elif kind in ("image", "document"):
        _media(judge, block, at)
    elif kind == "tool_use":
        if not fits(ID, block.get("id")):
            judge.tell("call-id", (*at, "id"))
        if not fits(NAME, block.get("name")):
            judge.tell("call-name", (*at, "name"))
        if not isinstance(block.get("input"), dict):
            judge.tell("input", (*at, "input"))
    elif kind == "server_tool_use" and not fits("srvtoolu_[a-zA-Z0-9_]+", block.get("id")):
        judge.tell("server-id", (*at, "id"))
    elif kind == "tool_result":
        _result(judge, block, at)
    elif kind == "thinking":
        if not isinstance(block.get("signature"), str):
            judge.tell("signature", (*at, "signature"))
    elif kind == "redacted_thinking" and not block.get("data"):
        judge.tell("redacted", (*at, "data"))


def _text(judge: Judge, block: dict[str, Any], at: At, role: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        judge.tell("text", (*at, "text"))
    elif not text:
        judge.tell("empty-text", (*at, "text"))
    elif not text.strip() and role != "assistant":  # one is recorded that was taken
        judge.tell("blank-text", (*at, "text"))


def _media(judge: Judge, block: dict[str, Any], at: At) -> None:
    source = block.get("source")
    if not isinstance(source, dict) or "type" not in source:
        judge.tell("source", (*at, "source"))
    elif block["type"] == "image" and source["type"] == "base64":
        if source.get("media_type") not in PICTURES:
            judge.tell("picture", (*at, "source", "media_type"))


def _result(judge: Judge, block: dict[str, Any], at: At) -> None:
    if not fits(ID, block.get("tool_use_id")):
        judge.tell("call-id", (*at, "tool_use_id"))
    content = block.get("content", "")
    if not isinstance(content, str | list):
        judge.tell("result-content", (*at, "content"))
    for i, inner in enumerate(content if isinstance(content, list) else ()):
        kind = inner.get("type") if isinstance(inner, dict) else None
        if kind == "text":
            if not isinstance(inner.get("text"), str):
                judge.tell("text", (*at, "content", i, "text"))
        elif kind in ("image", "document"):
            _media(judge, inner, (*at, "content", i))
        elif kind not in ("search_result", "tool_reference", "browser_state"):
            judge.tell("result-content", (*at, "content", i))


def _roles(judge: Judge, messages: list[Any], model: str | None) -> None:
    roles = [m.get("role") if isinstance(m, dict) else None for m in messages]
    if roles and roles[0] == "assistant":
        judge.tell("first", ("messages", 0, "role"))
    for i, role in enumerate(roles):
        if role != "system":
            continue
        at: At = ("messages", i, "role")
        if model is not None and not like(model, *INLINE_SYSTEM):
            judge.tell("system-model", at)
        after = roles[i + 1] if i + 1 < len(roles) else "assistant"
        if i == 0 or roles[i - 1] == "system" or after != "assistant":
            judge.tell("system-place", at)
    if roles and roles[-1] == "assistant" and like(model, *NO_PREFILL):
        judge.tell("prefill", ("messages", len(roles) - 1))


Turn = tuple[str, list[tuple[dict[str, Any], At]]]


def _turns(messages: list[Any]) -> list[Turn]:
    """Return the turns as the API sees them: neighbours of one role are one."""
    turns: list[Turn] = []
    for i, message in each(messages):
        role, content = str(message.get("role")), message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        blocks: list[tuple[dict[str, Any], At]] = [
            (b, ("messages", i, "content", j)) for j, b in each(content)
        ]
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    return turns


def _pairs(judge: Judge, turns: list[Turn]) -> None:
    asked: dict[Any, At] = {}
    for role, blocks in turns:
        if role == "assistant":
            _unanswered(judge, asked)
            calls = [(b, at) for b, at in blocks if b.get("type") == "tool_use"]
            asked = {b.get("id"): at for b, at in calls if isinstance(b.get("id"), str)}
            for _, at in twice([(b.get("id"), at) for b, at in calls]):
                judge.tell("same-id", (*at, "id"))
            continue
        if role != "user":
            continue
        answered: set[Any] = set()
        other: At | None = None
        late: At | None = None
        for block, at in blocks:
            if block.get("type") != "tool_result":
                other = other or at
                continue
            key = block.get("tool_use_id")
            if other is not None:
                late = late or at
            if isinstance(key, str) and key in asked:
                del asked[key]
                answered.add(key)
            elif isinstance(key, str) and key in answered:
                judge.tell("answered-twice", (*at, "tool_use_id"), id=key)
            else:
                judge.tell("orphan", (*at, "tool_use_id"), id=key)
        if late is not None:
            judge.tell("results-first", late, count=1)
        _unanswered(judge, asked)
        asked = {}
    _unanswered(judge, asked)


def _unanswered(judge: Judge, asked: dict[Any, At]) -> None:
    for key, at in asked.items():
        judge.tell("unanswered", at, id=key)


# -- thinking ---------------------------------------------------------------------------------


def _thinking(judge: Judge, body: dict[str, Any], turns: list[Turn], model: str | None) -> None:
    for role, blocks in turns:
        if role == "assistant" and blocks and blocks[-1][0].get("type") in THOUGHTS:
            judge.tell("last-thought", blocks[-1][1], kind=blocks[-1][0]["type"])
    thinking = body.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    choice = body.get("tool_choice")
    if isinstance(thinking, dict) and kind == "enabled":
        budget: Any = thinking.get("budget_tokens")
        top = body.get("max_tokens")
        if not integer(budget) or budget < 1024 or (integer(top) and budget >= top):
            judge.tell("budget", ("thinking", "budget_tokens"))
        if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
            judge.tell("choice-thinking", ("tool_choice",))
        # In the loop of one turn the model goes on from what it thought.
        users = [i for i, (role, blocks) in enumerate(turns) if role == "user" and _spoke(blocks)]
        for role, blocks in turns[(users[-1] if users else 0) :][:2]:
            if role == "assistant" and blocks and blocks[0][0].get("type") not in THOUGHTS:
                if any(b.get("type") == "tool_use" for b, _ in blocks):
                    judge.tell("no-thought", blocks[0][1], kind=blocks[0][0].get("type"))


def _spoke(blocks: list[tuple[dict[str, Any], At]]) -> bool:
    return any(block.get("type") != "tool_result" for block, _ in blocks)


def _thoughts(judge: Judge, turns: list[Turn], sent: Sequence[Json]) -> None:
    """Thoughts are those that were sent; the latest are all there, in their order."""
    given = [[b for b in r.get("content", ()) if b.get("type") in THOUGHTS] for r in sent]
    known = [thought for thoughts in given for thought in thoughts]
    speakers = [blocks for role, blocks in turns if role == "assistant"]
    for blocks in speakers:
        for block, at in blocks:
            if block.get("type") in THOUGHTS and not any(_same(block, one) for one in known):
                judge.tell("foreign-thought", at)
    if not speakers:
        return
    latest = [b for b, _ in speakers[-1] if b.get("type") in THOUGHTS]
    ids = {b.get("id") for b, _ in speakers[-1] if b.get("type") == "tool_use"}
    for response, thoughts in zip(sent, given, strict=True):
        calls = {b.get("id") for b in response.get("content", ()) if b.get("type") == "tool_use"}
        if ids and calls == ids and latest:
            same = len(latest) == len(thoughts)
            if not same or not all(map(_same, latest, thoughts)):
                judge.tell("changed-thought", speakers[-1][0][1])


def _same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    keys = ("type", "thinking", "signature", "data")
    return all(one.get(key) == two.get(key) for key in keys)


# -- tools ------------------------------------------------------------------------------------


def _tools(judge: Judge, body: dict[str, Any]) -> None:
    names: list[tuple[Json, At]] = []
    tools = body.get("tools")
    for i, tool in each(tools):
        if tool.get("type") not in (None, "custom"):
            continue
        if not fits(NAME, tool.get("name")):
            judge.tell("tool-name", ("tools", i, "name"), dotted=f"tools.{i}.custom.name")
        names.append((tool.get("name"), ("tools", i, "name")))
        at: At = ("tools", i, "input_schema")
        place = f"tools.{i}.custom.input_schema"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict):
            judge.tell("no-schema", at, dotted=place)
            continue
        if schema.get("type") != "object":
            judge.tell("schema-root", (*at, "type"), dotted=f"{place}.type")
        for key in ("oneOf", "allOf", "anyOf"):
            if key in schema:
                judge.tell("schema-any", (*at, key), dotted=place)
        if tool.get("strict") is True:
            _strict(judge, schema, at, i)
    for _, again in twice(names):
        judge.tell("same-tool", again)
    choice = body.get("tool_choice")
    if choice is None:
        return
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind not in ("auto", "any", "tool", "none"):
        judge.tell("choice-kind", ("tool_choice",))
    elif not tools:
        judge.tell("choice", ("tool_choice",))
    elif kind == "none" and "disable_parallel_tool_use" in choice:
        judge.tell("choice-parallel", ("tool_choice", "disable_parallel_tool_use"))
    elif kind == "tool" and choice.get("name") not in [t.get("name") for _, t in each(tools)]:
        judge.tell("choice-name", ("tool_choice", "name"), name=choice.get("name"))


def _strict(judge: Judge, schema: Json, at: At, number: int) -> None:
    for node, place in subschemas(schema, at):
        if isinstance(node, bool):
            judge.tell("schema-bool", place, number=number)
        elif isinstance(node, dict) and node.get("type") == "object":
            if node.get("additionalProperties") is not False:
                judge.tell("schema-closed", place, number=number)


def body_of(refusal: Refusal) -> Json:
    """Return the error body that the API answers with."""
    return {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": refusal.text},
        "request_id": "req_mock",
    }
