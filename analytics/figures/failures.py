"""Figures that fail: each is left out of its report, which says so, and the error is logged with the study."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import Error as DatabaseError

logger = logging.getLogger("assay.figures")


class Failures(dict[str, str]):
    """The figures of a report that failed: the error of each, by its key."""

    def __init__(self, report: dict[str, Any], known: Iterable[dict[str, str]] = ()) -> None:
        super().__init__((each["figure"], each["error"]) for each in (*report.get("failed", ()), *known))
        self.study: str = report["study"]["slug"]

    @contextmanager
    def leaving_out(self, key: str) -> Iterator[None]:
        """Whatever is asked of this figure may raise without the others'."""
        try:
            yield
        except DatabaseError:  # nothing else could be read either
            raise
        except Exception as error:
            self.setdefault(key, f"{type(error).__name__}: {error}")
            logger.exception("The figure %s of the study %s failed and is left out.", key, self.study)

    def records(self) -> list[dict[str, str]]:
        """As a report lists them."""
        return [{"figure": key, "error": error} for key, error in sorted(self.items())]
