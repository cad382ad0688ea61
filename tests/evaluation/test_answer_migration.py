"""Answers of a database of the version before, a row each, are brought over to where they are stored now."""

import importlib
from functools import cache

import orjson
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from evaluation.database.answers_view import drop_view
from evaluation.models import Answer, Judgment, Study
from evaluation.services.answers import load_answers
from evaluation.services.studies.verification import verify_study
from tests.config.ordinary_migrations import executor_of_ordinary
from tests.crowd import come, hand_in, make_crowd_study
from tests.evaluation.dumps.build import export_bytes
from tests.factories import PAPER_ARMS

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE, BROUGHT = "0039_addition_jobs", "0041_bring_answers_over"
rows = importlib.import_module("evaluation.migrations._answer_rows")


@pytest.fixture
def study():
    study = make_crowd_study("judged", queries=6, arms=PAPER_ARMS[1:2])
    for name in "abcd":
        participant = come(study, name)
        for number in range(3):
            hand_in(
                participant.token,
                preference=("r1", "r2", "tie")[number % 3],
                justification=f"{name}{number} says why it is so",
            )
    yield study
    call_command("migrate", verbosity=0)


def migrate(name):
    call_command("migrate", "evaluation", name, verbosity=0)


def take_back():
    """To the version before."""
    drop_view(using=connection.alias, plan=[BEFORE])
    executor_of_ordinary().migrate([("evaluation", BEFORE)])


@cache
def apps_before():
    """Of the version before, made of all migrations until then."""
    return MigrationLoader(connection).project_state(("evaluation", BEFORE)).apps


def before(model):
    """A model of the version before."""
    return apps_before().get_model("evaluation", model)


def write(judgment, answers):
    """As the version before did: rows, and packed besides."""
    before("Answer").objects.filter(judgment_id=judgment).delete()
    before("Answer").objects.bulk_create(
        before("Answer")(
            judgment_id=judgment, question=each.question, part=each.part, kind=each.kind,
            number=each.number, label=each.label, text=each.text,
        )
        for each in answers
    )  # fmt: skip
    before("Judgment").objects.filter(pk=judgment).update(answered="[]", labels="", numbers=b"")


@pytest.fixture
def of_before(study):
    """The database of the version before, and all answers in it."""
    given = {each.pk: load_answers(each) for each in Judgment.objects.order_by("pk")}
    assert len(given) == 12
    take_back()
    for pk, answers in given.items():
        write(pk, answers)
    return given


def stored():
    return {each.pk: load_answers(each) for each in Judgment.objects.order_by("pk")}


def without_seals(exported):
    """There were none in that version."""
    first, rest = exported.split(b"\n", 1)
    record = orjson.loads(first)
    del record["sealed"]
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS) + b"\n" + rest


def check():
    study = Study.objects.get()
    [said] = verify_study(study)
    assert "It has no seals" in said
    call_command("seal", study.slug)
    assert list(verify_study(Study.objects.get())) == []


def test_every_answer_is_there_as_it_was(study, monkeypatch):
    exported, given = export_bytes(study), stored()
    take_back()
    for pk, answers in given.items():
        write(pk, answers)
    monkeypatch.setattr(rows, "CHUNK", 5)
    call_command("migrate", verbosity=0)
    assert stored() == given
    assert export_bytes(Study.objects.get()) == without_seals(exported)
    check()
    assert Answer.objects.count() == sum(len(answers) for answers in given.values())
    with connection.cursor() as cursor:
        assert "evaluation_answer" not in connection.introspection.table_names(cursor)


@pytest.mark.audit
def test_what_was_cut_short_goes_on_and_what_the_version_before_wrote_meanwhile_comes_along(
    of_before, monkeypatch
):
    monkeypatch.setattr(rows, "CHUNK", 4)
    some, left = rows._bring_over_some, iter(range(2))

    def cut_short(*args):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return some(*args)

    monkeypatch.setattr(rows, "_bring_over_some", cut_short)
    with pytest.raises(KeyboardInterrupt):
        migrate(BROUGHT)
    brought = before("Judgment").objects.filter(answered=None)
    assert brought.count() == 8, "what was brought over stays"
    first, second, *_, last = of_before
    # Revised before and after its judgment was brought over.
    write(first, of_before[second])
    write(last, of_before[first])
    monkeypatch.setattr(rows, "_bring_over_some", some)
    migrate(BROUGHT)
    assert before("Answer").objects.count(), "the version before goes on"
    write(second, of_before[last])
    call_command("migrate", verbosity=0)
    assert stored() == {
        **of_before, first: of_before[second], last: of_before[first], second: of_before[last],
    }  # fmt: skip
    check()
