"""Base64 as text: which is in its usual alphabet, and what can be written so."""

from __future__ import annotations

_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_URL = str.maketrans("-_", "+/")  # the alphabet of base64url


def is_base64(text: str) -> bool:
    """Tell whether a text is base64 in its usual alphabet, filled up to fours."""
    return (
        not len(text) % 4
        and text.isascii()
        and not text.encode().translate(None, _SIGNS)
        and text.find("=", 0, -2) < 0
        and (text[-2:-1] != "=" or text[-1] == "=")
    )


def usual_base64(text: str) -> str | None:
    """Write base64 of either alphabet, filled up or not, in its usual form; None for no base64."""
    if is_base64(text):
        return text
    made = "".join(text.split()).translate(_URL).rstrip("=")
    made += "=" * (-len(made) % 4)
    return made if is_base64(made) else None
