"""Figures of large studies from PostgreSQL: a million judgments, and 100,000 of the context-aware form.

Per form, in a process of its own: the whole report from the database with its peak memory, then each part by itself,
then `krippendorff.alpha` called once on the same judgments, which the parts are compared with.

Usage: DATABASE_URL=postgres://... python -m benchmarks.figures (creates the studies it lacks and keeps them)
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

FORMS = {
    "bench-plain": {"items": 333_333, "queries": 60_000, "follow_ups": 0},
    "bench-context": {"items": 33_333, "queries": 6_000, "follow_ups": 10},
}
PER_ITEM = 3
RATERS = 3_000
MEGABYTE = 1024  # ru_maxrss counts kilobytes

QUERIES = """
INSERT INTO evaluation_query (study_id, key, text, category, source, split, information_need, "references", documents)
SELECT %(study)s, 'q' || i, 'Question ' || i, 'category ' || i %% 4, '', '', '', '[]', '[]'
FROM generate_series(1, %(queries)s) i
"""
ITEMS = """
INSERT INTO evaluation_item (study_id, key, query_id, clarifying_question, arm_id, role, position, stimulus,
                             stimulus_hash, systems_key, lengths, start_order)
SELECT %(study)s, 'i' || i, query.id, '', (%(arms)s::bigint[])[1 + i %% 3], 'main', i,
       jsonb_build_object('responses', jsonb_build_array(
           jsonb_build_object('system', 'a' || (i / 3) %% 3, 'text', repeat('x', 100 + (i * 37) %% 400)),
           jsonb_build_object('system', 'b' || (i / 3) %% 3, 'text', repeat('x', 100 + (i * 53) %% 400)))),
       md5(i::text), 'a' || (i / 3) %% 3 || ' | b' || (i / 3) %% 3,
       (100 + (i * 37) %% 400) || ',' || (100 + (i * 53) %% 400), i %% 2
FROM generate_series(1, %(items)s) i
JOIN evaluation_query query ON query.study_id = %(study)s AND query.key = 'q' || 1 + (i / 9) %% %(queries)s
"""
JUDGMENTS = """
INSERT INTO evaluation_judgment (study_id, rater_id, item_id, revision_id, replicate, outcome, shown, surplus, trace)
SELECT %(study)s, (%(raters)s::bigint[])[1 + (item.position * 3 + k) %% %(n_raters)s], item.id, %(revision)s, 0, 'ok',
       CASE WHEN (item.start_order + k) %% 2 = 0 THEN 'r1,r2' ELSE 'r2,r1' END, false, '{}'
FROM evaluation_item item, generate_series(0, 2) k
WHERE item.study_id = %(study)s
"""
# Two judgments of three follow what most would say of the item, the others are anybody's guess.
PREFERENCES = """
INSERT INTO evaluation_answer (judgment_id, question, part, kind, label)
SELECT id, 'preference', '', 'preference',
       (ARRAY['r1', 'r2', 'tie', 'r1', 'r2'])[
           1 + abs(hashint8(CASE WHEN hashint8(id) %% 3 = 0 THEN id ELSE item_id END)) %% 5]
