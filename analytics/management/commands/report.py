"""Writes a study's report as JSON, Markdown or one HTML file."""

import os
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analytics.reports.cache import compute_report
from analytics.reports.common import TIES, NothingToReport
from analytics.reports.files import FORMATS
from evaluation.models import Study


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the study")
        parser.add_argument("--format", choices=sorted(FORMATS), default="md")
        parser.add_argument(
            "--ties",
            choices=TIES,
            default="half",
            help="how a tie counts in expected win rates (default: half)",
        )
        parser.add_argument("--out", default="-", help="a file, or - for the terminal (default)")

    def handle(self, *args: Any, **options: Any) -> None:
        slug, out = options["slug"], options["out"]
        study = Study.objects.visible().filter(slug=slug).first()
        if study is None:
            raise CommandError(f"There is no study {slug!r}.")
        try:
            report = compute_report(study, ties=options["ties"])
        except NothingToReport as nothing:
            raise CommandError(str(nothing)) from None
        text = FORMATS[options["format"]](report)
        if out == "-":
            self.stdout.write(text, ending="")
        else:
            _write(Path(out), text)
            self.stderr.write(f"{out}: {len(text.encode()):,} bytes")


def _write(path: Path, text: str) -> None:
    """All of the file or nothing of it: whoever reads the old one meanwhile is not disturbed."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise CommandError(f"{path} can't be written: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # A temporary file is private to its owner; the report gets what a new file would have.
        Path(name).chmod(0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        raise CommandError(f"{path} can't be written: {error.strerror}.") from None
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
