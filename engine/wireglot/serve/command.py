"""What `wireglot serve` does."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import logging
import os
import socket
import sys

import uvicorn

from ..errors import UsageError
from ..loop.states import States
from ..rulesets import RuleSet
from . import setting
from .app import LOG, App
from .guard import Guard
from .sending import OPEN
from .setting import Setting

CLOSING = 5  # seconds for what still flows when the server is told to end


def serve(rules: RuleSet, arguments: argparse.Namespace) -> None:
    """Serve until the process is told to end. Raises UsageError."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    app, opened = made(rules, arguments), bound(arguments.host, arguments.port)
    print(f"wireglot serves {arguments.to} at {address(opened)}", file=sys.stderr)
    asyncio.run(running(server(app), app, opened))


def made(rules: RuleSet, arguments: argparse.Namespace) -> App:
    """Return the application that arguments ask for. Raises UsageError."""
    states = States() if arguments.state == "memory" else None
    upstream, key = _key(arguments.key_env), _key(arguments.client_key_env)
    if key is None and not _here(arguments.host):
        told = f"{arguments.host} may be reached from elsewhere"
        raise UsageError(f"{told}: `--client-key-env` names the key that clients must have")
    given = Setting(rules, arguments.to, arguments.model, arguments.url, upstream, states)
    guard = Guard(given.relay.wires, arguments.host, key)
    return App(given, guard, setting.library("httpx"), arguments.max_body)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens there. Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise UsageError(f"nothing can listen at {host}, port {port}: {error}") from None


def address(opened: socket.socket) -> str:
    """Return the address of what listens."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(app: App) -> uvicorn.Server:
    """Return what runs an application; it says nothing of requests, which the application does."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            access_log=False,  # its lines have the query, in which a key may stand
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            limit_concurrency=OPEN,
            timeout_graceful_shutdown=CLOSING,
        )
    )


async def running(server: uvicorn.Server, app: App, opened: socket.socket) -> None:
    """Run a server until it is told to end."""
    try:
        await server.serve(sockets=[opened])
    finally:
        await app.close()


def _key(name: str | None) -> str | None:
    """Return the key that an environment variable holds; it is never given as an argument."""
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(f"the environment variable {name} holds no key")
    return key


def _here(host: str) -> bool:
    """Tell whether an address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
