"""The choice of a judge at the shell."""

import pytest
from django.core.management import CommandError, call_command

from judging.services.judges import create_judge
from judging.services.validation import validation_of
from tests import factories
from tests.judging.trusting import acts_in_history, study_with_people

pytestmark = pytest.mark.django_db


def told(capsys, *arguments):
    call_command("trust", *arguments)
    return capsys.readouterr().out


def test_from_halves_to_the_verdict(capsys, owner):
    study = study_with_people(owner=owner)
    create_judge(study, name="longer", backend="longer")
    assert "No halves are drawn yet." in told(capsys, study.slug)
    assert "70 queries to choose a judge on" in told(capsys, study.slug, "begin", "preference")
    assert "tried longer v1: complete" in told(capsys, study.slug, "try", "longer", "--budget", "3")
    assert "Chosen: longer v1." in told(capsys, study.slug, "choose", "longer")
    told(capsys, study.slug, "test")
    said = told(capsys, study.slug, "open")
    assert "May replace a person." in said
    told(capsys, study.slug, "judge-all")
    assert study.raters.filter(in_figures=True, kind="judge").count() == 1
    assert acts_in_history() == ["Halved", "Started", "Chose", "Started", "Opened", "Started"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("begin",), "begin needs the question"),
        (("test", "longer"), "test is given nothing"),
        (("try", "nobody"), "has no judge nobody"),
        (("begin", "taste"), "no question 'taste'.*there are: preference"),
        (("open",), "Draw the halves first"),
        (("part", "many"), "'many' is no number"),
        (("part", "5"), "drawn at launch"),
        (("test", "--budget", "much"), "not an amount of money"),
    ],
)
def test_what_is_wrong_is_said(arguments, words, owner):
    study = study_with_people(owner=owner, queries=4)
    with pytest.raises(CommandError, match=words):
        call_command("trust", study.slug, *arguments)
    assert validation_of(study) is None


def test_people_s_part(capsys, owner):
    draft = factories.make_study("draft", owner=owner, queries=12, training=False, checks=0)
    assert "random part of 7 queries" in told(capsys, "draft", "part", "7")
    draft.refresh_from_db()
    assert draft.human_sample == 7
