"""Large studies of six forms, written by PostgreSQL itself: what people and a judge said is
drawn by hashing ids.

Two judgments of three follow what most would say of the item, the others are anybody's guess.
"""

import json
import time
from dataclasses import dataclass
from typing import Any

from evaluation.protocols.answers.measures import Measure

# Of each item one judgment is the judge's and the others are people's.
PER_ITEM = 4
PEOPLE = 3_000
SYSTEMS = ("a0", "a1", "a2", "b0", "b1", "b2")
WORDS = Measure("words", "Words", low=0)


@dataclass(frozen=True)
class LargeForm:
    """A protocol, how many items and queries, and the questions that are answered of each judgment.

    `whole`: with a baseline, splits, two groups of people and a metric that measures each response.
    """

    protocol: str
    items: int
    queries: int
    responses: int
    answers: tuple[str, ...]
    follow_ups: int = 0
    arms: bool = False
    whole: bool = False


# What a hash of the judgment or of its item says, by which of the two is followed.
DRAWN = "abs(hashint8(CASE WHEN hashint8(judgment.id) %% 3 = 0 THEN judgment.id ELSE judgment.item_id END + {salt}))"
PAIR = f"""
INSERT INTO given (judgment_id, question, part, kind, label)
SELECT judgment.id, 'preference', '', 'preference',
       (ARRAY['r1', 'r2', 'tie', 'r1', 'r2'])[1 + {DRAWN.format(salt="0")} %% 5]
FROM evaluation_judgment judgment WHERE study_id = %(study)s
"""
PICK = f"""
INSERT INTO given (judgment_id, question, part, kind, label)
SELECT judgment.id, 'best', '', 'preference', 'r' || 1 + {DRAWN.format(salt="0")} %% %(responses)s
FROM evaluation_judgment judgment WHERE study_id = %(study)s
"""
CHECKS = """
INSERT INTO given (judgment_id, question, part, kind, number)
SELECT judgment.id, 'satisfied', 'f' || f || '.r' || r, 'checklist', abs(hashint8(item_id * 40 + f * 2 + r)) %% 2
FROM evaluation_judgment judgment, generate_series(1, %(follow_ups)s) f, generate_series(1, 2) r
WHERE study_id = %(study)s
"""
RATINGS = f"""
INSERT INTO given (judgment_id, question, part, kind, number)
SELECT judgment.id, aspect.key, 'r' || r, 'scale',
       aspect.lowest + {DRAWN.format(salt="r * 7 + aspect.lowest")} %% (aspect.highest - aspect.lowest + 1)
FROM evaluation_judgment judgment, generate_series(1, %(responses)s) r,
     (VALUES ('acceptability', 0, 3), ('factuality', 0, 3), ('amount_info', -1, 1), ('formality', -1, 1))
     AS aspect (key, lowest, highest)
WHERE study_id = %(study)s
"""
RANKS = f"""
INSERT INTO given (judgment_id, question, part, kind, number)
SELECT judgment.id, 'ranking', 'r' || r, 'ranking', 1 + (r + {DRAWN.format(salt="0")}) %% %(responses)s
FROM evaluation_judgment judgment, generate_series(1, %(responses)s) r WHERE study_id = %(study)s
"""
MEASURES = """
WITH measured AS (
  INSERT INTO evaluation_judgment (study_id, rater_id, item_id, revision_id, replicate, outcome, shown, surplus, trace)
  SELECT study_id, %(metric)s, id, %(revision)s, 0, 'ok', '', false, '{}' FROM evaluation_item
  WHERE study_id = %(study)s
  RETURNING id, item_id
)
INSERT INTO given (judgment_id, question, part, kind, number)
SELECT measured.id, 'measure:words', 'r' || r, 'measure', 25 + abs(hashint8(measured.item_id * 7 + r)) %% 100
FROM measured, generate_series(1, %(responses)s) r
"""
# Answers as rows, and of each judgment which they are and their values.
GIVEN = """
CREATE TEMP TABLE given (
  place serial, judgment_id bigint, question text, part text, kind text, number float8, label text
) ON COMMIT DROP
"""
STORED = """
CREATE TEMP TABLE stored ON COMMIT DROP AS
SELECT judgment_id,
       '[' || string_agg(coalesce(to_json(label), to_json(number))::text, ',' ORDER BY place) || ']' AS values,
       jsonb_agg(jsonb_build_array(question, kind, part, label IS NOT NULL) ORDER BY place) AS shape
FROM given GROUP BY judgment_id
"""
FILL = """
UPDATE evaluation_judgment SET answer_layout_id = %s, answer_values = stored.values
FROM stored WHERE stored.judgment_id = evaluation_judgment.id AND stored.shape = %s
"""
FORMS = {
    "large-pairs": LargeForm("pairwise", 250_000, 60_000, 2, (PAIR,), arms=True),
    "large-contexts": LargeForm("pairwise", 250_000, 60_000, 2, (PAIR, CHECKS), follow_ups=10, arms=True),
    "large-ratings": LargeForm("aspects", 62_500, 62_500, 4, (RATINGS, PICK)),
    "large-answers": LargeForm("aspects", 250_000, 250_000, 4, (RATINGS, PICK)),
    "large-rankings": LargeForm("ranking", 250_000, 250_000, 4, (RANKS,)),
    "large-whole": LargeForm("pairwise", 250_000, 60_000, 2, (PAIR, MEASURES), arms=True, whole=True),
}

