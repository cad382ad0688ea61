"""The files of a release as a study: imported when a figure first asks for it, with the report that it has."""

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from django.db import transaction

from analytics.figures.document import ReportRecord, Written
from analytics.frames.study import StudyFrame, study_frame
from analytics.reports.build import build_report
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.published import read_release
from evaluation.dumps.release import BESIDE
from evaluation.filters import TOGETHER, Filters
from evaluation.models import Study

# A row of a release's file.
ReleaseRow = Mapping[str, Any]
PEOPLE = "person"


@dataclass(frozen=True, eq=False)
class ReleaseInput:
    """The source of a reproduction. `as_published` asks for the release's own readings beside ours, `figures` are those
    of the report that it reads, `beside` are more files or folders of a release that may have several."""

    release: str
    path: Path
    as_published: bool
    slug: str
    figures: Collection[str] = ()
    beside: Sequence[Path] = ()

    @cached_property
    def study(self) -> Study:
        """The release as it is imported by any other command; Refused where its files are wrong."""
        source = read_release(self.release, self.path, {BESIDE: self.beside or None})
        return import_dump(source, slug=self.slug)

    @cached_property
    def frame(self) -> StudyFrame:
        return study_frame(self.study)

    @cached_property
    def report(self) -> ReportRecord:
        return build_report(self.study, filters=Filters(judges=TOGETHER), only=self.figures)

    def group(self, label: str) -> str:
        """The key of the group of raters with this label; LookupError where the report has none."""
        for each in self.report["groups"]:
            if each["label"] == label:
                return each["key"]
        raise LookupError(f"The report has no raters named {label!r}.")

    def record(self, figure: str, question: str = "", group: str = PEOPLE) -> Written:
        """A figure's record of a question and group; LookupError names what the report lacks, and ValueError a figure
        that the reproduction does not name.
        """
        if figure not in self.figures:
            raise ValueError(f"The reproduction of {self.release} does not name {figure} among its figures.")
        for each in self.report["records"]:
            if (each["figure"], each["question"], each["group"]) == (figure, question, group):
                return each
        raise LookupError(f"The report has no {figure} of {question!r} by {group!r}.")


@contextmanager
def release_input(
    release: str,
    path: Path,
    beside: Sequence[Path] = (),
    *,
    figures: Collection[str],
    as_published: bool,
    keep: str,
) -> Iterator[ReleaseInput]:
    """The release at `path` and `beside` it, imported under the slug `keep`, or without one rolled back when the block
    ends."""
    if keep:
        yield ReleaseInput(release, path, as_published, keep, figures, beside)
        return
    with transaction.atomic():
        slug = f"reproduce-{release}-{secrets.token_hex(4)}"
        yield ReleaseInput(release, path, as_published, slug, figures, beside)
        transaction.set_rollback(True)
