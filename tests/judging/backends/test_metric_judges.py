"""Text metrics as judges: measures of every response, verdicts on pairs and rankings, scales where they are chosen."""

import pytest

from analytics.reports.build import build_report
from evaluation.models import Answer, Item, Judgment, Query
from evaluation.protocols.kinds import KINDS
from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from judging.backends import BACKENDS
from judging.backends.metric_judges import METRIC_JUDGES
from judging.backends.text_metrics import TEXT_METRICS
from judging.services.judges import create_judge, heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests import factories
from tests.analytics.reports.answering import SYSTEMS, answered_study
from tests.analytics.reports.judging import judge

pytestmark = pytest.mark.django_db
METRIC_KEYS = [each.key for each in METRIC_JUDGES]
REFERENCE = "Leek soup for two, with potatoes."


@pytest.fixture
def study(owner):
    """Pairs of which the first query has no reference."""
    study = factories.make_study("metrics", owner=owner, queries=6, training=False, checks=0)
    queries = list(Query.objects.filter(study=study).order_by("pk"))
    Query.objects.filter(pk__in=[query.pk for query in queries[1:]]).update(references=[REFERENCE])
    texts = {True: "Leek soup for two.", False: "Buy a tin and warm it up slowly in a pan."}
    for item in study.items.all():
        for number, response in enumerate(item.responses.order_by("system__key")):
            response.text = texts[number == 0]
            response.save()
    return factories.launch(study)


def work(study, key):
    run = start_run(study, heuristic_judge(study, key))
    work_on(run.pk)
    run.refresh_from_db()
    return run


def test_there_is_a_judge_for_every_metric():
    assert len(METRIC_KEYS) == len(TEXT_METRICS) > 5
    assert all(len(key) <= 10 for key in METRIC_KEYS)


def test_a_metric_prefers_what_is_nearer_to_the_reference_and_fails_without_one(study):
    run = work(study, "rouge_1")
    assert run.state == "complete"
    judgments = Judgment.objects.filter(rater=run.judging.rater)
    failed = judgments.filter(outcome="failed")
    first = Query.objects.filter(study=study).order_by("pk")[0]
    assert {each.item.query_id for each in failed} == {first.pk}
    call = run.calls.filter(outcome="failed").first()
    assert call.error == "The query has no human-written reference."
    item = judgments.filter(outcome="ok")[0].item
    near = next(each["part"] for each in item.stimulus["responses"] if each["text"].startswith("Leek"))
    answers = Answer.objects.filter(judgment__item=item, judgment__rater=run.judging.rater)
    assert answers.get(question="preference").label == near
    # Four of the response's four words are among the reference's six: 2 * 4 / (4 + 6).
    assert answers.get(question="measure:rouge_1", part=near).number == pytest.approx(0.8)
    assert answers.filter(kind="measure").count() == 2
    assert list(verify_study(study)) == []


def test_a_length_is_a_measure_and_no_verdict(study):
    run = work(study, "words")
    answers = Answer.objects.filter(judgment__rater=run.judging.rater)
    assert set(answers.values_list("question", flat=True)) == {"measure:words"}
    assert run.judging.rater.about["questions"] == []
    judge(study, raters=3)
    report = build_report(study, replicates=20)
    assert all(each["kind"] == "person" for each in report["raters"])
    [record] = [each for each in report["records"] if each["figure"] == "judges/measures"]
    assert [each["label"] for each in record["measures"]] == ["Length in words"]
    assert record["measures"][0]["accuracy"] is None


def test_a_judge_that_saw_the_reference_is_told_from_people(study):
    judge(study, raters=3)
    run = work(study, "rouge_l")
    assert run.judging.rater.about["reference"] is True
    [told] = [each for each in build_report(study, replicates=20)["judges"] if each["judge"] == "rouge_l"]
    assert any("saw the human-written reference" in caveat for caveat in told["caveats"])


@pytest.mark.parametrize("key", METRIC_KEYS)
def test_every_metric_judge_runs(study, key):
    run = work(study, key)
    assert run.state == "complete"
    measured = Answer.objects.filter(judgment__rater=run.judging.rater, kind="measure")
    with_reference = BACKENDS[key].sees_reference
    items = Item.objects.filter(study=study, role="main")
    wanted = items.exclude(query__references=[]) if with_reference else items
    assert measured.count() == 2 * wanted.count()


def test_onto_scales_only_where_they_are_chosen():
    study = answered_study("aspects", queries=3)
    Query.objects.filter(study=study).update(references=["aspen"])
    for item in study.items.all():
        stimulus = item.stimulus
        stimulus["query"]["references"] = ["aspen"]
        Item.objects.filter(pk=item.pk).update(stimulus=stimulus)
    plain = create_judge(study, name="plain", backend="rouge_1")
    run = start_run(study, plain)
    work_on(run.pk)
    questions = Answer.objects.filter(judgment__rater=run.judging.rater).values_list("question", flat=True)
    assert {each for each in questions if not each.startswith("measure:")} <= {"best"}
    chosen = create_judge(study, name="chosen", backend="rouge_1", questions=["acceptability"])
    run = start_run(study, chosen)
    work_on(run.pk)
    answers = Answer.objects.filter(judgment__rater=run.judging.rater)
    rated = {each.part: each.number for each in answers.filter(question="acceptability")[: len(SYSTEMS)]}
    numbers = {each.part: each.number for each in answers.filter(question="measure:rouge_1")[: len(SYSTEMS)]}
    assert rated == pytest.approx({part: 3 * number for part, number in numbers.items()})
    assert KINDS["scale"].storage == "number"
    with pytest.raises(Refused, match="can't answer any of the questions"):
        create_judge(study, name="lengths", backend="words", questions=["acceptability"])