QUERIES = """
INSERT INTO evaluation_query (study_id, key, text, turns, category, source, split, information_need, "references",
                              documents, document)
SELECT %(study)s, 'q' || i, 'Question ' || i, '[]', 'category ' || i %% 4, '',
       CASE WHEN %(whole)s THEN (ARRAY['dev', 'private'])[1 + i / 4 %% 2] ELSE '' END, '', '[]', '[]', ''
FROM generate_series(1, %(queries)s) i
"""
RESPONSES = """
INSERT INTO evaluation_response (query_id, system_id, key, text, turns, claims)
SELECT query.id, system.id, system.key,
       repeat('It says what was asked. ', 5 + abs(hashint8(query.id * 7 + system.id)) %% 20), '[]', '[]'
FROM evaluation_query query JOIN evaluation_system system USING (study_id) WHERE study_id = %(study)s
"""
# Each item has the systems that begin at its number, so that every pair and every set occurs.
ITEMS = """
INSERT INTO evaluation_item (study_id, key, query_id, clarifying_question, clarifying_source, arm_id, role, position,
                             stimulus, stimulus_hash, systems_key, lengths, start_order, origin, revision_number)
SELECT %(study)s, 'i' || i, query.id, '', '', (%(arms)s::bigint[])[1 + i %% cardinality(%(arms)s::bigint[])], 'main', i,
       jsonb_build_object('responses', shown.responses), md5(i::text), shown.systems, shown.lengths, i %% 2, '{}', 1
FROM generate_series(1, %(items)s) i
JOIN evaluation_query query
  ON query.study_id = %(study)s AND query.key = 'q' || 1 + i %% %(queries)s
CROSS JOIN LATERAL (
  SELECT jsonb_agg(jsonb_build_object('system', one.key, 'text', one.text) ORDER BY one.key) AS responses,
         string_agg(one.key, ' | ' ORDER BY one.key) AS systems,
         string_agg(length(one.text)::text, ',' ORDER BY one.key) AS lengths
  FROM (
    SELECT key, text FROM evaluation_response WHERE query_id = query.id
    ORDER BY abs(hashint8(id * 13 + i)) LIMIT %(responses)s
  ) one
) shown
"""
SHOWN = """
INSERT INTO evaluation_itemresponse (item_id, response_id)
SELECT item.id, response.id FROM evaluation_item item
JOIN evaluation_response response
  ON response.query_id = item.query_id AND response.key = ANY (string_to_array(item.systems_key, ' | '))
WHERE item.study_id = %(study)s
"""
ORDERS = {
    2: "CASE WHEN (item.start_order + k) %% 2 = 0 THEN 'r1,r2' ELSE 'r2,r1' END",
    4: "(ARRAY['r1,r2,r3,r4', 'r2,r4,r1,r3', 'r3,r1,r4,r2', 'r4,r3,r2,r1'])[1 + (item.position + k) %% 4]",
}
JUDGMENTS = """
INSERT INTO evaluation_judgment (study_id, rater_id, item_id, revision_id, replicate, outcome, shown, surplus, trace,
                                 duration_ms, visible_ms, judged_at)
SELECT %(study)s,
       CASE WHEN k = 0 THEN %(judge)s ELSE (%(people)s::bigint[])[1 + (item.position * 3 + k) %% %(n_people)s] END,
       item.id, %(revision)s, 0, 'ok', ORDER_SHOWN, false, '{}',
       CASE WHEN k > 0 THEN 20000 + abs(hashint8(item.id + k)) %% 90000 END,
       CASE WHEN k > 0 THEN 15000 + abs(hashint8(item.id + k)) %% 90000 END,
       CASE WHEN k > 0 THEN timestamptz '2026-01-05' + (item.position * 10 + k) * interval '1 second' END
FROM evaluation_item item, generate_series(0, %(per_item)s - 1) k
WHERE item.study_id = %(study)s
"""


