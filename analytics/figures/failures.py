"""Figures that fail: each is left out of its report, which says so, and the error is logged with the study."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Self

from django.db import Error as DatabaseError

from analytics.figures.document import FailedFigure, ReportRecord

logger = logging.getLogger("assay.figures")


class Failures(dict[str, str]):
    """The figures of a study's report that failed: the error of each, by its key."""

    def __init__(self, study: str, known: Iterable[FailedFigure] = ()) -> None:
        super().__init__((each["figure"], each["error"]) for each in known)
        self.study = study

    @classmethod
    def of(cls, report: ReportRecord, more: Iterable[FailedFigure] = ()) -> Self:
        """Those that the report lists, and more."""
        return cls(report["study"]["slug"], (*report.get("failed", ()), *more))

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

    def records(self) -> list[FailedFigure]:
        """As a report lists them."""
        return [{"figure": key, "error": error} for key, error in sorted(self.items())]
