"""Options of one kind of judge: on its form, by the command, refused where they don't fit, kept with the version."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.protocols import Kind
from judging.backends import BACKENDS
from judging.backends.base import Heuristic, StopRun
from judging.backends.options import Input, JudgeOption
from judging.models import Judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on

pytestmark = pytest.mark.django_db


def at_least_zero(number):
    if number < 0:
        raise ValueError("it can't be below 0.")
    return number


def configured(heuristic, options):
    """Prefers what is longer by more than the margin, or what has the word."""
    if options["word"] == "forbidden":
        raise StopRun("The word is forbidden.")

    def rule(question, stimulus, draws):
        first, second = (len(each["text"]) for each in stimulus["responses"])
        return "tie" if abs(first - second) <= options["margin"] else "r1" if first > second else "r2"

    return Heuristic(**{**vars(heuristic), "rule": rule})


MARGINAL = Heuristic(
    key="marginal",
    label="longer by a margin",
    rule=lambda question, stimulus, draws: "tie",
    answers=lambda question: question.kind == Kind.PREFERENCE,
    options=(
        JudgeOption(key="margin", label="Margin", input=Input.NUMBER, default=3.0, clean=at_least_zero),
        JudgeOption(key="word", label="Word"),
        JudgeOption(key="words", label="Words", input=Input.LINES, default=[]),
        JudgeOption(key="map", label="Map", input=Input.JSON, default={}),
        JudgeOption(
            key="how", label="How", input=Input.CHOICE, default="one", choices={"one": "One", "two": "Two"}
        ),
        JudgeOption(key="strict", label="Strict", input=Input.FLAG, default=False),
    ),
    configured=configured,
)


@pytest.fixture(autouse=True)
def marginal():
    with BACKENDS.registered(MARGINAL):
        yield


def add(study, name, *options, **fields):
    out = io.StringIO()
    call_command(
        "add_judge", study.slug, name, backend="marginal", options=list(options), stdout=out, **fields
    )
    return Judge.objects.filter(study=study, name=name).order_by("-version").first()


def test_options_are_kept_with_their_defaults_and_used(study):
    judge = add(study, "wide", "margin=10000", "word=any")
    assert judge.options == {
        "margin": 10000,
        "word": "any",
        "words": [],
        "map": {},
        "how": "one",
        "strict": False,
    }
    run = start_run(study, judge)
    work_on(run.pk)
    assert run.judging.rater.about["options"]["margin"] == 10000
    verdicts = study.judgments.filter(rater=run.judging.rater).values_list("answers__label", flat=True)
    assert set(verdicts) == {"tie"}
    edited = add(study, "wide", "margin=1")
    assert (edited.version, edited.options["margin"], edited.options["word"]) == (2, 1, "any")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("margin=-1", "Margin: it can't be below 0."),
        ("margin=far", "Margin: a number is needed."),
        ("word=3", "Word: a text"),
        ("words=one", r'Words: a list of texts is needed, such as \["one", "two"\].'),
        ("how=three", "How: one of 'one', 'two' is needed."),
        ("strict=1", "Strict: true or false is needed."),
        ("other=1", "There is no option 'other'."),
        ("word=forbidden", "The word is forbidden."),
        ("margin", "an option is NAME=VALUE"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_name(study, option, said):
    with pytest.raises(CommandError, match=said):
        add(study, "wide", option)
    assert not Judge.objects.filter(study=study, name="wide").exists()


def test_the_form_has_a_field_for_each_option(study, admin):
    page = reverse("admin:judging_judge_new", args=[study.slug])
    assert "Options of longer by a margin" in admin.get(page).content.decode()
    fields = {
        "name": "wide", "backend": "marginal", "max_tokens": "100", "verdict": "text", "rationale": "none",
        "orders": "random", "samples": "1", "self_preference": "none", "marginal__margin": "-2",
        "marginal__word": "any", "marginal__words": "one\r\n\r\ntwo", "marginal__map": '{"a": 1}',
        "marginal__how": "two", "marginal__strict": "on",
    }  # fmt: skip
    refused = admin.post(page, fields)
    assert refused.status_code == 422
    assert "Margin: it can&#x27;t be below 0." in refused.content.decode()
    refused = admin.post(page, {**fields, "marginal__margin": "", "marginal__map": "{oops"})
    assert refused.status_code == 422
    assert "Map: this is not valid JSON" in refused.content.decode()
    assert "{oops</textarea>" in refused.content.decode(), "what was entered stays"
    answer = admin.post(page, {**fields, "marginal__margin": ""})
    judge = Judge.objects.get(name="wide")
    assert judge.options == {
        "margin": 3.0, "word": "any", "words": ["one", "two"], "map": {"a": 1}, "how": "two", "strict": True
    }  # fmt: skip
    assert "margin: 3.0" in admin.get(answer["Location"]).content.decode()
    shown = admin.get(reverse("admin:judging_judge_edit", args=[judge.pk])).content.decode()
    assert "one\ntwo</textarea>" in shown
