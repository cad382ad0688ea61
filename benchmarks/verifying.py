"""`verify` of a large study in PostgreSQL, and its sealing as it is found.

A million judgments of seventeen answers each on 250,000 items of four responses, written by the database itself and so
without the hashes of its stimuli: its sentences are counted, and are those of stimuli and orders alone.

Usage: DATABASE_URL=postgres://... python -m benchmarks.verifying (creates the study if it lacks it, and keeps it)
"""

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.large_studies import prepare

SLUG = "large-answers"
MEGABYTE = 1024  # ru_maxrss counts kilobytes


def main() -> None:
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        sys.exit("Set DATABASE_URL to a PostgreSQL database that may be filled.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from evaluation.models import Study
    from evaluation.services.studies.sealing import seal_study
    from evaluation.services.studies.verification import verify_study

    prepare(SLUG)
    study = Study.objects.get(slug=SLUG)
    print(
        f"{study.judgments.count():,} judgments, {study.items.count():,} items, {study.raters.count():,} raters"
    )
    if not study.seals.exists():
        print(timed("seal", lambda: seal_study(study)))
        study.refresh_from_db()

    def verify() -> str:
        said = Counter(" ".join(sentence.split(":")[-1].split()[:4]) for sentence in verify_study(study))
        return ", ".join(f"{n:,} x {beginning}..." for beginning, n in said.items())

    print(timed("verify", verify))
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE:.0f} MB")


def timed(name: str, call: Callable[[], Any]) -> str:
    started, cpu = time.perf_counter(), time.process_time()
    result = call()
    return (
        f"{name}: {time.perf_counter() - started:.0f} s, {time.process_time() - cpu:.0f} s of CPU: {result}"
    )


if __name__ == "__main__":
    main()
