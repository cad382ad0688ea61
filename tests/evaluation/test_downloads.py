"""Downloads that break off are resumed: the parts are the file, and never parts of two files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from evaluation.downloads import download_response


@pytest.fixture(scope="module", autouse=True)
def requests_end_without_a_database() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.http.response.signals.request_finished.send", lambda **told: None)
        yield


CONTENT = bytes(range(256)) * 40


def fetch(source: Path | bytes, method: str = "get", **headers: str) -> HttpResponseBase:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    request: HttpRequest = getattr(RequestFactory(), method)("/", headers=given)
    return download_response(request, source, name="soups.jsonl", content_type="application/jsonl")


def body(response: Any) -> bytes:
    content = response.getvalue()
    response.close()
    assert isinstance(content, bytes)
    return content


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "soups"
    path.write_bytes(CONTENT)
    return path


def test_a_whole_file_says_how_it_is_resumed(file: Path) -> None:
    whole = fetch(file)
    assert (whole.status_code, whole["Content-Length"]) == (200, str(len(CONTENT)))
    assert (whole["Accept-Ranges"], whole["Content-Type"]) == ("bytes", "application/jsonl")
    assert whole["Content-Disposition"] == 'attachment; filename="soups.jsonl"'
    assert whole["ETag"].startswith('"')
    assert body(whole) == CONTENT


@pytest.mark.parametrize("kind", ["file", "bytes"])
def test_cut_in_the_middle_and_resumed_it_is_the_same(file: Path, kind: str) -> None:
    source = file if kind == "file" else CONTENT
    whole = fetch(source)
    got = body(whole)[:5_000]
    rest = fetch(source, Range=f"bytes={len(got)}-", If_Range=whole["ETag"])
    assert rest.status_code == 206
    assert rest["Content-Range"] == f"bytes 5000-{len(CONTENT) - 1}/{len(CONTENT)}"
    assert rest["Content-Length"] == str(len(CONTENT) - 5_000)
    assert got + body(rest) == CONTENT


def test_a_file_that_changed_meanwhile_is_sent_whole(file: Path) -> None:
    whole = fetch(file)
    whole.close()
    file.write_bytes(b"other" * 2_048)
    again = fetch(file, Range="bytes=5000-", If_Range=whole["ETag"])
    assert (again.status_code, body(again)) == (200, b"other" * 2_048)
    # Of the same length, and written anew.
    before = again["ETag"]
    file.write_bytes(b"OTHER" * 2_048)
    os.utime(file, ns=(1, 1))
    again = fetch(file, Range="bytes=5000-", If_Range=before)
    assert (again.status_code, body(again)) == (200, b"OTHER" * 2_048)


@pytest.mark.parametrize("since", ["Mon, 30 Nov 2026 13:00:00 GMT", 'W/"{}"', "nonsense"])
def test_only_a_strong_etag_resumes(since: str) -> None:
    etag = fetch(CONTENT)["ETag"].strip('"')
    answer = fetch(CONTENT, Range="bytes=5000-", If_Range=since.format(etag))
    assert (answer.status_code, body(answer)) == (200, CONTENT)


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ("bytes=0-0", CONTENT[:1]),
        ("bytes=10-19", CONTENT[10:20]),
        ("bytes=-7", CONTENT[-7:]),
        ("bytes=-999999", CONTENT),
        (f"bytes=10-{'9' * 5_000}", CONTENT[10:]),
    ],
    ids=["one", "some", "last", "all", "far"],
)
def test_ranges(asked: str, got: bytes) -> None:
    answer = fetch(CONTENT, Range=asked)
    assert (answer.status_code, body(answer)) == (206, got)


@pytest.mark.parametrize(
    "asked",
    [f"bytes={len(CONTENT)}-", "bytes=5-4", "bytes=-0", "bytes=-", "bytes=a-b", f"bytes={'9' * 5_000}-"],
    ids=["end", "backwards", "none", "nothing", "letters", "far"],
)
def test_a_range_that_there_is_not_is_416(file: Path, asked: str) -> None:
    answer = fetch(file, Range=asked)
    assert (answer.status_code, body(answer)) == (416, b"")
    assert answer["Content-Range"] == f"bytes */{len(CONTENT)}"
    assert not answer.has_header("Content-Disposition")


def test_an_empty_file_has_no_range() -> None:
    assert fetch(b"", Range="bytes=0-").status_code == 416
    assert body(fetch(b"")) == b""


@pytest.mark.parametrize("asked", ["bytes=0-1,4-5", "items=0-1"])
def test_what_is_not_one_range_of_bytes_gets_the_whole(asked: str) -> None:
    answer = fetch(CONTENT, Range=asked)
    assert (answer.status_code, body(answer)) == (200, CONTENT)


def test_an_etag_that_is_known_needs_no_bytes(file: Path) -> None:
    etag = fetch(CONTENT)["ETag"]
    assert fetch(CONTENT, If_None_Match=etag).status_code == 304
    assert fetch(CONTENT, If_Match='"another"', Range="bytes=5-").status_code == 412
    head = fetch(CONTENT, "head", Range="bytes=5-")
    assert (head.status_code, head["Content-Length"]) == (200, str(len(CONTENT)))


@given(st.binary(max_size=400), st.integers(0, 450), st.integers(0, 450))
def test_a_range_is_the_slice_that_it_names(content: bytes, first: int, last: int) -> None:
    answer = fetch(content, Range=f"bytes={first}-{last}")
    wanted = content[first : last + 1]
    assert (answer.status_code, body(answer)) == ((206, wanted) if wanted else (416, b""))
