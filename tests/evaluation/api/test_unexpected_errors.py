"""Unexpected errors as programs are told of them: a code, and the sentence for people."""

import errno
import sqlite3
from typing import Any

import pytest
from django.db import OperationalError, connection

from tests.evaluation.api.conftest import Caller


def locked() -> OperationalError:
    cause = sqlite3.OperationalError("database is locked")
    cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
    error = OperationalError("database is locked")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RuntimeError("a slip"), 500, "error"),
        (locked(), 503, "unavailable"),
        (OSError(errno.ENOSPC, "No space left on device"), 507, "disk_full"),
    ],
    ids=["a slip", "a locked database", "a full disk"],
)
def test_an_unexpected_error_is_a_problem_with_its_code(
    db: Any, error: Exception, status: int, code: str
) -> None:
    caller = Caller("assay_" + "0" * 64)
    caller.client.raise_request_exception = False

    def fail(*args: Any) -> Any:
        raise error

    with connection.execute_wrapper(fail):
        answer = caller.get("studies/")
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["code"] == code
    assert ("Retry-After" in answer) == (status == 503)
