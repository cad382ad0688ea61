"""Requests to the API: tried again where that is safe, page after page, and files resumed where they broke off."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from assay_client import uploads
from assay_client.downloads import fetch_file
from assay_client.problems import JobFailed, Problem, Unreachable
from assay_client.study import Study

Record = dict[str, Any]
# Answers of a server that has not acted: too many requests, or no database.
NOT_NOW = (429, 503)
# Methods that come to the same however often they are sent.
REPEATABLE = ("GET", "PUT", "DELETE")
ATTEMPTS = 6
# States of a job that is over, or waits to be confirmed.
ENDED = ("done", "failed", "staged")
LONGEST_WAIT = 60.0


class Client:
    """Whoever has the token, at the server of that address.

    `sleep` and `transport` are for tests; `timeout` is of one request, in seconds.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.sleep = sleep
        self.http = httpx2.Client(
            base_url=f"{url.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()

    # --- studies ------------------------------------------------------------------------------------------------------

    def studies(self) -> Iterator[Record]:
        """The studies that you are a member of, newest first."""
        return self.pages("studies/")

    def study(self, slug: str) -> Study:
        """The study of that slug; nothing is asked before something of it is."""
        return Study(self, slug)

    def create_study(self, **wanted: Any) -> Study:
        """A draft: blank (`title`, `protocol`), or of an entry of the library (`library`)."""
        return Study(self, self.post("studies/", wanted, once=True)["slug"])

    def import_study(self, file: Path | bytes, *, name: str = "", **wanted: Any) -> Study:
        """A study of a dump, a bundle or a table; JobFailed with the rows that were wrong.

        `map` says how a table is read, `map_name` which of your saved maps does; without one, the server's guess is
        taken (`guess_map` shows it).
        """
        begun = self.begin_import("imports/", file, name, wanted)
        return Study(self, str(self.wait_for(begun)["study"]))

    def guess_map(self, table: Path | bytes, *, name: str = "") -> Record:
        """The server's reading of a table: its `map`, what each column is taken for, and notes. Nothing is kept."""
        found: Record = uploads.send_file(self, "imports/", table, name, {})
        return found

    def begin_import(self, path: str, file: Path | bytes, name: str, wanted: Mapping[str, Any]) -> Record:
        """The job of an import; of a table without a map, by the server's guess."""
        begun = uploads.send_file(self, path, file, name, wanted)
        if begun["job"] is None:
            begun = uploads.send_file(self, path, file, name, {**wanted, "map": begun["map"]})
        job: Record = begun["job"]
        return job

    # --- endpoints ----------------------------------------------------------------------------------------------------

    def endpoints(self) -> Iterator[Record]:
        """The endpoints that judges of your studies may call."""
        return self.pages("endpoints/")

    def create_endpoint(self, name: str, base_url: str, **settings: Any) -> Record:
        """An endpoint at a place that the rules allow."""
        found: Record = self.post("endpoints/", {"name": name, "base_url": base_url, **settings}, once=True)
        return found

    # --- jobs ---------------------------------------------------------------------------------------------------------

    def wait_for(self, job: Record, *, every: float = 2.0) -> Record:
        """The job once it has ended, or is staged; JobFailed if it failed, or lost its worker."""
        while job["state"] not in ENDED:
            if job["lost"]:
                raise JobFailed(job | {"message": "The worker of this job is gone; it can be started again."})
            self.sleep(every)
            job = self.get(f"jobs/{job['id']}/")
        if job["state"] == "failed":
            raise JobFailed(job)
        return job

    def restart(self, job: Record) -> Record:
        """Send a job that failed or lost its worker to one again."""
        found: Record = self.post(f"jobs/{job['id']}/restart/")
        return found

    # --- requests -----------------------------------------------------------------------------------------------------

    def get(self, path: str, **parameters: Any) -> Any:
        # Without any, those of the address stand.
        return self.ask("GET", path, params=parameters or None)

    def post(self, path: str, body: Any = None, *, once: bool = False) -> Any:
        """With `once`, what the server does once for an Idempotency-Key, and so may be sent again."""
        return self.ask("POST", path, once=once, json={} if body is None else body)

    def put(self, path: str, body: Any) -> Any:
        return self.ask("PUT", path, json=body)

    def patch(self, path: str, body: Any) -> Any:
        return self.ask("PATCH", path, json=body)

    def delete(self, path: str) -> Any:
        return self.ask("DELETE", path)

    def pages(self, path: str, **parameters: Any) -> Iterator[Record]:
        """The rows of a list, page after page, each asked for when it is needed."""
        page = self.get(path, **parameters)
        while True:
            yield from page["results"]
            if page["next"] is None:
                return
            # Of its address the parameters alone: the token goes to the server that was named, and to no other.
            page = self.ask("GET", path, params=httpx2.URL(page["next"]).params)

    def awaited(self, path: str, **parameters: Any) -> Any:
        """What the server computes: asked for again while the answer is that it is not there yet."""
        while True:
            response = self.send("GET", path, params=parameters)
            if response.status_code != 202:
                return response.json()
            self.sleep(wait_of(response, 2.0))

    def download(self, path: str, file: Path | str, parameters: Mapping[str, Any] | None = None) -> Path:
        """A file of the server, resumed where it broke off, in this process or in one before."""
        return fetch_file(self, path, Path(file), parameters or {})

    def ask(self, method: str, path: str, **request: Any) -> Any:
        response = self.send(method, path, **request)
        return response.json() if response.content else None

    def send(
        self,
        method: str,
        path: str,
        *,
        once: bool = False,
        headers: Mapping[str, str] | None = None,
        **request: Any,
    ) -> httpx2.Response:
        """The answer, after as many attempts as the request may be made; Problem, or Unreachable without one."""
        named = {**(headers or {}), **({"Idempotency-Key": uuid.uuid4().hex} if once else {})}
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            try:
                response = self.http.request(method, path, headers=named, **request)
            except httpx2.ConnectError as error:
                if last:
                    raise Unreachable(f"The server can't be reached: {error}") from error
                self.sleep(2.0**attempt)
                continue
            except httpx2.TransportError as error:
                # It may have been acted on.
                if last or not (once or method in REPEATABLE):
                    raise Unreachable(f"The server gave no answer: {error}") from error
                self.sleep(2.0**attempt)
                continue
            if response.status_code in NOT_NOW and not last:
                self.sleep(wait_of(response, 2.0**attempt))
                continue
            if response.is_success:
                return response
            raise Problem.of(response)
        raise AssertionError("The last attempt answers or raises.")


def wait_of(response: httpx2.Response, otherwise: float) -> float:
    """The seconds that Retry-After names, as far as one waits at all."""
    named = response.headers.get("Retry-After", "")
    return min(float(named) if named.isdigit() else otherwise, LONGEST_WAIT)
