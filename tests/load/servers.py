"""The servers that are put under load, each in a process of its own, and what they take."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

LITELLM = Path(".venv/litellm/bin/litellm")
CONFIG = """
model_list:
  - model_name: m
    litellm_params:
      {{model: hosted_vllm/m, api_base: "http://127.0.0.1:{port}/v1", api_key: sk-any}}
litellm_settings: {{drop_params: true, telemetry: false}}
general_settings: {{master_key: sk-any}}
"""


class Running(NamedTuple):
    """A server that runs."""

    pid: int
    port: int

    def seconds(self) -> float:
        """Return the processor time that all its threads took so far."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def megabytes(self) -> float:
        """Return the memory that it has now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6


def free() -> int:
    """Return a port that is free."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        port: int = opened.getsockname()[1]
        return port


@contextmanager
def upstream() -> Iterator[int]:
    """Run the provider until the end of the block; give its port."""
    words = [sys.executable, "-m", "tests.load.upstream"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


@contextmanager
def server(name: str, provider: int, folder: Path) -> Iterator[Running]:
    """Run a server before the provider until the end of the block."""
    url, port = f"http://127.0.0.1:{provider}", free()
    ours = f"{sys.executable} -m"
    words = {
        "relay": f"{ours} tests.load.plain {url} {port}",
        "wireglot": f"{ours} wireglot serve --to openai-chat --url {url} --port {port}",
        "litellm": f"{LITELLM} --config {folder}/litellm.yaml --host 127.0.0.1 --port {port}",
    }[name]
    (folder / "litellm.yaml").write_text(CONFIG.format(port=provider), encoding="utf-8")
    known = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "NO_PROXY": "*"}
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            words.split(), stdout=log, stderr=log, env={**os.environ, **known}
        )
        try:
            _wait(process, port, log)
            yield Running(process.pid, port)
        finally:
            process.terminate()
            process.wait(30)


def _wait(process: subprocess.Popen[bytes], port: int, log: IO[str]) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.2)
    raise RuntimeError(f"{process.args!r} did not begin: see {log.name}")
