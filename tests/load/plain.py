"""A relay that converts nothing, of what `wireglot serve` is made of: `python -m tests.load.plain`.

`python -m tests.load.plain URL PORT` passes requests on to URL, and what comes back, as it comes.
"""

from __future__ import annotations

import asyncio
import sys

import httpx
import uvicorn
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class Plain:
    """The application."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = httpx.AsyncClient(limits=httpx.Limits(max_connections=2000), timeout=600)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        request = Request(scope, receive)
        content, headers = await request.body(), {"content-type": "application/json"}
        url = self.url + request.url.path
        made = self.client.build_request(request.method, url, headers=headers, content=content)
        answer = await self.client.send(made, stream=True)
        kind = {"content-type": answer.headers["content-type"]}
        try:
            response = StreamingResponse(answer.aiter_bytes(), answer.status_code, kind)
            await response(scope, receive, send)
        finally:
            await answer.aclose()


async def main(url: str, port: int) -> None:
    """Serve until the process is ended."""
    config = uvicorn.Config(
        Plain(url), port=port, http="h11", loop="asyncio", lifespan="off", log_level="warning",
        access_log=False,
    )  # fmt: skip
    await uvicorn.Server(config).serve()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
