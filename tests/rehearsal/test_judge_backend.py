"""One judge backend more: registered in one place, it is chosen, run, exported and reported."""

import io

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.protocols import Kind
from evaluation.registry import EntryRefused
from judging.backends import BACKENDS
from judging.backends.base import Heuristic, ModelBackend, Reply
from judging.models import Judge
from judging.services.judges import create_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests.analytics.reports.reading import build_report
from tests.crowd import come, hand_in
from tests.evaluation.dumps import build

pytestmark = pytest.mark.django_db


def prefer_earlier(question, stimulus, draws):
    """The response that comes first in the alphabet."""
    return min(stimulus["responses"], key=lambda each: each["text"])["part"]


EARLIER = Heuristic(
    key="earlier",
    label="the earlier in the alphabet",
    rule=prefer_earlier,
    answers=lambda question: question.kind == Kind.PREFERENCE,
    compares=True,
)


class Echo:
    """A model that always prefers the response shown first."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        return None

    async def ask(self, request):
        return Reply(text='{"answers": {"preference": "1"}}', prompt_tokens=3, completion_tokens=1)


ECHO = ModelBackend(key="echo", label="an echo", open=lambda endpoint, in_flight: Echo())


def run(study, **options):
    out = io.StringIO()
    call_command("run_judge", study.slug, stdout=out, progress=False, **options)
    return out.getvalue()


def test_a_heuristic_is_run_exported_and_reported(study):
    for name in "abc":
        hand_in(come(study, name).token)
    with BACKENDS.registered(EARLIER):
        assert "earlier v1: complete. Calls: 12 ok" in run(study, judge=["earlier"])
        report = build_report(study)
        exported = build.export_bytes(study, "csv").decode()
    [judge] = [each for each in report["raters"] if each["kind"] == "judge"]
    assert (judge["label"], judge["judgments"]) == ("earlier v1", 12)
    assert "A heuristic" in str(report["methods"]) or "earlier v1" in str(report["methods"])
    assert exported.count("earlier v1") >= 12


def test_the_page_of_a_new_judge_offers_it(study, admin):
    page = reverse("admin:judging_judge_new", args=[study.slug])
    with BACKENDS.registered(EARLIER):
        assert "the earlier in the alphabet" in admin.get(page).content.decode()
        fields = {
            "name": "alphabet", "backend": "earlier", "max_tokens": "100", "verdict": "text", "rationale": "none",
            "orders": "random", "samples": "1", "self_preference": "none", "price_prompt": "0",
            "price_completion": "0",
        }  # fmt: skip
        answer = admin.post(page, fields)
        judge = Judge.objects.get(name="alphabet")
        assert answer["Location"] == reverse("admin:judging_judge_change", args=[judge.pk])
        assert "the earlier in the alphabet" in admin.get(answer["Location"]).content.decode()


def test_a_model_behind_another_door_is_asked(study, endpoint):
    with BACKENDS.registered(ECHO):
        judge = create_judge(
            study, name="parrot", backend="echo", endpoint=endpoint, model="m", questions=["preference"]
        )
        begun = start_run(study, judge)
        work_on(begun.pk)
        begun.refresh_from_db()
    assert begun.state == "complete"
    assert study.judgments.filter(rater=begun.judging.rater, outcome="ok").count() == 12


def test_a_forgotten_part_is_named():
    with pytest.raises(EntryRefused, match=r"The judge backend 'earlier' .* lacks label \(its name where"):
        BACKENDS.register(Heuristic(**{**vars(EARLIER), "label": ""}))
