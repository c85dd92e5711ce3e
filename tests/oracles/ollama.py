"""The shapes of Ollama's bodies: the SDK's types, and beside them what its client is not typed for.

The server reads and writes a few keys that the SDK's models lack (they drop them); the API page and
the types of the server have them.
"""

from __future__ import annotations

from functools import cache

from wireglot.authoring.sdktypes import Field, Shape, Shapes


@cache
def request() -> Shape:
    """Give the shape of a request: messages and options are typed, though the SDK takes any map."""
    from ollama import _types as types

    build = Shapes({"Message.images", "ChatRequest.options"})
    shape = build.of(types.ChatRequest)
    message = build.of(types.Message)
    message.fields["images"] = _maybe(Shape("list", item=Shape("base64")))
    _talk(message)
    tool, function = build.of(types.Tool), build.of(types.Tool.Function)
    _more(tool, items="any")
    # What is no function with a name is no tool, though the SDK requires neither.
    tool.fields["type"] = _maybe(_word("function"))
    tool.fields["function"] = Field(function, True)
    function.fields["name"] = Field(Shape("text"), True)
    # Any keyword is taken here, and one that the server does not know is left unread.
    function.fields["parameters"] = _maybe(Shape("map", item=Shape("any")))
    options = build.of(types.Options)
    # JSON knows one kind of number: 40.0 is a whole one.
    whole = Shape("union", options=(Shape("integer"), Shape("number")))
    options.fields["top_k"] = _maybe(whole)
    _more(options, min_p="number", draft_num_predict="integer")
    shape.fields["messages"] = Field(Shape("list", item=message), True, ("messages",))
    shape.fields["options"] = _maybe(options)
    _more(shape, truncate="boolean", shift="boolean", _debug_render_only="boolean")
    return _named(shape)


@cache
def response() -> Shape:
    """Give the shape of a whole response."""
    from ollama import _types as types

    # The SDK types images in a response as an object that it makes itself; none are sent.
    build = Shapes({"Message.images"})
    shape = build.of(types.ChatResponse)
    message = build.of(types.Message)
    message.fields["role"] = Field(_word("assistant"), True)
    _talk(message)
    shape.fields["done"] = _maybe(Shape("words", words=(True,)))  # false: an event of a stream
    _more(build.of(types.Logprob), bytes="bytes")
    _more(build.of(types.TokenLogprob), bytes="bytes")
    _more(shape, remote_model="text", remote_host="text", _debug_info="any")
    return _named(shape)


def _talk(message: Shape) -> None:
    _more(message, tool_call_id="text")
    for call in _inside(message.fields["tool_calls"].shape):
        _more(call, id="text")
        call.fields["type"] = _maybe(_word("function"))
        _more(call.fields["function"].shape, index="integer")


def _more(shape: Shape, **kinds: str) -> None:
    for name, kind in kinds.items():
        inner = Shape("list", item=Shape("integer")) if kind == "bytes" else Shape(kind)  # type: ignore[arg-type]
        shape.fields.setdefault(name, _maybe(inner))


def _word(word: str) -> Shape:
    return Shape("words", words=(word,))


def _maybe(shape: Shape) -> Field:
    options = shape.options if shape.kind == "union" else (shape,)
    return Field(Shape("union", options=(*options, Shape("null"))), False)


def _inside(shape: Shape) -> list[Shape]:
    lists = [o for o in (shape.options or (shape,)) if o.kind == "list" and o.item is not None]
    return [entry.item for entry in lists if entry.item is not None]


def _named(shape: Shape) -> Shape:
    """Give every key its one spelling."""
    seen: list[Shape] = []
    stack = [shape]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.append(node)
        for name, entry in node.fields.items():
            entry.spellings = (name,)
            stack.append(entry.shape)
        stack += [*node.options, *([node.item] if node.item else [])]
    return shape
