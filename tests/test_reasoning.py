"""Reasoning returns to who thought it: whole and streamed, with a state and without one."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import wireglot

RULES = wireglot.packaged()
TURNS = 8
TOOL = {"type": "object", "properties": {"city": {"type": "string"}}}


class DeepSeek:
    """Answers turn after turn, and refuses a history without what it thought."""

    model = "deepseek-v4-pro"

    def __init__(self) -> None:
        self.said: dict[str, str] = {}  # what it thought, by the id of the call

    def check(self, body: dict[str, Any]) -> None:
        """Refuse as the API does, and what is not the very text."""
        called = [m for m in body["messages"] if m.get("tool_calls")]
        assert [m["tool_calls"][0]["id"] for m in called] == list(self.said)
        for message in called:
            thought = self.said[message["tool_calls"][0]["id"]]
            assert message.get("reasoning_content") == thought, message
        assert not any(m["role"] == "developer" for m in body["messages"])

    def answer(self, nth: int) -> dict[str, Any]:
        """Return the answer of a turn: thoughts, a text in some turns, a call."""
        name, thought = f"call_00_{nth}", f"Thought {nth}: the user asks.\n\nSo I ask, too."
        self.said[name] = thought
        args = json.dumps({"city": f"City {nth}"})
        call = {"id": name, "type": "function", "function": {"name": "weather", "arguments": args}}
        message = {
            "role": "assistant",
            "content": f"Let me see {nth}." if nth % 2 else "",
            "reasoning_content": thought,
            "tool_calls": [{"index": 0, **call}],
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
        return {
            "id": f"r{nth}",
            "object": "chat.completion",
            "created": 1,
            "model": self.model,
            "choices": [choice],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
        }

    def frames(self, nth: int) -> list[Any]:
        """Return the same, streamed as this API does: null where nothing is said."""
        whole = self.answer(nth)
        message = whole["choices"][0]["message"]
        call = message["tool_calls"][0]
        thought, args = message["reasoning_content"], call["function"]["arguments"]
        head = {**call, "function": {**call["function"], "arguments": ""}}
        deltas: list[dict[str, Any]] = [
            {"role": "assistant", "content": None, "reasoning_content": ""}
        ]
        deltas += [
            {"content": None, "reasoning_content": piece} for piece in (thought[:9], thought[9:])
        ]
        if message["content"]:
            deltas.append({"content": message["content"], "reasoning_content": None})
        deltas += [
            {"tool_calls": [head]},
            {"tool_calls": [{"index": 0, "function": {"arguments": args}}]},
        ]
        head = {key: whole[key] for key in ("id", "created", "model")}
        head["object"] = "chat.completion.chunk"
        out: list[Any] = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in deltas
        ]
        last = {"index": 0, "delta": {"content": ""}, "finish_reason": "tool_calls"}
        return [*out, {**head, "choices": [last], "usage": whole["usage"]}, "[DONE]"]


class Client:
    """What a client keeps of answers, and sends again."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.history: list[Any] = []
        self._user("Weather?")

    def _user(self, text: str) -> None:
        parts = {"role": "user", "parts": [{"text": text}]}
        plain = {"role": "user", "content": text}
        self.history.append(parts if self.dialect == "gemini" else plain)

    def request(self) -> dict[str, Any]:
        function: dict[str, Any] = {"name": "weather", "parameters": TOOL}
        body: dict[str, Any]
        tool: dict[str, Any]
        if self.dialect == "gemini":
            body = {"contents": self.history, "tools": [{"functionDeclarations": [function]}]}
        elif self.dialect == "anthropic":
            tool = {"name": "weather", "input_schema": TOOL}
            body = {"model": "any", "max_tokens": 999, "messages": self.history, "tools": [tool]}
        elif self.dialect == "openai-responses":
            tool = {"type": "function", "strict": False, **function}
            body = {"model": "any", "input": self.history, "tools": [tool]}
        else:
            tool = {"type": "function", "function": function}
            body = {"model": "any", "messages": self.history, "tools": [tool]}
        return copy.deepcopy(body)

    def take(self, answer: dict[str, Any]) -> None:
        """Keep an answer, and the results of its calls."""
        if self.dialect == "gemini":
            content = answer["candidates"][0]["content"]
            call = next(p["functionCall"] for p in content["parts"] if "functionCall" in p)
            result = {"name": call["name"], "response": {"output": "22"}}
            result |= {"id": call["id"]} if "id" in call else {}
            self.history += [content, {"role": "user", "parts": [{"functionResponse": result}]}]
        elif self.dialect == "anthropic":
            name = next(b["id"] for b in answer["content"] if b["type"] == "tool_use")
            block = {"type": "tool_result", "tool_use_id": name, "content": "22"}
            self.history.append({"role": "assistant", "content": answer["content"]})
            self.history.append({"role": "user", "content": [block]})
        elif self.dialect == "openai-responses":
            name = next(i["call_id"] for i in answer["output"] if i["type"] == "function_call")
            result = {"type": "function_call_output", "call_id": name, "output": "22"}
            self.history += [*answer["output"], result]
        else:
            message = answer["choices"][0]["message"]
            name = message["tool_calls"][0]["id"]
            result = {"role": "tool", "tool_call_id": name, "content": "22"}
            self.history += [message, result]

    def folded(self, frames: list[Any]) -> dict[str, Any]:
        """Put frames together; as the SDK of Chat does, with keys that it does not know."""
        answer: dict[str, Any] = wireglot.collect(frames, dialect=self.dialect)
        if self.dialect == "anthropic":
            for frame in frames:
                if "extra_content" in (block := frame.get("content_block", {})):
                    answer["content"][frame["index"]]["extra_content"] = block["extra_content"]
        if "chat" in self.dialect:
            choices = [c for f in frames if isinstance(f, dict) for c in f["choices"]]
            for call in (c for one in choices for c in one["delta"].get("tool_calls", ())):
                if "extra_content" in call:
                    held = answer["choices"][0]["message"]["tool_calls"][call["index"]]
                    held["extra_content"] = call["extra_content"]
        return answer

    def order(self, answer: dict[str, Any]) -> list[str]:
        """Return the kinds of parts that the client sees."""
        ir = RULES[self.dialect].read(answer, unit="response").ir
        return [part["type"] for part in ir["candidates"][0]["parts"]]


