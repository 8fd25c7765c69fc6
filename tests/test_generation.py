# SPDX-License-Identifier: MIT
"""The way to a language model, against a real HTTP server on the loopback address; answers kept and replayed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.document import Chunk
from chunklib.course import generation
from chunklib.course.generation import GENERATED, GenerationError, Recorded, ask_endpoint, fenced, generate, prompt_key
from chunklib.enrichment import ask_about
from tests.laws import hard_text

Reply = Callable[["Handler"], None]
KEY = "sk-secret-0123456789"


class Handler(BaseHTTPRequestHandler):
    """Answers each request with the next reply of the server's list; the last one stays."""

    def do_POST(self) -> None:
        server: Any = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.seen.append((self.path, dict(self.headers), body))
        replies = server.replies
        (replies.pop(0) if len(replies) > 1 else replies[0])(self)

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    replies: list[Reply]
    seen: list[tuple[str, dict[str, str], dict[str, Any]]]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests."""


def answer(text: object = "An answer.", ended: str = "stop", **message: object) -> Reply:
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": ended}
    return lambda handler: handler.send(json.dumps({"choices": [choice]}).encode())


def raw(body: bytes, status: int = 200, **headers: str) -> Reply:
    return lambda handler: handler.send(body, status, **headers)


def error(status: int, message: str = "no", **headers: str) -> Reply:
    return raw(json.dumps({"error": {"message": message}}).encode(), status, **headers)


def silent(handler: Handler) -> None:
    time.sleep(0.6)


def dripping(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(30):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def broken_off(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.close_connection = True


def hanging_up(handler: Handler) -> None:
    handler.connection.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server(("127.0.0.1", 0), Handler) as running:
        running.replies, running.seen = [answer()], []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{running.server_port}/v1/")
        monkeypatch.setenv("OPENAI_MODEL", "small")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield running
        running.shutdown()
        thread.join()


def ask(prompt: str = "Why?", **settings: Any) -> tuple[str, list[float]]:
    pauses: list[float] = []
    return ask_endpoint(prompt, **{"seconds": 5, "pause": pauses.append, **settings}), pauses


# --- What is sent, what comes back -----------------------------------------------------------------------------------


def test_an_answer(server: Server) -> None:
    assert ask("Why “so”? \ud800") == ("An answer.", [])
    ((path, headers, body),) = server.seen
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == "small"
    assert body["messages"] == [{"role": "user", "content": "Why “so”? \ud800"}]
    assert body["temperature"] == 0


def test_without_a_key_none_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask()[0] == "An answer."
    assert "Authorization" not in server.seen[0][1]


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OPENAI_MODEL"])
def test_nothing_is_asked_unless_both_are_set(server: Server, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(GenerationError, match="set OPENAI_BASE_URL"):
        ask()
    with pytest.raises(GenerationError, match="is recorded"):
        generate("A prompt that nobody recorded")
    assert server.seen == []


def test_generate_replays_first_and_asks_only_for_what_is_new(server: Server) -> None:
    recorded = json.loads(GENERATED.read_text(encoding="utf-8"))["answers"]
    known = next(iter(recorded.values()))
    before = GENERATED.read_bytes()
    assert generate(known["prompt"]) == known["answer"]
    assert server.seen == []
    assert generate("A prompt that nobody recorded") == "An answer."
    assert GENERATED.read_bytes() == before, "the course's own file is not written to"


# --- Time-outs, limits, broken connections ---------------------------------------------------------------------------


@pytest.mark.parametrize("reply", [silent, dripping])
def test_time_out(server: Server, reply: Reply) -> None:
    server.replies = [reply]
    start = time.monotonic()
    with pytest.raises(GenerationError, match=r"^no answer within 0.2 s, 2 times$"):
        ask(seconds=0.2, tries=2)
    assert time.monotonic() - start < 3


def test_a_time_out_is_tried_again(server: Server) -> None:
    server.replies = [silent, answer()]
    assert ask(seconds=0.3) == ("An answer.", [1.0])


@pytest.mark.parametrize("reply", [broken_off, hanging_up])
def test_a_broken_connection_is_tried_again(server: Server, reply: Reply) -> None:
    server.replies = [reply, reply, answer()]
    assert ask() == ("An answer.", [1.0, 2.0])
    server.replies = [reply]
    with pytest.raises(GenerationError, match=r"^no connection: .*, 3 times$"):
        ask(tries=3)


def test_nobody_listens(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(GenerationError, match="no connection: ConnectionRefusedError"):
        ask(tries=1)


@pytest.mark.parametrize(
    ("asked", "waited"), [("7", 7.0), ("0", 0.0), ("99999", 60.0), ("-3", 0.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 1.0)]
)
def test_rate_limit_waits_as_long_as_it_is_told(server: Server, asked: str, waited: float) -> None:
    server.replies = [error(429, Retry_After=asked), answer()]
    assert ask() == ("An answer.", [waited])


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_busy_servers_get_a_few_tries(server: Server, status: int) -> None:
    server.replies = [error(status, "busy")]
    with pytest.raises(GenerationError, match=f"the server answered {status}: busy, 4 times"):
        ask()
    assert len(server.seen) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_go_better_is_told_at_once(server: Server, status: int) -> None:
    server.replies = [error(status, f"bad key {KEY}")]
    with pytest.raises(GenerationError, match=f"the server answered {status}: bad key …$") as told:
        ask()
    assert KEY not in str(told.value)
    assert len(server.seen) == 1


def test_of_a_long_message_200_characters_are_told_and_no_part_of_the_key(server: Server) -> None:
    for message, told in [
        ("x" * 300, "x" * 200),
        ("x" * 190 + KEY, "x" * 190 + "…"),
        ("x" * 199 + KEY, "x" * 199 + "…"),
    ]:
        server.replies = [error(400, message)]
        with pytest.raises(GenerationError) as raised:
            ask()
        assert str(raised.value) == f"the server answered 400: {told}"


def test_a_redirect_does_not_carry_the_key_away(server: Server) -> None:
    server.replies = [raw(b"", 302, Location=f"http://127.0.0.1:{server.server_port}/elsewhere"), answer()]
    with pytest.raises(GenerationError, match="the server answered 302"):
        ask()
    assert [path for path, *_ in server.seen] == ["/v1/chat/completions"]


@pytest.mark.parametrize("url", ["ftp://x", "localhost:8000", "file:" + "///etc"])
def test_other_addresses_are_refused(server: Server, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(GenerationError, match="must start with http"):
        ask()


@pytest.mark.parametrize(
    ("name", "value"), [("OPENAI_API_KEY", "a\nb"), ("OPENAI_API_KEY", "ключ"), ("OPENAI_BASE_URL", "http://[")]
)
def test_malformed_settings_are_told_without_the_key(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(GenerationError) as told:
        ask(tries=1)
    assert value not in str(told.value)


# --- Refusals and malformed answers ----------------------------------------------------------------------------------

MALFORMED = [
    b"", b"<html>Bad gateway</html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b'{"choices": {"0": 1}}',
    b'{"choices": [{"message": "hello"}]}', b'{"choices": [{"message": null}]}', b"\xff\xfe", b"[" * 100_000, b"null",
]  # fmt: skip


@pytest.mark.parametrize("body", MALFORMED, ids=lambda body: repr(body[:30]))
def test_malformed_answers(server: Server, body: bytes) -> None:
    server.replies = [raw(body)]
    with pytest.raises(GenerationError, match="not what the protocol asks for"):
        ask()
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (answer(None, refusal="I cannot help with that."), "the model refused: I cannot help with that."),
        (answer("", "content_filter"), "the model refused: content filter"),
        (answer(""), "the answer is empty"),
        (answer(" \n"), "the answer is empty"),
        (answer(None), "the answer is empty"),
        (answer(["a"]), "the answer is empty"),
        (answer("Half a sen", "length"), "the answer was cut off"),
        (raw(b" " * (generation.MOST + 1)), "longer than 1,000,000 bytes"),
    ],
)
def test_refused_empty_cut_off_or_endless(server: Server, reply: Reply, why: str) -> None:
    server.replies = [reply]
    with pytest.raises(GenerationError, match=why):
        ask()


def test_no_chunk_is_lost_and_the_failure_says_which(server: Server) -> None:
    server.replies = [
        answer("Is it free?"), error(500), error(429), raw(b"{}"), answer(None, refusal="No."), answer("How long?"),
    ]  # fmt: skip
    chunks = [Chunk(f"Text {i}.", 0, 7, i, f"c{i}", "d") for i in range(5)]
    asked, failures = ask_about(chunks, lambda prompt: ask(prompt, tries=1)[0])
    assert [chunk.text for chunk in asked] == [chunk.text for chunk in chunks]
    assert [chunk.metadata.get("questions") for chunk in asked] == [["Is it free?"], None, None, None, None]
    assert [(failure.chunk_id, failure.task) for failure in failures] == [(f"c{i}", "questions") for i in (1, 2, 3, 4)]
    assert "500" in failures[0].why and "429" in failures[1].why and "refused" in failures[3].why


# --- The fence -------------------------------------------------------------------------------------------------------


@given(text=hard_text)
def test_the_fence_holds_the_text_and_its_mark_is_not_in_it(text: str) -> None:
    prompt = fenced("Do this.", text)
    mark = prompt.splitlines()[1].split("two lines of ")[1][:16]
    assert mark not in text
    assert prompt.endswith(f"<<<{mark}\n{text}\n{mark}>>>\nRemember: Do this.")


# --- Answers that are kept -------------------------------------------------------------------------------------------


def test_record_and_replay(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return prompt.upper() + " “ü”"

    recorder = Recorded(path, model)
    assert [recorder(p) for p in ("a", "b", "a")] == ["A “ü”", "B “ü”", "A “ü”"]
    assert asked == ["a", "b"]
    assert Recorded(path)("b") == "B “ü”"
    assert set(json.loads(path.read_text(encoding="utf-8"))["answers"]) == {prompt_key("a"), prompt_key("b")}
    with pytest.raises(GenerationError, match=r"no answer to this prompt \('c'…\) is recorded in answers.json"):
        Recorded(path)("c")
    assert [p.name for p in tmp_path.iterdir()] == ["answers.json"]


def test_a_failure_is_not_recorded(tmp_path: Path) -> None:
    def model(prompt: str) -> str:
        raise GenerationError("busy")

    with pytest.raises(GenerationError, match="busy"):
        Recorded(tmp_path / "answers.json", model)("a")
    assert list(tmp_path.iterdir()) == []


@given(a=st.text(), b=st.text())
def test_a_key_for_each_prompt(a: str, b: str) -> None:
    assert (prompt_key(a) == prompt_key(b)) == (a == b)
