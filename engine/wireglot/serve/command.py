"""What `wireglot serve` does."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import gc
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterator

import uvicorn

from ..errors import UsageError, WireglotError
from ..loop.redis import SCHEMES, Redis
from ..loop.states import States
from ..rulesets import RuleSet, following, paths_of
from . import config
from .app import LOG, App
from .guard import is_loopback
from .relay import LIMITS, Limits, Relay, key_of, single

# Options that a file says in their place.
APART = {
    **{f"--{name}": name for name in ("to", "model", "url", "rules", "plugins", "overlay")},
    "--key-env": "key_env",
    "--max-body": "max_body",
}
HOST = "127.0.0.1"
CLOSING = 5  # seconds for what still flows when the server is told to end


def main(arguments: argparse.Namespace, rules: Callable[[], RuleSet]) -> int:
    """Serve until the process is told to end. Raises RuleError, UsageError."""
    log_to(logging.StreamHandler(sys.stderr))
    key = client_key(arguments.host, arguments.client_key_env)
    relay = relay_of(arguments, rules, states_of(arguments.state))
    app = App(relay, arguments.host, key, LOG, arguments.record, arguments.otel)
    opened = listening(arguments.host, arguments.port)
    what = arguments.to or arguments.config
    print(f"wireglot serves {what} at {address(opened)}", file=sys.stderr)
    stop = threading.Event()
    if arguments.watch:
        watch(app, arguments, rules, stop)
    gc.freeze()  # no collection walks through the rules, which stay: it takes 200 ms each time
    gc.set_threshold(10_000)  # nor through a request while it is converted: little is left of it
    try:
        asyncio.run(run(server(app), app, opened))
    finally:
        stop.set()
    return 0


def watch(
    app: App, arguments: argparse.Namespace, rules: Callable[[], RuleSet], stop: threading.Event
) -> None:
    """Follow rule files and the file of a server, until it is stopped.

    What is right is used, what is not is said. Raises UsageError where there is nothing to follow.
    """
    paths = paths_of(app.relay.rules)
    paths += [arguments.config] if arguments.config is not None else []
    if not paths:
        raise UsageError("`--watch` follows `--config` or `--rules`, and there is neither")

    def changed() -> None:
        old = app.relay
        try:
            new = relay_of(arguments, rules, old.states)
            if new.rules.hash == old.rules.hash:
                new = dataclasses.replace(new, rules=old.rules)  # whose functions are made
            else:
                new.rules.prepare_like(old.rules)
        except WireglotError as error:
            LOG.info("a change is refused, and what was goes on: %s", error)
            return
        but = "" if new.limits == old.limits else ", but for the limits, which a new start changes"
        app.relay = dataclasses.replace(new, limits=old.limits)
        LOG.info("a change is in force%s", but)

    following(paths, changed, stop)


def log_to(handler: logging.Handler) -> None:
    """Let the lines of the log go to a handler, and to no other."""
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    LOG.handlers[:] = [handler]
    LOG.setLevel(logging.INFO)


def relay_of(
    arguments: argparse.Namespace, rules: Callable[[], RuleSet], states: States | None
) -> Relay:
    """Return what stands before providers, as arguments or a file say.

    `rules` returns those that arguments ask for. Raises RuleError, UsageError.
    """
    if arguments.config is not None:
        apart = [f"`{word}`" for word, name in APART.items() if getattr(arguments, name)]
        if apart:
            says = "says it" if len(apart) == 1 else "says them"
            raise UsageError(f"{', '.join(apart)}: the file of `--config` {says}")
        return config.relay_of(arguments.config, states)
    if arguments.to is None:
        raise UsageError("`--to` says which provider, or `--config` names a file that does")
    variable, most = arguments.key_env, arguments.max_body
    key = key_of(variable, "--key-env") if variable is not None else None
    limits = Limits(body=most) if most is not None else LIMITS
    return single(rules(), arguments.to, arguments.model, arguments.url, key, states, limits)


def states_of(what: str) -> States | None:
    """Return what remembers conversations: memory, nothing, Redis, or a file. Raises UsageError."""
    if what == "none":
        return None
    if what.startswith(SCHEMES):
        return States(Redis(what))
    return States() if what == "memory" else States.of_file(what)


def client_key(host: str, variable: str | None) -> str | None:
    """Return the key that clients must have. Raises UsageError where there must be one."""
    if variable is not None:
        return key_of(variable, "--client-key-env")
    if not is_loopback(host):
        told = f"{host} may be reached from elsewhere"
        raise UsageError(f"{told}: `--client-key-env` names the key that clients must have")
    return None


def listening(host: str, port: int) -> socket.socket:
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
    most = app.relay.limits.requests  # as the application counts them
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
            limit_concurrency=4 * most,  # connections
            timeout_graceful_shutdown=CLOSING,
        )
    )


@contextlib.contextmanager
def serving(
    relay: Relay,
    key: str | None,
    log: logging.Logger = LOG,
    folder: str | None = None,
    tells: bool = False,
) -> Iterator[str]:
    """Serve in a thread, at a free port of this machine, until the end of the block."""
    app = App(relay, HOST, key, log, folder, tells)
    opened = listening(HOST, 0)
    made = server(app)
    thread = threading.Thread(target=asyncio.run, args=(run(made, app, opened),), daemon=True)
    thread.start()  # what comes before it runs waits in the socket
    try:
        yield address(opened)
    finally:
        made.should_exit = True
        thread.join()


async def run(server: uvicorn.Server, app: App, opened: socket.socket) -> None:
    """Run a server until it is told to end."""
    try:
        await server.serve(sockets=[opened])
    finally:
        await app.close()
