"""Answers are those of the study's own judgments, wherever these stand among other studies'."""

import numpy as np
import pytest

from analytics.frames import rows
from analytics.frames.answers import countable_questions
from analytics.frames.rows import places, read_answers, read_rows
from evaluation.models import Exclusion
from evaluation.protocols import AnswerValue, Kind, QuestionSpec
from tests.analytics.reports.judging import judge, judged_study
from tests.answers import add_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    """Its judgments stand around another study's, and one of its raters is left out."""
    mine, other = judged_study("mine", queries=4), judged_study("other", queries=4)
    judge(mine, raters=2)
    judge(other, raters=3)
    left_out, *_ = judge(mine, raters=2, kind="simulated")
    Exclusion.objects.create(study=mine, rater=left_out, reason="x")
    return mine


@pytest.mark.parametrize("close_together", [0, 10])
def test_answers_are_of_the_judgments_that_are_read(study, monkeypatch, close_together):
    monkeypatch.setattr(rows, "CLOSE_TOGETHER", close_together)
    read = read_rows(study)
    questions = [each.question for each in countable_questions(study)]
    asked = read_answers(read, questions)["preference"]
    own = list(study.judgments.filter(pk__in=read.judgment_pks).values_list("pk", "answers__label"))
    expected = [{"r1": 0, "r2": 1, "tie": -1}[label] for _, label in sorted(own)]
    assert len(own) == 3 * len(read.items)
    np.testing.assert_array_equal(read.judgment_pks[asked.judgment], sorted(pk for pk, _ in own))
    np.testing.assert_array_equal(asked.value, expected)


@pytest.mark.parametrize("close_together", [0, 10])
def test_places_are_those_of_a_search(monkeypatch, close_together):
    monkeypatch.setattr(rows, "CLOSE_TOGETHER", close_together)
    ascending = np.array([7, 8, 11, 20])
    place, known = places(ascending, np.array([11, 6, 7, 21, 9, 20, 11, -3]))
    assert known.tolist() == [True, False, True, False, False, True, True, False]
    assert place[known].tolist() == [2, 0, 3, 2]
    assert [len(each) for each in places(ascending, np.zeros(0, dtype=np.int64))] == [0, 0]
    assert not places(np.zeros(0, dtype=np.int64), np.array([1, 2]))[1].any()


def test_what_an_earlier_revision_asked_in_another_form_is_no_answer():
    """The key was a choice first and is a scale now; the form has another choice, so that both kinds are read."""
    study = judged_study("mine", queries=4)
    judge(study, raters=1)
    first, second, *_ = study.judgments.order_by("pk")
    add_answers(first, AnswerValue("x", Kind.CHOICE, label="good"))
    add_answers(second, AnswerValue("x", Kind.SCALE, number=2))
    read = read_rows(study)
    scale = QuestionSpec("x", Kind.SCALE, "X", options={"form": {"low": 1, "high": 5}})
    choice = QuestionSpec("y", Kind.CHOICE, "Y", options={"choices": ["good", "bad"]})
    asked = read_answers(read, [scale, choice])
    assert read.judgment_pks[asked["x"].judgment].tolist() == [second.pk]
    assert asked["x"].value.tolist() == [2]
    assert len(asked["y"].value) == 0


def test_parts_that_go_by_one_number_stand_in_one_order():
    study = judged_study("mine", queries=4)
    judge(study, raters=1)
    names = [f"level{'0' * zeros}1" for zeros in range(6)]
    given = zip(study.judgments.order_by("pk"), names, strict=False)
    for judgment, name in given:
        add_answers(judgment, AnswerValue("x", Kind.CHECKLIST, name, number=1))
    used = read_answers(read_rows(study), [QuestionSpec("x", Kind.CHECKLIST, "X")])["x"].parts
    assert list(used) == sorted(names[: len(used)])
    assert len(used) > 1
