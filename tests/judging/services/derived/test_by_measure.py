"""Verdicts by a measure: the better number wins, whoever computed it."""

import pytest

from analytics.reports.build import build_report
from evaluation.dumps.imports.scores import import_scores
from evaluation.models import Answer, Item, Rater
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.verification import verify_study
from judging.services.judges import create_judge
from judging.services.runs.judge_runs import start_run
from tests import factories
from tests.judging.build import judged

pytestmark = pytest.mark.django_db


def make_once(owner):
    return factories.launched("scored", owner=owner, queries=6, training=False, checks=0)


def score(study, tmp_path, number, *, judge="script", **options):
    """A score of the responses of all items but the last, by the item's place and the response's."""
    lines = ["item,system,name,score"]
    items = list(Item.objects.filter(study=study, role="main").order_by("pk"))
    for at, item in enumerate(items[:-1]):
        for place, response in enumerate(item.stimulus["responses"]):
            lines.append(f"{item.key},{response['system']},perplexity,{number(at, place)!r}")
    path = tmp_path / f"{judge}.csv"
    path.write_text("\n".join(lines))
    import_scores(study, path, judge=judge, **options)
    return items


def verdicts(study, run):
    answers = Answer.objects.filter(judgment__rater=run.judging.rater, question="preference")
    return dict(answers.values_list("judgment__item__key", "label"))


def test_the_lower_perplexity_wins_and_what_has_none_fails(study, tmp_path):
    items = score(study, tmp_path, lambda at, place: 10.0 + (at % 3 - 1) * place, direction="lower")
    judge = create_judge(study, name="by-perplexity", backend="by_measure", options={"members": ["script"]})
    run, _ = judged(study, judge)
    assert run.state == "complete"
    expected = ["r2", "tie", "r1"]
    assert verdicts(study, run) == {item.key: expected[at % 3] for at, item in enumerate(items[:-1])}
    failed = study.judgments.get(rater=run.judging.rater, outcome="failed")
    assert failed.item == items[-1]
    assert failed.trace["error"] == "script: no perplexity of r1, r2."
    about = run.judging.rater.about
    assert about["derived"]["measure"]["name"] == "perplexity"
    assert list(verify_study(study)) == []
    assert any(each["label"] == "by-perplexity v1" for each in build_report(study, replicates=20)["raters"])


def test_a_margin_makes_ties(study, tmp_path):
    items = score(study, tmp_path, lambda at, place: float(place * at))
    options = {"members": ["script"], "measure": "perplexity", "margin": 2.0}
    judge = create_judge(study, name="wide", backend="by_measure", options=options)
    run, _ = judged(study, judge)
    labels = verdicts(study, run)
    assert [labels[item.key] for item in items[:5]] == ["tie", "tie", "tie", "r2", "r2"]


def test_scores_of_a_judge_decide_too(study):
    words, _ = judged(study, create_judge(study, name="rouge_l", backend="rouge_l"))
    assert Rater.objects.get(pk=words.judging.rater_id).in_figures
    judge = create_judge(study, name="again", backend="by_measure", options={"members": ["rouge_l"]})
    run, _ = judged(study, judge)
    assert verdicts(study, run) == verdicts(study, words)


@pytest.mark.parametrize(
    ("options", "fields", "said"),
    [
        ({"members": ["script"], "measure": "other"}, {}, "names none of them"),
        ({"members": ["script"]}, {"questions": ["justification"]}, "does not answer justification"),
    ],
)
def test_what_can_not_decide_stops_the_run(study, tmp_path, options, fields, said):
    score(study, tmp_path, lambda at, place: 1.0)
    run, _ = judged(study, create_judge(study, name="x", backend="by_measure", options=options, **fields))
    assert run.state == "stopped"
    assert said in run.reason


def test_a_member_that_is_not_there_is_refused_at_the_start(study):
    judge = create_judge(study, name="x", backend="by_measure", options={"members": ["nobody"]})
    with pytest.raises(Refused, match="No judge 'nobody'"):
        start_run(study, judge)


def test_it_has_one_member(study):
    with pytest.raises(FieldsRefused, match="have one member"):
        create_judge(study, name="x", backend="by_measure", options={"members": ["a", "b"]})


def test_of_several_measures_one_is_named(study, tmp_path):
    items = [item.key for item in Item.objects.filter(study=study, role="main")]
    lines = [
        f"{key},{system},{name},1" for key in items for system in ("aspen", "birch") for name in ("m", "n")
    ]
    path = tmp_path / "two.csv"
    path.write_text("\n".join(["item,system,name,score", *lines]))
    import_scores(study, path, judge="script")
    judge = create_judge(study, name="x", backend="by_measure", options={"members": ["script"]})
    run, _ = judged(study, judge)
    assert (run.state, "must name one of them" in run.reason) == ("stopped", True)