CLIENTS = ("anthropic", "openai-responses", "gemini", "openai-chat", "chat-compatible")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("kept", [True, False], ids=["state", "stateless"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", ["deepseek", "openai-chat"])
def test_what_deepseek_thought_returns(
    client: str, kept: bool, streamed: bool, provider: str
) -> None:
    deepseek, side = DeepSeek(), Client(client)
    state: Any = {} if kept else None
    for nth in range(TURNS):
        x = wireglot.exchange(client, provider, deepseek.model, state=state)
        if client == provider:
            return  # nothing is converted
        out = x.request(side.request(), stream=streamed)
        deepseek.check(out.body)
        if streamed:
            t = x.translator()
            frames = [new for frame in deepseek.frames(nth) for new in t.feed(frame)]
            answer = side.folded(frames + t.finish())
        else:
            answer = x.response(deepseek.answer(nth)).body
        seen = side.order(answer)
        if client != "openai-chat":
            assert seen[0] == "reasoning"
        assert seen[-1] == "tool_call"
        side.take(answer)
        state = x.state if kept else None
    assert len(deepseek.said) == TURNS


@pytest.mark.parametrize(
    ("model", "there"), [("deepseek-v4-pro", True), ("deepseek-reasoner", False)]
)
def test_the_variants_say_what_goes_back(model: str, there: bool) -> None:
    side = Client("anthropic")
    x = wireglot.exchange("anthropic", "deepseek", model)
    x.request(side.request())
    side.take(x.response(DeepSeek().answer(0)).body)
    message = x.request(side.request()).body["messages"][1]
    assert ("reasoning_content" in message) == there


def test_a_text_is_filled_in_where_the_key_must_be() -> None:
    side = Client("openai-chat")
    side.take(DeepSeek().answer(0))
    del side.history[1]["reasoning_content"]
    out = wireglot.convert(side.request(), "openai-chat", "deepseek")
    assert out.body["messages"][1]["reasoning_content"] == ""
    assert "filled-in" in {note.code for note in out.notes}


def signed(model: str) -> dict[str, Any]:
    """An answer of Gemini, signed by one of its models."""
    call = {"functionCall": {"id": "c1", "name": "weather", "args": {}}, "thoughtSignature": "c2ln"}
    parts = [{"text": "Hm.", "thought": True}, call]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "modelVersion": model, "responseId": "r1"}


@pytest.mark.parametrize("kept", [True, False], ids=["state", "stateless"])
@pytest.mark.parametrize(
    ("first", "then", "known"),
    [
        ("gemini-3-pro", "gemini-3-pro", True),
        ("gemini-3-pro", "gemini-3.5-flash", True),
        ("gemini-2.5-pro", "gemini-3-pro", False),
        ("other", "gemini-3-pro", False),
    ],
)
def test_a_switch_of_model_drops_foreign_signatures(
    first: str, then: str, known: bool, kept: bool
) -> None:
    side = Client("openai-chat")
    state: Any = {} if kept else None
    x = wireglot.exchange("openai-chat", "gemini", first, state=state)
    x.request(side.request())
    side.take(x.response(signed(f"{first}-001")).body)
    y = wireglot.exchange("openai-chat", "gemini", then, state=x.state if kept else None)
    out = y.request(side.request())
    thought, call = out.body["contents"][1]["parts"]
    assert thought == {"text": "Hm.", "thought": True}  # the text of it goes on
    assert (call.get("thoughtSignature") == "c2ln") == known
    assert ("foreign-signature" in {note.code for note in out.notes}) == (not known)


def test_who_is_not_known_to_have_signed_is_the_dialect() -> None:
    side = Client("openai-chat")
    x = wireglot.exchange("openai-chat", "gemini", state={})
    x.request({k: v for k, v in side.request().items() if k != "model"})
    answer = signed("")
    del answer["modelVersion"]
    side.take(x.response(answer).body)
    y = wireglot.exchange("openai-chat", "gemini", "gemini-3-pro", state=x.state)
    out = y.request(side.request())
    assert out.body["contents"][1]["parts"][1]["thoughtSignature"] == "c2ln"


@pytest.fixture(scope="module", params=[("direct", True), ("other", False)], ids=str)
def hosts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[wireglot.RuleSet, bool]:
    """Two hosts of one family of models, as small rule files, and whether `cloud` reads both."""
    reads, known = request.param
    folder, head = tmp_path_factory.mktemp("hosts"), "wireglot: 2\nextends: anthropic\n"
    (folder / "direct.yaml").write_text(f"{head}dialect: direct\n")
    (folder / "other.yaml").write_text(f"{head}dialect: other\n")
    (folder / "cloud.yaml").write_text(f"{head}dialect: cloud\nsignatures: {{of: {reads}}}\n")
    return wireglot.load_rules(str(folder)), known


def thought_of_claude() -> dict[str, Any]:
    """An answer of a host of Claude: a signed thought, and a call."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
    about = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5"}
    usage = {"input_tokens": 3, "output_tokens": 2}
    ends = {"stop_reason": "tool_use", "stop_sequence": None, "usage": usage}
    return {**about, "content": [thought, call], **ends}


@pytest.mark.parametrize("kept", [True, False], ids=["state", "stateless"])
@pytest.mark.parametrize("client", ["openai-chat", "gemini", "openai-responses"])
def test_hosts_share_signatures_where_the_rules_say_so(
    hosts: tuple[wireglot.RuleSet, bool], client: str, kept: bool
) -> None:
    (rules, known), side = hosts, Client(client)
    x = rules.exchange(client, "direct", "claude-opus-5", state={} if kept else None)
    x.request(side.request())
    side.take(x.response(thought_of_claude()).body)
    state = x.state if kept else None
    # The cloud spells the name of the model otherwise; it is of the same row.
    out = rules.exchange(client, "cloud", "eu.claude-opus-5-v1", state=state).request(
        side.request()
    )
    found = [b for b in out.body["messages"][1]["content"] if "signature" in b]
    assert [b["signature"] for b in found] == (["c2ln"] if known else [])
    assert ("foreign-signature" in {note.code for note in out.notes}) == (not known)
    home = rules.exchange(client, "direct", "claude-opus-5", state=state).request(side.request())
    assert home.body["messages"][1]["content"][0]["signature"] == "c2ln"


CLAUDE = "anthropic.claude-opus-5"
HOSTS = ("anthropic", "bedrock-anthropic", "vertex-anthropic", "bedrock-converse")


@pytest.mark.parametrize("kept", [True, False], ids=["state", "stateless"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", HOSTS)
@pytest.mark.parametrize("client", HOSTS[:3])
def test_claude_signs_for_all_its_hosts(
    client: str, provider: str, streamed: bool, kept: bool
) -> None:
    if client == provider:
        return  # nothing is converted
    side = Client("anthropic")
    ask = wireglot.convert(side.request(), "anthropic", client).body
    x = wireglot.exchange(client, provider, CLAUDE, state={} if kept else None)
    x.request(ask, stream=streamed)
    answer = wireglot.convert(thought_of_claude(), "anthropic", provider, unit="response").body
    if streamed:
        t = x.translator()
        told = [new for frame in wireglot.frames(answer, provider) for new in t.feed(frame)]
        seen = wireglot.collect(told + t.finish(), client)
    else:
        seen = x.response(answer).body
    assert seen["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    history = [*ask["messages"], {"role": "assistant", "content": seen["content"]}]
    for host in HOSTS:  # the same one, or where a gateway turns to when it fails
        y = wireglot.exchange(client, host, CLAUDE, state=x.state if kept else None)
        out = y.request({**ask, "messages": history})
        assert '"c2ln"' in json.dumps(out.body["messages"][1])
        assert "foreign-signature" not in {note.code for note in out.notes}
    if kept:  # a client that dropped the thought
        calls = {"role": "assistant", "content": seen["content"][1:]}
        out = wireglot.exchange(client, provider, CLAUDE, state=x.state).request(
            {**ask, "messages": [*ask["messages"], calls]}
        )
        assert '"c2ln"' in json.dumps(out.body["messages"][1])


@pytest.mark.parametrize("early", ["b2xk", "", None])
@pytest.mark.parametrize("client", ["anthropic", "gemini", "openai-chat"])
@pytest.mark.parametrize("thoughts", [["Hm."], ["Hm.", "So."], []])
def test_the_last_seal_of_a_stream_counts(
    client: str, early: str | None, thoughts: list[str]
) -> None:
    """Responses seals an item when it begins, with nothing in it yet, and once more at its end."""
    side = Client(client)
    texts = [{"type": "summary_text", "text": text} for text in thoughts]
    thought = {"type": "reasoning", "id": "rs_1", "summary": texts, "encrypted_content": "bGFzdA"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather"}
    call |= {"arguments": "{}", "status": "completed"}
    about = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.4"}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    answer = {**about, "status": "completed", "output": [thought, call], "usage": usage}
    x = wireglot.exchange(client, "openai-responses", "gpt-5.4")
    x.request(side.request(), stream=True)
    t, told = x.translator(), []
    for frame in copy.deepcopy(list(wireglot.frames(answer, "openai-responses"))):
        item = frame.get("item", {})
        if frame["type"] == "response.output_item.added" and item["type"] == "reasoning":
            item["encrypted_content"] = early
        told += t.feed(frame)
    side.take(side.folded(told + t.finish()))
    out = wireglot.exchange(client, "openai-responses", "gpt-5.4").request(side.request())
    seals = [i["encrypted_content"] for i in out.body["input"] if i.get("type") == "reasoning"]
    assert "bGFzdA" in seals and early not in seals


@pytest.mark.parametrize("said", ["Hi.", " ", ""])
def test_a_text_that_the_client_does_not_see_keeps_no_seal_away(said: str) -> None:
    """It comes whole and without a word: Anthropic has no block for it, and the call is next."""
    side = Client("anthropic")
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA"}
    text = {"type": "output_text", "text": said, "annotations": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather"}
    items = [thought, message | {"status": "completed"}, call | {"arguments": "{}"}]
    about = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.4"}
    end = about | {"status": "completed", "output": items}
    x = wireglot.exchange("anthropic", "openai-responses", "gpt-5.4")
    x.request(side.request(), stream=True)
    t = x.translator()
    told = t.feed({"type": "response.created", "response": about | {"output": []}})
    for nth, item in enumerate(items):
        told += t.feed({"type": "response.output_item.done", "output_index": nth, "item": item})
    told += t.feed({"type": "response.completed", "response": end})
    side.take(side.folded(told + t.finish()))
    out = wireglot.exchange("anthropic", "openai-responses", "gpt-5.4").request(side.request())
    assert [i["encrypted_content"] for i in out.body["input"] if "encrypted_content" in i] == [
        "c2VhbA"
    ]


@pytest.mark.parametrize("dialect", ["kimi", "openrouter", "together"])
def test_a_text_that_is_put_before_one_that_repeats_is_noted(dialect: str) -> None:
    """What stands under the second key is read as the first again, where that says something."""
    details = [{"type": "reasoning.text", "text": ""}]
    said = {"role": "assistant", "reasoning_details": details, "reasoning_content": "Hm."}
    rules = RULES[dialect]
    ir = rules.read(said, "message").ir
    assert rules.write(ir, "message").body == said and not rules.write(ir, "message").notes
    ir["parts"][0]["text"] = "So."
    out = rules.write(ir, "message")
    assert out.body["reasoning_details"][0]["text"] == "So."
    assert [note.code for note in out.notes] == ["inconsistent"]


def test_a_second_key_repeats_what_stands_before_it_alone() -> None:
    """A thought among the content stands behind both keys, and is said by neither."""
    inside = {"type": "thinking", "thinking": [{"type": "text", "text": "So."}]}
    details = [{"type": "reasoning.text", "text": "Hm."}]
    said = {"role": "assistant", "reasoning_details": details, "reasoning_content": "Hm."}
    for given in ({**said, "content": [inside]}, {**said, "content": None}):
        rules = RULES["openai-chat"]
        out = rules.write(rules.read(given, "message").ir, "message")
        assert out.body == given and not out.notes