def prepare(slug: str) -> None:
    """The study, written by the database itself unless it is there already."""
    from django.core.management import call_command
    from django.db import connection, transaction

    from evaluation.models import Study

    call_command("migrate", verbosity=0)
    if Study.objects.filter(slug=slug).exists():
        return
    started, form = time.perf_counter(), FORMS[slug]
    judgments = JUDGMENTS.replace("ORDER_SHOWN", ORDERS[form.responses])
    with transaction.atomic(), connection.cursor() as cursor:
        values = _study(slug, form) | {
            "items": form.items,
            "queries": form.queries,
            "responses": form.responses,
            "follow_ups": form.follow_ups,
            "per_item": PER_ITEM,
            "whole": form.whole,
        }
        for statement in (QUERIES, RESPONSES, ITEMS, SHOWN, GIVEN, judgments, *form.answers, STORED):
            cursor.execute(statement, values)
        _store(cursor)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"{slug}: written in {time.perf_counter() - started:.0f} s", flush=True)


def _store(cursor: Any) -> None:
    """Layout by layout; a judgment without a label at a place has a number there."""
    from evaluation.protocols import AnswerValue
    from evaluation.protocols.answers.layout import layout_of
    from evaluation.services.answers import add_layouts

    cursor.execute("SELECT DISTINCT shape::text FROM stored")
    for (shape,) in cursor.fetchall():
        layout = layout_of(
            AnswerValue(question, kind, part, **({"label": ""} if has_label else {"number": 0}))
            for question, kind, part, has_label in json.loads(shape)
        )
        add_layouts([layout])
        cursor.execute(FILL, [layout.key, shape])


def _study(slug: str, form: LargeForm) -> dict[str, Any]:
    from evaluation.models import Rater, Status, System
    from evaluation.services.studies.creation import PAPER_ARMS, add_arms, create_study
    from evaluation.services.studies.freeze import freeze_spec

    study = create_study(slug=slug, title=slug, protocol=form.protocol)
    arms = add_arms(study, PAPER_ARMS if form.arms else PAPER_ARMS[:1])
    System.objects.bulk_create(System(study=study, key=key) for key in SYSTEMS)
    groups = ("experts", "crowd", "crowd") if form.whole else ("",)
    people = Rater.objects.bulk_create(
        Rater(study=study, kind=Rater.Kind.PERSON, group=groups[at % len(groups)]) for at in range(PEOPLE)
    )
    about = {
        "judge": "judge",
        "version": 1,
        "model": "model",
        "purpose": "main",
        "orders": "random",
        "samples": 1,
    }
    judge = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, label="judge", about=about)
    measured = {**about, "judge": "words", "measures": [WORDS.as_json()], "questions": []}
    metric = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, label="words", about=measured)
    study.baseline = SYSTEMS[0] if form.whole else ""
    study.status, study.study_hash = Status.CLOSED, "0" * 64
    study.save()
    return {
        "study": study.pk,
        "revision": freeze_spec(study).pk,
        "arms": [arm.pk for arm in arms],
        "people": [rater.pk for rater in people],
        "n_people": PEOPLE,
        "judge": judge.pk,
        "metric": metric.pk,
    }
