"""The Batch API: files of requests, which the same code answers as those that come one by one.

The behaviours of a batch stand in its metadata, `{"behaviours": "polls=3:expire"}`: `polls=N` is done at the Nth poll
(2), `fail` fails as a whole, `expire` leaves half of its requests unanswered. Those of each request stand in its
model's name, as always; what is not answered with 200 goes into the error file. What the server is told as
`batch_behaviours` holds of batches whose metadata say nothing.

`lost`, `held` and `refused` name steps, `"POST files"`, `"POST batches"`, `"GET batches/1"`, `"GET files/1/content"`:
the next such step is done and its answer lost with the connection, or kept back for ever; or it is not done, and 503.
"""

from __future__ import annotations

import email
import email.policy
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from tests.judging.endpoint.answers import Answer, Seen, Served, error
from tests.judging.endpoint.behaviours import interface_of, prompt_of, respond

POLLS = 2


@dataclass
class Batch:
    """A batch between creation and its end; `lines` are its requests, in the file's order."""

    pk: str
    given: dict[str, Any]
    lines: list[dict[str, Any]]
    told: dict[str, str]
    authorization: str
    status: str = "validating"
    errors: list[dict[str, Any]] = field(default_factory=list)
    polls: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"total": 0, "completed": 0, "failed": 0})
    output_file_id: str | None = None
    error_file_id: str | None = None

    def shown(self) -> dict[str, Any]:
        errors = {"object": "list", "data": self.errors} if self.errors else None
        return {
            "id": self.pk,
            "object": "batch",
            "endpoint": self.given["endpoint"],
            "input_file_id": self.given["input_file_id"],
            "completion_window": self.given["completion_window"],
            "metadata": self.given.get("metadata"),
            "created_at": 0,
            "status": self.status,
            "errors": errors,
            "request_counts": self.counts,
            "output_file_id": self.output_file_id,
            "error_file_id": self.error_file_id,
        }


def handle(served: Served, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
    """The answer to whatever is asked of files and batches; 404 for all else."""
    authorization = headers.get("authorization", "")
    served.authorizations.add(authorization)
    if not served.knows(authorization):
        return error(401, "told to answer 401", 0)
    address, _, query = path.partition("?")
    kind, pk, action = re.fullmatch(r".*?/(files|batches)(?:/([^/]+))?(?:/(\w+))?", address).groups()  # type: ignore[union-attr]
    if "no_batches" in served.behaviours.split(":"):
        return error(404, f"no {path} here", 0)
    if (method, pk) == ("GET", None):
        shown = (
            [_file(served, each) for each in served.files]
            if kind == "files"
            else [each.shown() for each in served.batches.values()]
        )
        return _list(shown[::-1], dict(parse_qsl(query)))
    if kind == "files":
        return _files(served, method, pk, action, headers, body)
    if method == "POST" and pk is None:
        return _create(served, json.loads(body), authorization)
    batch = served.batches.get(pk)
    if batch is None:
        return error(404, f"no batch {pk}", 0)
    if (method, action) == ("POST", "cancel"):
        return _cancel(batch)
    if (method, action) == ("GET", None):
        _poll(served, batch)
        return _json(batch.shown())
    return error(404, f"no {path} here", 0)


def _json(data: Any) -> Answer:
    return Answer(200, json.dumps(data).encode())


def _list(rows: list[dict[str, Any]], query: dict[str, str]) -> Answer:
    """A page of what there is, the newest first."""
    names = [row["id"] for row in rows]
    begin = names.index(query["after"]) + 1 if "after" in query else 0
    end = begin + int(query.get("limit", 20))
    return _json({"object": "list", "data": rows[begin:end], "has_more": end < len(rows)})


def step_of(method: str, path: str) -> str:
    """The name of a step: "POST batches", "GET files/1/content" with the number of the file for its id."""
    found = re.search(r"/((?:files|batches)[^?]*)", path)
    return f"{method} {re.sub(r'/(?:file|batch)-', '/', found[1])}" if found else ""


# --- files ----------------------------------------------------------------------------------------------------------


def _files(
    served: Served, method: str, pk: str | None, action: str | None, headers: dict[str, str], body: bytes
) -> Answer:
    if method == "POST" and pk is None:
        parts = _parts(headers.get("content-type", ""), body)
        if parts.get("purpose") != b"batch" or "file" not in parts:
            return error(400, "purpose must be batch, with a file", 0)
        return _json(_file(served, _keep(served, parts["file"], _file_name(body))))
    if pk not in served.files:
        return error(404, f"no file {pk}", 0)
    if (method, action) == ("GET", "content"):
        return Answer(200, served.files[pk])
    if (method, action) == ("GET", None):
        return _json(_file(served, pk))
    if (method, action) == ("DELETE", None):
        del served.files[pk]
        return _json({"id": pk, "object": "file", "deleted": True})
    return error(404, f"no {action} of a file", 0)


def _parts(content_type: str, body: bytes) -> dict[str, bytes]:
    """The fields of a form, as multipart/form-data brings them."""
    message = email.message_from_bytes(
        f"content-type: {content_type}\r\n\r\n".encode() + body, policy=email.policy.HTTP
    )
    return {
        str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True)
        for part in message.iter_parts()  # type: ignore[attr-defined]
    }


