"""Clients that ask a server again and again, over connections that stay open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

Link = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Got(NamedTuple):
    """An answer: its status, and its body as it came."""

    status: int
    body: bytes


def asking(path: str, body: bytes, key: str = "sk-any") -> bytes:
    """Return a request as bytes."""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    head += f"x-api-key: {key}\r\nauthorization: Bearer {key}\r\n"
    head += "anthropic-version: 2023-06-01\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


async def got(reader: asyncio.StreamReader) -> Got:
    """Read an answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head.split(b" ", 2)[1])
    if b"\r\ntransfer-encoding: chunked" not in head:
        size = int(head.partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0])
        return Got(status, await reader.readexactly(size))
    pieces = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        pieces.append((await reader.readexactly(size + 2))[:-2])
    await reader.readuntil(b"\r\n")
    return Got(status, b"".join(pieces))


async def ask(port: int, requests: Sequence[bytes], many: int, at_once: int) -> list[Got]:
    """Ask `many` times, as many at once as said; return one answer of each connection."""
    left = iter(range(many))

    async def one() -> Got:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        answer = Got(0, b"")
        for number in left:
            writer.write(requests[number % len(requests)])
            answer = await got(reader)
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {answer.body[:300]!r}")
        writer.close()
        return answer

    return await asyncio.gather(*(one() for _ in range(at_once)))


async def hold(port: int, request: bytes, many: int) -> list[Link]:
    """Open streams that go on, and return their connections once each has said something."""

    async def one() -> Link:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        await reader.readuntil(b"text_delta")
        return reader, writer

    return await asyncio.gather(*(one() for _ in range(many)))
