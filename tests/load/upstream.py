"""A provider without latency, in a process of its own: `python -m tests.load.upstream`.

It speaks Chat and Anthropic, each frame of a stream in a chunk of its own. A stream that is asked
for with the model `open` goes on, a frame a second, until its client leaves.
"""

from __future__ import annotations

import asyncio
import json

from . import bodies

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: "
PATHS = ("/v1/messages", "/v1/chat/completions")


def _whole(path: str) -> bytes:
    data = json.dumps(bodies.answer(path)).encode()
    return HEAD + b"application/json\r\ncontent-length: %d\r\n\r\n" % len(data) + data


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


WHOLE = {path: _whole(path) for path in PATHS}
CHUNKS = {path: list(map(_chunk, bodies.events(path))) for path in PATHS}
NOTHING = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
STREAM = HEAD + b"text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class Provider(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.held = transport, b""

    def data_received(self, data: bytes) -> None:
        """Take what came, and answer a request that is whole."""
        self.held += data
        head, found, body = self.held.partition(b"\r\n\r\n")
        if not found:
            return
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if len(body) < int(fields.get(b"content-length", 0)):
            return
        self.held = b""
        path = head.split(b" ", 2)[1].decode().partition("?")[0]
        asked = json.loads(body or b"{}")
        if not asked.get("stream") or path not in CHUNKS:
            self.transport.write(WHOLE.get(path, NOTHING))
            return
        self.transport.write(STREAM)
        self._frame(path, 0, asked["model"] == "open")

    def _frame(self, path: str, at: int, lasts: bool) -> None:
        """Write a frame; the next one follows when others had their turn."""
        chunks, loop = CHUNKS[path], asyncio.get_running_loop()
        if self.transport.is_closing():
            return
        if at == len(chunks):
            self.transport.write(b"0\r\n\r\n")
            return
        self.transport.write(chunks[at])
        if lasts:
            loop.call_later(1, self._frame, path, min(at + 1, 100), lasts)
        else:
            loop.call_soon(self._frame, path, at + 1, lasts)


async def main() -> None:
    """Listen until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Provider, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
