"""The client, against an invented server: what it tries again, and how it puts a broken file together."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from assay_client import Client, Fault, JobFailed, Problem, Unreachable, to_frame

Answer = httpx2.Response | Exception


class Server:
    """Answers in their order, and what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[httpx2.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self) -> Client:
        transport = httpx2.MockTransport(self)
        return Client("https://assay.example.org/", "assay_t", sleep=self.slept.append, transport=transport)


def answer(content: Any, status: int = 200, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(status, json=content, headers=named)


def job(state: str, **more: Any) -> dict[str, Any]:
    plain = {"id": 7, "state": state, "lost": False, "message": "", "problems": [], "study": "soups"}
    return plain | more


def test_the_token_and_the_address_go_with_each_request() -> None:
    server = Server(answer({"slug": "soups"}))
    with server.client() as client:
        client.study("soups").details()
    [asked] = server.asked
    assert str(asked.url) == "https://assay.example.org/api/v1/studies/soups/"
    assert asked.headers["Authorization"] == "Bearer assay_t"


def test_pages_are_asked_for_as_they_are_needed() -> None:
    query = "kind=person&group=a&group=b&cursor=c2"
    # As a server says it that does not know of the proxy before it.
    then = f"http://10.0.0.7/api/v1/studies/soups/judgments/?{query}"
    server = Server(
        answer({"results": [{"id": 1}, {"id": 2}], "next": then}),
        answer({"results": [{"id": 3}], "next": None}),
    )
    found = server.client().study("soups").judgments(kind="person")
    assert [next(found)["id"], next(found)["id"]] == [1, 2]
    assert len(server.asked) == 1
    assert [each["id"] for each in found] == [3]
    assert str(server.asked[1].url) == f"https://assay.example.org/api/v1/studies/soups/judgments/?{query}"
    assert server.asked[0].url.params["kind"] == "person"


def test_a_server_that_has_no_time_is_asked_again_when_it_says() -> None:
    server = Server(
        answer({}, 429, Retry_After="11"),
        answer({}, 503, Retry_After="900"),
        answer({}, 503),
        answer({"slug": "s"}),
    )
    server.client().study("s").details()
    # No more than a minute at a time; without a word, twice as long each time.
    assert server.slept == [11, 60, 4]


def test_what_is_refused_for_long_is_a_problem_in_the_end() -> None:
    server = Server(*(answer({"code": "throttled", "detail": "Slower."}, 429) for _ in range(6)))
    with pytest.raises(Problem) as refused:
        server.client().study("s").details()
    assert (refused.value.status, refused.value.code, refused.value.detail) == (429, "throttled", "Slower.")


def test_a_run_is_started_once_however_often_it_is_sent() -> None:
    server = Server(httpx2.ReadTimeout("late"), httpx2.RemoteProtocolError("gone"), answer({"id": 4}, 201))
    assert server.client().study("s").start_run(3, budget="2.50")["id"] == 4
    keys = {asked.headers["Idempotency-Key"] for asked in server.asked}
    assert (len(server.asked), len(keys)) == (3, 1)
    assert json.loads(server.asked[2].content) == {"judge": 3, "budget": "2.50"}


def test_what_may_have_been_done_is_not_sent_again() -> None:
    server = Server(httpx2.ReadTimeout("late"))
    with pytest.raises(Unreachable):
        server.client().study("s").pause("lunch")
    assert len(server.asked) == 1
    # Without a connection nothing was.
    server = Server(httpx2.ConnectError("refused"), answer({"status": "paused"}))
    assert server.client().study("s").pause("lunch")["status"] == "paused"


def test_a_problem_names_its_fields_and_rows() -> None:
    errors = [
        {"field": "max_items", "code": "refused", "message": "There are 3."},
        {"field": "file", "code": "refused", "message": "row 3 (key 'q3'): no prompt."},
    ]
    body = {"status": 409, "code": "refused", "detail": "max_items: There are 3.", "errors": errors}
    with pytest.raises(Problem) as refused:
        Server(answer(body, 409)).client().study("s").start_run(1)
    first, second = refused.value.faults
    assert (first, first.row) == (Fault("max_items", "There are 3.", "refused"), None)
    assert second.row == 3


def test_a_proxy_s_page_is_a_problem_too() -> None:
    with pytest.raises(Problem, match="no description"):
        Server(httpx2.Response(502, text="<h1>Bad gateway</h1>")).client().study("s").details()


def test_a_job_is_waited_for_and_its_rows_are_told() -> None:
    server = Server(answer(job("running")), answer(job("done")))
    client = server.client()
    assert client.wait_for(job("queued"))["state"] == "done"
    assert server.slept == [2.0, 2.0]
    failed = job(
        "failed", message="Nothing was imported.", problems=[{"place": "row 2", "message": "no prompt"}]
    )
    with pytest.raises(JobFailed, match="row 2: no prompt") as told:
        client.wait_for(failed)
    assert told.value.faults[0].row == 2
    with pytest.raises(JobFailed, match="started again"):
        client.wait_for(job("running", lost=True))


def test_a_table_is_read_as_the_server_guesses() -> None:
    guess = {"per": "item", "columns": []}
    server = Server(answer({"job": None, "map": guess}), answer({"job": job("done"), "map": None}, 202))
    assert server.client().import_study(b"prompt,a,b\n", name="soups.csv", title="Soups").slug == "soups"
    [_, second] = server.asked
    assert json.dumps(guess).encode() in second.content
    assert b'filename="soups.csv"' in second.content


def test_a_report_that_is_computed_is_awaited() -> None:
    server = Server(answer({"state": "queued"}, 202, Retry_After="5"), answer({"schema": "assay-report/2"}))
    assert server.client().study("s").report()["schema"] == "assay-report/2"
    assert server.slept == [5]


# --- files ------------------------------------------------------------------------------------------------------------

CONTENT = b"0123456789" * 100


class Broken(httpx2.SyncByteStream):
    """So many bytes, then the connection is gone."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self.content
        raise httpx2.ReadError("gone")


def serving(
    content: bytes, etag: str, breaks_at: int | None = None
) -> Callable[[httpx2.Request], httpx2.Response]:
    """A server with a file, which breaks off the first answers there."""

    def handle(request: httpx2.Request) -> httpx2.Response:
        start = 0
        if request.headers.get("If-Range") == etag:
            start = int(request.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            return httpx2.Response(416, headers={"ETag": etag})
        rest = content[start:] if breaks_at is None else content[start : start + breaks_at]
        stream = Broken(rest) if start + len(rest) < len(content) else httpx2.ByteStream(rest)
        return httpx2.Response(206 if start else 200, stream=stream, headers={"ETag": etag})

    return handle


def fetch(handle: Callable[[httpx2.Request], httpx2.Response], file: Path) -> bytes:
    client = Client(
        "https://assay.example.org",
        "t",
        sleep=lambda seconds: None,
        transport=httpx2.MockTransport(handle),
    )
    assert client.download("jobs/7/file/", file) == file
    assert sorted(file.parent.iterdir()) == [file]
    return file.read_bytes()


def test_a_file_that_breaks_off_is_put_together(tmp_path: Path) -> None:
    assert fetch(serving(CONTENT, '"a"', breaks_at=300), tmp_path / "file") == CONTENT


@pytest.mark.parametrize("have", [CONTENT[:400], CONTENT], ids=["half", "whole"])
def test_a_file_of_a_process_that_ended_is_resumed(tmp_path: Path, have: bytes) -> None:
    (tmp_path / "file.part").write_bytes(have)
    (tmp_path / "file.etag").write_text('"a"')
    assert fetch(serving(CONTENT, '"a"'), tmp_path / "file") == CONTENT


@pytest.mark.parametrize("have", [b"other" * 50, b"other" * 5_000], ids=["shorter", "longer"])
def test_a_file_that_changed_is_fetched_whole(tmp_path: Path, have: bytes) -> None:
    (tmp_path / "file.part").write_bytes(have)
    (tmp_path / "file.etag").write_text('"b"')
    assert fetch(serving(CONTENT, '"a"'), tmp_path / "file") == CONTENT


def test_a_file_that_is_not_there_leaves_nothing(tmp_path: Path) -> None:
    refused = Server(answer({"code": "not_made", "detail": "Not made yet."}, 409))
    with pytest.raises(Problem, match="Not made yet"):
        refused.client().study("s").report_file("report.zip", tmp_path / "report.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_frame_has_a_row_for_each_answer() -> None:
    base = {"id": 1, "item": "q1", "excluded": [], "trace": {}}
    answers = [{"question": "a", "label": "r1"}, {"question": "b", "label": "tie"}]
    frame = to_frame([base | {"answers": answers}, base | {"id": 2, "excluded": [{}], "answers": []}])
    assert list(frame["id"]) == [1, 1, 2]
    assert list(frame["excluded"]) == [False, False, True]
    assert list(frame["label"].fillna("")) == ["r1", "tie", ""]