def _file_name(body: bytes) -> str:
    found = re.search(rb'filename="([^"]*)"', body)
    return found[1].decode() if found else ""


def _keep(served: Served, content: bytes, name: str = "") -> str:
    served.files_made += 1
    pk = f"file-{served.files_made}"
    served.files[pk] = content
    served.file_names[pk] = name
    return pk


def _file(served: Served, pk: str) -> dict[str, Any]:
    size = len(served.files[pk])
    return {"id": pk, "object": "file", "bytes": size, "created_at": 0, "filename": served.file_names[pk],
            "purpose": "batch", "status": "processed"}  # fmt: skip


def _jsonl(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


# --- batches --------------------------------------------------------------------------------------------------------


def _create(served: Served, given: dict[str, Any], authorization: str) -> Answer:
    if given["input_file_id"] not in served.files:
        return error(400, f"no file {given['input_file_id']}", 0)
    if given.get("completion_window") != "24h" or interface_of(given["endpoint"]) is None:
        return error(400, "the window must be 24h, the endpoint one that takes batches", 0)
    behaviours = (given.get("metadata") or {}).get("behaviours", served.batch_behaviours)
    told = dict(each.partition("=")[::2] for each in behaviours.split(":") if each)
    lines, errors = _read(served.files[given["input_file_id"]], given["endpoint"])
    if "fail" in told:
        errors = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None}]
    batch = Batch(f"batch-{len(served.batches) + 1}", given, lines, told, authorization, errors=errors)
    batch.counts["total"] = len(lines)
    served.batches[batch.pk] = batch
    return _json({**batch.shown(), "errors": None})


def _read(content: bytes, endpoint: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The requests of a file, and what is wrong with it."""
    lines, errors, seen = [], [], set()
    for number, raw in enumerate(content.splitlines(), 1):
        try:
            line = json.loads(raw)
            fits = line["url"] == endpoint and line["method"] == "POST" and line["body"]["model"]
        except (ValueError, KeyError, TypeError):
            errors.append(
                {"code": "invalid_json_line", "message": "This line is no request.", "line": number}
            )
            continue
        if not fits or line["custom_id"] in seen:
            code = "mismatched_url" if not fits else "duplicate_custom_id"
            errors.append({"code": code, "message": code.replace("_", " "), "line": number})
        seen.add(line["custom_id"])
        lines.append(line)
    if not lines and not errors:
        errors.append({"code": "empty_file", "message": "The file has no request.", "line": None})
    return lines, errors


def _cancel(batch: Batch) -> Answer:
    if batch.status not in ("validating", "in_progress", "finalizing"):
        return error(409, f"a batch that is {batch.status} cannot be cancelled", 0)
    batch.status = "cancelling"
    return _json(batch.shown())


def _poll(served: Served, batch: Batch) -> None:
    if batch.status in ("completed", "failed", "expired", "cancelled"):
        return
    batch.polls += 1
    last = int(batch.told.get("polls") or POLLS)
    if batch.errors:
        batch.status = "failed"
    elif batch.status == "cancelling":
        _finish(served, batch, "cancelled", len(batch.lines) * min(batch.polls - 1, last) // last)
    elif batch.polls < last - 1:
        batch.status = "in_progress"
    elif batch.polls == last - 1:
        batch.status = "finalizing"
    elif "expire" in batch.told:
        _finish(served, batch, "expired", len(batch.lines) // 2)
    else:
        _finish(served, batch, "completed", len(batch.lines))


def _finish(served: Served, batch: Batch, status: str, done: int) -> None:
    """Answer the first `done` requests; those after them are errors of a code that says what became of the batch."""
    answered, failed = [], []
    for place, line in enumerate(batch.lines):
        row: dict[str, Any] = {"id": f"{batch.pk}-{place}", "custom_id": line["custom_id"], "response": None}
        row["error"] = None
        if place >= done:
            row["error"] = {"code": f"batch_{status}", "message": f"The batch {status} before this request."}
        else:
            row["response"] = _answer(served, batch, line, f"req-{place}")
        good = row["response"] is not None and row["response"]["status_code"] == 200
        (answered if good else failed).append(row)
    # Rows come back in an order of the server's own.
    batch.output_file_id = _keep(served, _jsonl(answered[::-1])) if answered else None
    batch.error_file_id = _keep(served, _jsonl(failed[::-1])) if failed else None
    batch.counts |= {"completed": len(answered), "failed": len(failed)}
    batch.status = status


def _answer(served: Served, batch: Batch, line: dict[str, Any], request_id: str) -> dict[str, Any]:
    body, interface = line["body"], interface_of(line["url"])
    assert interface is not None
    prompt = prompt_of(interface, body)
    behaviour, answer = respond(served, interface, body, prompt, batch.authorization)
    served.counts[prompt] += 1
    if served.keep:
        served.log.append(Seen(line["url"], body["model"], batch.authorization, prompt, behaviour, body, 0))
    if answer is None or answer.cut is not None:
        answer = error(500, "no answer", 0)
    served.total += 1
    served.count_tokens(answer.body)
    try:
        content = json.loads(answer.body)
    except ValueError:
        content = answer.body.decode()
    return {"status_code": answer.status, "request_id": request_id, "body": content}
