"""How likely tokens were: a text has the list `logprobs` in the IR, and on some wires the answer.

There it is that of all its texts, one after another. `share_tokens` gives each text the tokens that
spell it; where they spell other things, too, the only text has all, and of several texts none. What
else was likely in the place of each token stands with it, on some wires in a list beside, `likely`.
"""

from __future__ import annotations

from typing import Any

from ..ir import LIKELY, TOKENS
from ..language.model import Dialect, once
from . import copies
from .citations import candidates_of
from .jobs import ReadJob, WriteJob
from .units import list_at

_UNSAID = {"kept", "spelled"}


@once
def lists_of(dialect: Dialect) -> frozenset[str]:
    """Return which of the lists a dialect has of a whole answer."""
    return dialect.fields_of(candidates_of(dialect)) & {TOKENS, LIKELY}


def join_likely(said: dict[str, Any]) -> None:
    """Give each token of an answer or a text what else was likely in its place."""
    tokens, likely = said.get(TOKENS, ()), said.get(LIKELY, ())
    rated = [one for one in tokens if isinstance(one, dict) and "top" not in one]
    if len(rated) != len(likely) or any(_UNSAID & one.keys() for one in likely):
        return  # they do not stand side by side
    for token, one in zip(rated, likely, strict=True):
        token["top"] = one["top"]
    said.pop(LIKELY, None)


def likely_of(tokens: list[Any], same: bool) -> list[Any]:
    """Return what was likely in the place of each token; nothing where of none it is known."""
    found = [one.get("top") for one in tokens if isinstance(one, dict)]
    said = any(found) or (same and None not in found)
    return [{"top": top or []} for top in found] if said else []


def share_tokens(reader: ReadJob, owner: dict[str, Any]) -> None:
    """Give the texts of an answer the tokens that were read of all of them."""
    join_likely(owner)
    texts = copies.parts_of([owner], "text")
    tokens = owner[TOKENS]
    shares = [tokens] if len(texts) == 1 else _tokens_by_text(texts, tokens)
    if not shares or LIKELY in owner:
        return
    at = reader.trail.find(owner, TOKENS)
    del owner[TOKENS]
    for part, share in zip(texts, shares, strict=True):
        part[TOKENS] = share
        reader.trail.put(part, TOKENS, at)


def _tokens_by_text(texts: list[Any], tokens: list[Any]) -> list[list[Any]]:
    """Return the tokens of each text, where they spell all texts and nothing else."""
    left = iter(tokens)
    shares: list[list[Any]] = []
    for part in texts:
        share, begun, text = [], 0, str(part.get("text", "")).encode(errors="surrogatepass")
        while begun < len(text) and (one := next(left, None)) is not None:
            said = one.get("bytes") or [*str(one.get("token", "")).encode(errors="surrogatepass")]
            if not said or [*text[begun : begun + len(said)]] != said:
                return []
            begun += len(said)
            share.append(one)
        if begun < len(text):
            return []
        shares.append(share)
    return shares if next(left, None) is None else []


def gather_tokens(writer: WriteJob, owner: Any) -> Any:
    """Return an answer that has the tokens of all its texts, where the dialect says them so."""
    texts = [part for part in copies.parts_of([owner], "text") if part.get(TOKENS)]
    tokens = [one for said in (owner, *texts) for one in list_at(said, TOKENS)]
    lists = lists_of(writer.dialect) if tokens else frozenset()
    likely = likely_of(tokens, writer.same) if LIKELY in lists and LIKELY not in owner else []
    if TOKENS not in lists or not (texts or likely):
        return owner
    bare = {id(part): copies.without_field(writer, part, TOKENS) for part in texts}
    more: dict[str, Any] = {TOKENS: tokens}
    if likely:
        plain = [copies.without_field(writer, one, "top") for one in tokens]
        more = {TOKENS: plain, LIKELY: likely}
    new = copies.with_replaced(writer, owner, bare, **more)
    writer.trail.put(new, TOKENS, writer.trail.find(texts[0] if texts else owner, TOKENS))
    return new
