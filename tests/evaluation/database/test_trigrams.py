"""Indexes for parts of words: made after migrations, on PostgreSQL, as search compares texts."""

import pytest
from django.db import DEFAULT_DB_ALIAS, connection

from evaluation.database.trigrams import SEARCHED, make_trigram_indexes
from evaluation.explorer.search import holds
from evaluation.models import AnswerText

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def postgres(db):
    if connection.vendor != "postgresql":
        pytest.skip("DATABASE_URL names no PostgreSQL")


def test_each_searched_text_has_an_index_that_search_can_use():
    make_trigram_indexes(using=DEFAULT_DB_ALIAS)  # again, which changes nothing
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%%_words'")
        assert {name for (name,) in cursor.fetchall()} == {
            f"{table}_{column}_words" for table, column in SEARCHED
        }
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = AnswerText.objects.filter(holds("text", "exception")).explain()
    assert "evaluation_answertext_text_words" in plan