FROM evaluation_judgment WHERE study_id = %(study)s
"""
REASONS = """
INSERT INTO evaluation_answer (judgment_id, question, part, kind, text)
SELECT id, 'justification', '', 'text', 'It says what was asked.' FROM evaluation_judgment WHERE study_id = %(study)s
"""
CHECKS = """
INSERT INTO evaluation_answer (judgment_id, question, part, kind, number)
SELECT id, 'satisfied', 'f' || f || '.r' || r, 'checklist', abs(hashint8(item_id * 40 + f * 2 + r)) %% 2
FROM evaluation_judgment, generate_series(1, %(follow_ups)s) f, generate_series(1, 2) r WHERE study_id = %(study)s
"""


def main() -> None:
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        sys.exit("Set DATABASE_URL to a PostgreSQL database that may be filled.")
    _setup()
    print(f"{os.cpu_count()} cores; PostgreSQL; 1,000 bootstrap replicates; seconds")
    for slug, sizes in FORMS.items():
        prepare(slug, **sizes)
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.figures", slug], capture_output=True, text=True
        )
        if run.returncode:
            sys.exit(run.stderr)
        show(slug, json.loads(run.stdout))


def _setup() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()


def prepare(slug: str, *, items: int, queries: int, follow_ups: int) -> None:
    """The study, written by the database itself unless it is there already."""
    from django.core.management import call_command
    from django.db import connection, transaction

    from evaluation.models import Study

    call_command("migrate", verbosity=0)
    if Study.objects.filter(slug=slug).exists():
        return
    started = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        values = {**_study(slug), "items": items, "queries": queries, "follow_ups": follow_ups}
        steps = [QUERIES, ITEMS, JUDGMENTS, PREFERENCES, *([CHECKS, REASONS] if follow_ups else [])]
        for statement in steps:
            cursor.execute(statement, values)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"{slug}: written in {time.perf_counter() - started:.0f} s")


def _study(slug: str) -> dict[str, Any]:
    from evaluation.models import Rater, Status, System
    from evaluation.services import PAPER_ARMS, add_arms, create_study, freeze_spec

    study = create_study(slug=slug, title=slug, protocol="pairwise")
    arms = add_arms(study, PAPER_ARMS)
    System.objects.bulk_create(System(study=study, key=key) for key in ("a0", "a1", "a2", "b0", "b1", "b2"))
    raters = Rater.objects.bulk_create(Rater(study=study, kind=Rater.Kind.PERSON) for _ in range(RATERS))
    study.status, study.study_hash = Status.CLOSED, "0" * 64
    study.save()
    return {
        "study": study.pk,
        "revision": freeze_spec(study).pk,
        "arms": [arm.pk for arm in arms],
        "raters": [rater.pk for rater in raters],
        "n_raters": RATERS,
    }


def measure(slug: str) -> dict[str, Any]:
    """Seconds per part; the whole report comes first, in a process that has loaded nothing."""

    from analytics.figures.figure_input import Terms, figure_inputs
    from analytics.figures.registry import FIGURES
    from analytics.frames.study import study_frame
    from analytics.reports.build import build_report, fingerprint
    from evaluation.models import Study

    study = Study.objects.get(slug=slug)
    report, total = timed(lambda: build_report(study))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    parts = {"fingerprint": timed(lambda: fingerprint(study))[1]}
    frame, parts["load from the database"] = timed(lambda: study_frame(study))
    ((question, form, (given,)),) = figure_inputs(
        frame, lambda asked: Terms(study.seed, 1_000, "half", "", asked)
    )
    for key, figure in FIGURES.items():
        if figure.applies(question, form):
            parts[key] = timed(lambda figure=figure: figure.compute(given))[1]
    return {
        "judgments": report["counts"]["judgments"],
        "total": total,
        "memory": memory,
        "parts": parts,
        "krippendorff": _krippendorff_once(given),
    }


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = call()
    return result, time.perf_counter() - started


def _krippendorff_once(given: Any) -> float:
    """The package on a matrix of raters by items, each item's three judgments in three rows."""
    import krippendorff
    import numpy as np

    judgments = given.group.judgments
    order = np.argsort(judgments.item, kind="stable")
    matrix = judgments.label[order].reshape(-1, PER_ITEM).T.astype(float)
    return timed(lambda: krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal"))[1]


def show(slug: str, found: dict[str, Any]) -> None:
    once = found["krippendorff"]
    print(f"\n{slug}: {found['judgments']:,} judgments; krippendorff.alpha once takes {once:.3f}")
    print(f"{'part':<26}{'seconds':>9}{'x alpha':>9}")
    for name, seconds in [*found["parts"].items(), ("report, all of it", found["total"])]:
        print(f"{name:<26}{seconds:>9.2f}{seconds / once:>9.1f}")
    print(f"peak memory of the report: {found['memory']:,.0f} MB")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _setup()
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
