"""The view `answers`: a row for every answer, from the judgments' arrays and the rows of texts.

It is made anew after each migration, and gone while one runs: SQLite writes a changed table anew, PostgreSQL changes no
column that a view reads.
"""

from typing import Any

from django.db import connections

PLACES = {
    "postgresql": """
CREATE OR REPLACE VIEW answers AS
SELECT judgment.id AS judgment_id, place.place::int - 1 AS place, place.question, place.kind, place.part,
       (judgment.answer_values::json ->> place.number)::float8 AS number,
       judgment.answer_values::json ->> place.label AS label, written.text
FROM evaluation_judgment judgment
JOIN evaluation_answerlayout layout ON layout.id = judgment.answer_layout_id
CROSS JOIN LATERAL ROWS FROM (jsonb_to_recordset(layout.places)
    AS (question text, kind text, part text, label int, number int)) WITH ORDINALITY
    AS place (question, kind, part, label, number, place)
LEFT JOIN evaluation_answertext written
    ON written.judgment_id = judgment.id AND written.question = place.question AND written.part = place.part
    AND place.label IS NULL AND place.number IS NULL
""",
    "sqlite": """
CREATE VIEW IF NOT EXISTS answers AS
SELECT judgment.id AS judgment_id, place.key AS place,
       json_extract(place.value, '$.question') AS question,
       json_extract(place.value, '$.kind') AS kind, json_extract(place.value, '$.part') AS part,
       CAST(json_extract(judgment.answer_values, '$[' || json_extract(place.value, '$.number') || ']') AS REAL)
           AS number,
       json_extract(judgment.answer_values, '$[' || json_extract(place.value, '$.label') || ']') AS label, written.text
FROM evaluation_judgment judgment
JOIN evaluation_answerlayout layout ON layout.id = judgment.answer_layout_id
CROSS JOIN json_each(layout.places) place
LEFT JOIN evaluation_answertext written
    ON written.judgment_id = judgment.id AND written.question = json_extract(place.value, '$.question')
    AND written.part = json_extract(place.value, '$.part')
    AND json_extract(place.value, '$.label') IS NULL AND json_extract(place.value, '$.number') IS NULL
""",
}


def drop_view(*, using: str, plan: Any = (), **kwargs: Any) -> None:
    """Before migrations, if any are to run."""
    if plan:
        with connections[using].cursor() as cursor:
            cursor.execute("DROP VIEW IF EXISTS answers")


def make_view(*, using: str, **kwargs: Any) -> None:
    connection = connections[using]
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        if "evaluation_answertext" in tables and "evaluation_answer" not in tables:
            cursor.execute(PLACES[connection.vendor])
