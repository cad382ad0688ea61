"""A judged study, and people who call the API with a token of theirs."""

import json
import uuid
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluation.models import StudyMember
from evaluation.services.tokens import make_token
from tests.judged_contrast import made, owner, shared, study

__all__ = ["made", "owner", "shared", "study"]

ROOT = "/api/v1/"


class Caller:
    """Somebody with a token, or nobody."""

    def __init__(self, token: str = "") -> None:
        self.token = token
        self.client = Client()

    def get(self, path: str = "", **parameters: Any) -> Any:
        return self.client.get(address(path), parameters, headers=self._headers())

    def post(self, path: str, body: Any = None, *, key: str = "") -> Any:
        """Without a body none is sent."""
        headers = self._headers() | ({"Idempotency-Key": key} if key else {})
        data = "" if body is None else json.dumps(body)
        return self.client.generic("POST", address(path), data, "application/json", headers=headers)

    def put(self, path: str, body: Any) -> Any:
        return self.client.generic(
            "PUT", address(path), json.dumps(body), "application/json", headers=self._headers()
        )

    def patch(self, path: str, body: Any) -> Any:
        return self.client.generic(
            "PATCH", address(path), json.dumps(body), "application/json", headers=self._headers()
        )

    def delete(self, path: str) -> Any:
        return self.client.delete(address(path), headers=self._headers())

    def upload(self, path: str, raw: bytes, name: str, *, key: str = "", **fields: Any) -> Any:
        headers = self._headers() | ({"Idempotency-Key": key} if key else {})
        form = {"file": SimpleUploadedFile(name, raw), **fields}
        return self.client.post(address(path), form, headers=headers)

    def all(self, path: str, **parameters: Any) -> list[dict[str, Any]]:
        """Every row of a list, page after page."""
        rows, page = [], self.get(path, **parameters).json()
        while True:
            rows += page["results"]
            if not page["next"]:
                return rows
            page = self.client.get(page["next"], headers=self._headers()).json()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


def address(path: str) -> str:
    return path if path.startswith(("/", "http")) else ROOT + path


@pytest.fixture(autouse=True)
def nothing_counted():
    """Each test starts a minute of its own, apart from tests that share a Redis with it."""
    prefix = cache.key_prefix
    cache.key_prefix = f"{prefix}{uuid.uuid4().hex}"
    yield
    cache.key_prefix = prefix


@pytest.fixture(autouse=True)
def job_files(settings, tmp_path):
    """The files of jobs, in a folder of the test's own."""
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")


@pytest.fixture
def call():
    """Makes the caller of a user."""

    def make(user=None):
        return Caller(make_token(user, name="script")[1] if user else "")

    return make


@pytest.fixture
def as_owner(call, owner):
    return call(owner)


@pytest.fixture
def as_viewer(call, colleague, study):
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.VIEWER)
    return call(colleague)


@pytest.fixture
def as_outsider(call, outsider):
    return call(outsider)


@pytest.fixture
def as_nobody(call, db):
    return call()
