"""What `wireglot serve` did is seen: records, what rules would make of them, the page."""

from __future__ import annotations

import base64
import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from wireglot import cli
from wireglot.serve import config, record
from wireglot.serve.guard import Guard

from .loop import sdks, serving, streamed
from .loop.server import Server, running
from .loop.serving import served
from .test_sdkloop import converse
from .test_serve import HELLO, Player, asked, before

Json = Any
EVIL = "</td><script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch, running() as one:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield one


def got(url: str, **headers: str) -> tuple[int, Any, str]:
    """Return the status, the headers and the text of a page."""
    try:
        with urlopen(Request(url, headers=headers)) as page:
            return page.status, page.headers, page.read().decode()
    except HTTPError as page:
        return page.code, page.headers, page.read().decode()


# -- records ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "gemini", "ollama"])
def test_what_was_recorded_becomes_the_same_again(
    server: Server, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Player(name)
    with before(script, server, folder=str(tmp_path)) as (url, _):
        converse(sdks.SDKS["openai-chat"](url))
        asked(f"{url}/v1/messages", "no object")
    server.serves(script := Player(name))
    with before(script, server, folder=str(tmp_path / "streams")) as (url, _):
        converse(streamed.SDKS["anthropic"](url))
    for folder in (tmp_path, tmp_path / "streams"):
        files = sorted(folder.glob("*.json"))
        assert cli.main(["replay", str(folder)]) == 0, capsys.readouterr().out
        assert (
            capsys.readouterr().out
            == f"{len(files)} requests: {len(files)} as they were, 0 otherwise\n"
        )
        assert len(files) >= 5
        kept = json.loads(files[0].read_text("utf-8"))
        assert (
            kept["provider"] == name
            and kept["asked"]["messages"]
            and kept["sent"]
            and kept["given"]
        )
        assert stat.S_IMODE(files[0].stat().st_mode) == 0o600


def test_other_rules_are_seen_in_what_was_recorded(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch=0c1d2;"
    system = [{"type": "text", "text": line}, {"type": "text", "text": "Be brief."}]
    with before(Player("openai-chat"), server, folder=str(tmp_path)) as (url, _):
        asked(f"{url}/v1/messages", {**HELLO, "system": system})
        asked(f"{url}/v1/messages", {**HELLO, "system": "Be brief."})
    code = cli.main(["replay", str(tmp_path), "--overlay", "anthropic-no-billing-line"])
    said = capsys.readouterr().out
    assert code == 1 and "anthropic -> openai-chat\n  sent /messages/0/content: " in said
    assert said.endswith("2 requests: 1 as they were, 1 otherwise\n")


CONFIG = """
serve: 1
upstreams:
  one: {dialect: openai-chat, url: "http://127.0.0.1:1", key-env: NOBODY_HAS_THIS}
  two: {dialect: gemini, url: "http://127.0.0.1:1"}
routes: {a: {to: one}, b: {to: two}}
options: {carry: false}
policy: {"effect:lost": fail}
"""


def test_a_replay_knows_the_options_and_the_policy_of_a_file(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "serve.yaml", str(tmp_path / "seen")
    file.write_text(CONFIG, encoding="utf-8")
    with before(Player("openai-chat"), server, folder=folder) as (url, _):
        asked(f"{url}/v1/messages", {**HELLO, "top_k": 3})  # which has no place there
    assert cli.main(["replay", folder]) == 0
    assert cli.main(["replay", folder, "--config", str(file)]) == 1
    assert "status: 400 now, was " in capsys.readouterr().out
    assert cli.main(["replay", folder, "--config", str(file), "--rules", "more"]) == 2


def test_a_request_that_came_to_no_provider_is_recorded_under_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NOBODY_HAS_THIS", "k")
    (tmp_path / "serve.yaml").write_text(CONFIG, encoding="utf-8")
    file, folder = str(tmp_path / "serve.yaml"), tmp_path / "seen"
    given = config.relay_of(file, None)
    with serving.running(given, folder=str(folder)) as (url, _):
        assert asked(f"{url}/v1/messages", {**HELLO, "model": "c"})[0] == 404
        assert asked(f"{url}/v1/messages", {**HELLO, "model": "b", "messages": 5})[0] == 400
    kept = [json.loads(one.read_text("utf-8")) for one in sorted(folder.glob("*.json"))]
    assert [one["provider"] for one in kept] == ["", "gemini"]
    assert cli.main(["replay", str(folder), "--config", file]) == 0, capsys.readouterr().out


def test_what_is_no_folder_of_records_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["replay", str(tmp_path)]) == 2
    assert "holds no records" in capsys.readouterr().err
    (tmp_path / "a.json").write_text('{"record": 1, "client": "anthropic"}', encoding="utf-8")
    assert cli.main(["replay", str(tmp_path)]) == 2
    assert "`a.json` is no record" in capsys.readouterr().err


def test_records_hold_no_key_and_are_bounded(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "FILES", 3)
    monkeypatch.setattr(record, "LAST", 2)
    monkeypatch.setattr(record, "BODY", 1000)
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    said = "the keys secret-key and client-key"
    more = {"client_key": "client-key", "folder": str(tmp_path)}
    with before(Player("openai-chat"), server, **more) as (url, _):
        for nth in range(5):
            body = {**HELLO, "messages": [{"role": "user", "content": f"{said} {nth}"}]}
            asked(f"{url}/v1/messages", body, x_api_key="client-key")
        body = {**HELLO, "system": "x" * 2000}
        asked(f"{url}/v1/messages", body, x_api_key="client-key")
        asked(f"{url}/v1/messages", body, x_api_key="another")  # who is not let in, is not recorded
        _, _, page = got(f"{url}/_wireglot?key=client-key")
    files = sorted(tmp_path.glob("2*.json"))
    kept = "".join(file.read_text("utf-8") for file in files)
    assert len(files) == 3 and (tmp_path / "other.json").exists()
    assert "the keys *** and *** 4" in kept and "-key" not in kept + page
    assert json.loads(files[-1].read_text("utf-8"))["asked"] is None  # too long
    assert page.count("<tr>") == 3


def test_bytes_are_recorded_as_they_are() -> None:
    for data in (b'{"a":1}', b"data: 1\n\n", b"\xff\x00", b""):
        said = record.KeptBody(data).as_json()
        assert json.loads(json.dumps(said)) == said
        again = record.as_bytes(said)
        assert again == data or json.loads(again) == json.loads(data)


# -- the page --------------------------------------------------------------------------------------


def test_the_page_shows_requests_what_they_lost_and_reports(server: Server) -> None:
    script = Player("openai-chat")
    with before(script, server) as (url, _):
        assert "none yet" in got(f"{url}/_wireglot")[2]
        asked(f"{url}/v1/messages", {**HELLO, "top_k": 3, "system": EVIL, EVIL: 1})
        sdk = streamed.SDKS["anthropic"](url)
        sdk.says("Question 0.")
        sdk.asks()
        asked(f"{url}/v1/messages", "no object")
        status, headers, text = got(f"{url}/_wireglot")
        assert status == 200 and headers["cache-control"] == "no-store"
        assert text.count("<tr>") == 4 and "top_k" in text and "no-place" in text
        assert "<script" not in text and "<img" not in text and "&lt;script&gt;" in text
        assert "default-src 'none'" in text
        for at in re.findall(r'href="(/_wireglot/[12]/\w+)"', text):
            status, _, report = got(url + at)
            assert status == 200 and "<h1>A" in report, at
            assert "<img" not in report and "<script>alert" not in report
        assert "There is no report" in got(f"{url}/_wireglot/3/request")[2]
        for at in ("9/request", "1/other", "1", "x/request", "../v1/models", "1/request/2"):
            assert got(f"{url}/_wireglot/{at}")[0] == 404
        with pytest.raises(HTTPError, match="405"):
            urlopen(Request(f"{url}/_wireglot", b"{}"))


def test_the_page_is_for_this_machine_and_for_who_has_the_key() -> None:
    word = base64.b64encode(b"any:client-key").decode()
    with served("demo", client_key="client-key") as (url, _):
        assert got(f"{url}/_wireglot")[0] == 401
        assert got(f"{url}/_wireglot?key=other")[0] == 401
        assert got(f"{url}/_wireglot", authorization="Basic ????")[0] == 401
        assert got(f"{url}/_wireglot", authorization=f"Basic {word}")[0] == 200
        assert got(f"{url}/_wireglot", authorization="Bearer client-key")[0] == 200
        assert got(f"{url}/_wireglot?key=client-key", origin="http://evil.test")[0] == 401
        assert got(f"{url}/_wireglot?key=client-key", host="evil.test")[0] == 401
        # Basic opens the page alone.
        status, *_ = asked(f"{url}/v1/messages", HELLO, authorization=f"Basic {word}")
        assert status == 401
    guard = Guard("0.0.0.0", None)
    assert guard.page_refused({"host": "127.0.0.1:1"}, {}, 1, "192.0.2.1")
    assert not guard.page_refused({"host": "127.0.0.1:1"}, {}, 1, "127.0.0.1")
