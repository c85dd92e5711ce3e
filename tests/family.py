"""Which dialects a run takes that crosses each with each: those of one family differ little.

`tests.vendors`, `test_vendors.py` and `test_wires.py` hold those that are left out here.
"""

from __future__ import annotations

from collections.abc import Iterable

VENDORS = (
    "kimi", "glm", "qwen", "minimax", "openrouter", "xai", "groq", "cerebras", "together",
    "fireworks", "azure-openai", "vllm", "llama-cpp", "lm-studio", "huggingface", "perplexity",
    "nvidia", "sambanova", "copilot", "gemini-openai", "ollama-openai", "snowflake",
    "databricks",
)  # fmt: skip
# Hosts that are asked by Anthropic's Messages; the first is of none in particular.
ENDPOINTS = (
    "anthropic-compatible", "deepseek-anthropic", "kimi-anthropic", "glm-anthropic",
    "minimax-anthropic", "openrouter-anthropic", "bedrock-anthropic", "vertex-anthropic",
)  # fmt: skip

# Whole wires that a run does not cross with each: home, to all, and from three.
WIRES = ("mistral", "cohere", "bedrock-converse", "gemini-interactions")


def heads(dialects: Iterable[str]) -> tuple[str, ...]:
    """Return the dialects that are no vendor's of Chat, no endpoint, and no further wire."""
    return tuple(name for name in dialects if name not in (*VENDORS, *ENDPOINTS, *WIRES))
