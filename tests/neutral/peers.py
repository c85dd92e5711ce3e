"""How each peer is asked (docs/cases.md): by its own routes and settings, without a network.

`litellm` and `rosetta` return a function for each unit: of a body, source, target and model.
"""

from __future__ import annotations

import copy
import json
import logging
import os
import warnings
from collections.abc import Callable
from typing import Any

Ask = Callable[[Any, str, str, str], Any]
# A peer routes by models, so a case's stand-in is one of the target's provider.
MODELS = {
    "openai-chat": "gpt-4o",
    "anthropic": "claude-opus-4-7",
    "gemini": "gemini-3-flash-preview",
}


def litellm() -> dict[str, Ask]:
    """Ask litellm for the raw request that it would send, and for answers by its adapters."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"
    import litellm as peer  # type: ignore[import-not-found,unused-ignore]
    from litellm.google_genai.adapters.transformation import (  # type: ignore[import-not-found,unused-ignore]
        GoogleGenAIAdapter,
    )
    from litellm.llms.anthropic.pass_through.adapters.transformation import (  # type: ignore[import-not-found,unused-ignore]
        LiteLLMAnthropicMessagesAdapter,
    )
    from litellm.types.router import (  # type: ignore[import-not-found,unused-ignore]
        GenericLiteLLMParams,
    )
    from litellm.types.utils import (  # type: ignore[import-not-found,unused-ignore]
        CallTypes,
        ModelResponse,
    )
    from litellm.utils import (  # type: ignore[import-not-found,unused-ignore]
        return_raw_request,
    )

    from benchmarks import peers

    peer.drop_params = peer.modify_params = True
    peer.suppress_debug_info = True
    messages, contents = LiteLLMAnthropicMessagesAdapter(), GoogleGenAIAdapter()
    providers = {"openai-chat": "openai", "anthropic": "anthropic", "gemini": "gemini"}
    answers = peers._made("litellm")[1]

    def request(body: Any, source: str, target: str, model: str) -> Any:
        routed = f"{providers[target]}/{model}"
        chat: Any = {**body, "model": routed}
        if source == "anthropic":
            chat = messages.translate_anthropic_to_openai(chat)[0]
        elif source == "gemini":
            at = GenericLiteLLMParams(custom_llm_provider=providers[target])
            chat["config"] = chat.pop("generationConfig", None)
            chat = contents.translate_generate_content_to_completion(**chat, litellm_params=at)
            chat.pop("custom_llm_provider", None)
        raw = return_raw_request(CallTypes.completion, {**chat, "model": routed})
        if raw.get("error"):
            raise ValueError(raw["error"])
        made = dict(raw["raw_request_body"])
        return {**made.pop("extra_body", {}), **made}

    def response(body: Any, source: str, target: str, _: str) -> Any:
        chat: Any = body if source == "openai-chat" else answers[source, "openai-chat"](body)
        if target == "openai-chat":
            return chat
        answer = ModelResponse(**chat)
        if target == "anthropic":
            return messages.translate_openai_response_to_anthropic(answer)
        return contents.translate_completion_to_generate_content(answer)

    return {"request": request, "response": response}


def rosetta() -> dict[str, Ask]:
    """Ask llm-rosetta's pipeline, with the shim that it has for the provider."""
    from llm_rosetta import (  # type: ignore[import-not-found,unused-ignore]
        ConversionPipeline,
        get_converter_for_provider,
    )

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    names = {"openai-chat": "openai_chat", "anthropic": "anthropic", "gemini": "google"}
    shims = {"openai-chat": "openai", "anthropic": "anthropic", "gemini": "google"}

    def request(body: Any, source: str, target: str, model: str) -> Any:
        line = ConversionPipeline(names[source], names[target], shims[target])
        return line.convert_request({**body, "model": model})

    def response(body: Any, source: str, target: str, _: str) -> Any:
        read = get_converter_for_provider(names[source]).response_from_provider(body)
        return get_converter_for_provider(names[target]).response_to_provider(read)

    return {"request": request, "response": response}


def asked(case: Any) -> bool:
    """Tell whether peers are asked for a case: requests and responses of one dialect in another."""
    call = case["call"]
    ends = {call["from"], call["to"]}
    return call["unit"] in ("request", "response") and len(ends) == 2 and ends <= MODELS.keys()


def converter(name: str) -> Callable[[Any], Any]:
    """Return how a peer, or wireglot, does what a case calls for."""
    if name == "wireglot":
        return _own
    ask = {"litellm": litellm, "rosetta": rosetta}[name]()

    def convert(case: Any) -> Any:
        call, given = case["call"], copy.deepcopy(case["given"])
        stand_in = MODELS[call["to"]]
        meant = call.get("model") or given.get("model", "")
        model = meant if stand_in.split("-")[0] in meant else stand_in
        made = ask[call["unit"]](given, call["from"], call["to"], model)
        made = json.loads(json.dumps(made, default=lambda value: value.model_dump()))
        if call["unit"] == "request" and made.get("model", model) == model:
            made["model"] = meant
        return made

    return convert


def _own(case: Any) -> Any:
    import wireglot

    call = case["call"]
    ends = (call["from"], call["to"], call["unit"], call.get("model"))
    return wireglot.convert(copy.deepcopy(case["given"]), *ends).body
