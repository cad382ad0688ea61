"""The list of studies at 1,000 of them: milliseconds per page for a superuser, who sees all, and for a member of half.

A tenth have items, and all have the row of counts that a worker keeps; each page is asked for 30 times.

Usage: DATABASE_URL=postgres://... python -m benchmarks.study_list [STUDIES]
"""

import logging
import os
import sys
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from benchmarks.database import set_up

REPEATS = 30
STATUSES = ("draft", "live", "paused", "closed")
PAGES: dict[str, dict[str, Any]] = {
    "list": {},
    "page 15": {"page": 15},
    "search": {"q": "study 77"},
    "live": {"status": "live"},
    "of an owner": {"owner": None},
    "by progress": {"sort": "progress"},
    "by title, page 10": {"sort": "title", "page": 10},
}


def main(number: int) -> None:
    set_up()
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    settings.ALLOWED_HOSTS = ["testserver"]
    logging.disable(logging.WARNING)
    run = f"list-{int(time.time())}"
    users = get_user_model()._default_manager
    root = users.create_user(f"{run}-root", is_staff=True, is_superuser=True)
    member = users.create_user(f"{run}-member", is_staff=True)
    _fill(run, number, [root, member])
    load = os.getloadavg()[0]
    print(f"{number:,} studies; milliseconds, at a load of {load:.1f}")
    print(f"{'':12}{'page':20}{'median':>8}{'p95':>8}")
    for who in (root, member):
        client = Client()
        client.force_login(who)
        for name, asked in PAGES.items():
            given = {key: member.pk if value is None else value for key, value in asked.items()}
            times = sorted(_timed(client, f"/studies/?{urlencode(given)}") for _ in range(REPEATS))
            label = who.get_username().rpartition("-")[2]
            print(
                f"{label:12}{name:20}{times[REPEATS // 2]:8.0f}{times[int(0.95 * REPEATS)]:8.0f}", flush=True
            )


def _timed(client: Any, address: str) -> float:
    started = time.perf_counter()
    response = client.get(address)
    took = 1000 * (time.perf_counter() - started)
    assert response.status_code == 200, (address, response.content[:500])
    return took


def _fill(run: str, number: int, owners: list[Any]) -> None:
    from django.db import connection
    from django.utils import timezone

    from evaluation.models import Arm, Item, Progress, Query, Study, StudyMember

    now = timezone.now()
    studies = Study.objects.bulk_create(
        Study(slug=f"{run}-{at}", title=f"Study {at} of answers to questions", protocol="pairwise",
              status=STATUSES[at % 4], created_at=now - timedelta(hours=at))
        for at in range(number)
    )  # fmt: skip
    StudyMember.objects.bulk_create(
        StudyMember(study=study, user=owners[at % 2], role="owner") for at, study in enumerate(studies)
    )
    Progress.objects.bulk_create(
        Progress(study=study, at=now, n_wanted=3_000, n_filled=at % 3_000, n_people=at % 3_000, n_judges=1_000,
                 last_activity=now - timedelta(minutes=at))
        for at, study in enumerate(studies)
    )  # fmt: skip
    for study in studies[::10]:
        arm = Arm.objects.create(study=study, key="all", label="All")
        queries = Query.objects.bulk_create(
            Query(study=study, key=f"q{n}", text=f"Query {n}?") for n in range(100)
        )
        Item.objects.bulk_create(Item(study=study, key=each.key, query=each, arm=arm) for each in queries)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
