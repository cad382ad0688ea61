"""Weighted aspects: what is weighted, what is refused, and what fails."""

import numpy as np
import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Rater
from evaluation.protocols import AnswerValue, Kind
from evaluation.refusals import FieldsRefused
from evaluation.services.judgments import JudgmentInput, record_judgments
from judging.services.judges import create_judge
from tests.analytics.reports.answering import answered_study, new_rater
from tests.answers import change_answers
from tests.judging.build import judged

pytestmark = pytest.mark.django_db
WEIGHTS = {"factuality": 2.0, "amount_info": 0.5, "formality": 0.25}
ASPECTS = tuple(WEIGHTS)
MEMBER = {"members": ["rated"]}


def overall(factuality, amount, formality):
    return 3 - 2.0 * (3 - factuality) / 3 - 0.5 * abs(amount) - 0.25 * abs(formality)


def make_once(owner):
    return answered_study("aspects", queries=20, owner=owner)


@pytest.fixture
def aspects(study):
    return study


def rate(study, rater, *, seed, leave_out=(), keys=ASPECTS, with_overall=True):
    """The rater's aspects, drawn, and over all just what the weights make of them; {(item, part): overall}."""
    drawn, batch, said = np.random.default_rng(seed), [], {}
    for item in study.items.order_by("key"):
        answers = []
        for response in item.stimulus["responses"]:
            part = response["part"]
            given = (int(drawn.integers(4)), int(drawn.integers(-1, 2)), int(drawn.integers(-1, 2)))
            said[item.key, part] = overall(*given)
            answers += [
                AnswerValue(key, Kind.SCALE, part, number=float(number))
                for key, number in zip(ASPECTS, given, strict=True)
                if key in keys and (item.key, part, key) not in leave_out
            ]
            if with_overall:
                answers.append(AnswerValue("acceptability", Kind.SCALE, part, number=said[item.key, part]))
        batch.append(
            JudgmentInput(
                rater_id=rater.pk, item_id=item.pk, revision_id=study.revisions.get().pk, answers=answers
            )
        )
    record_judgments(study=study, batch=batch)
    return said


def member(study, name="rated"):
    return Rater.objects.create(
        study=study, kind=Rater.Kind.JUDGE, source=Rater.Source.IMPORTED, pseudonym=name, label=name.title()
    )


def weighted(study, name="by-aspect", **options):
    return create_judge(study, name=name, backend="weighted", options={**MEMBER, **options})


def scores(study, run):
    rows = study.judgments.filter(rater=run.judging.rater, answers__question="measure:weighted_overall")
    return {
        (key, part): number
        for key, part, number in rows.values_list("item__key", "answers__part", "answers__number")
    }


def test_weights_are_those_of_people_and_aspects_those_of_the_member(aspects):
    rate(aspects, new_rater(aspects, "someone"), seed=1)
    said = rate(aspects, member(aspects), seed=2, with_overall=False)
    run, _ = judged(aspects, weighted(aspects))
    about = run.judging.rater.about["derived"]
    assert about["weights"] == pytest.approx(WEIGHTS)
    assert len(about["folds"]) == 5
    assert sorted(set(run.judging.folds.values())) == [0, 1, 2, 3, 4]
    assert scores(aspects, run) == pytest.approx(said)


def test_a_query_is_scored_by_weights_of_the_other_folds(aspects):
    """People of one fold say something else: its weights are the others', theirs are not."""
    rate(aspects, new_rater(aspects, "someone"), seed=1)
    said = rate(aspects, member(aspects), seed=2, with_overall=False)
    first, _ = judged(aspects, weighted(aspects))
    odd = {key for key, fold in first.judging.folds.items() if fold == 0}
    theirs = aspects.judgments.filter(rater__kind="person", item__query__key__in=odd)
    change_answers(theirs, "acceptability", number=0.0)
    run, _ = judged(aspects, weighted(aspects, name="again"))
    assert run.judging.folds == first.judging.folds
    found, items = scores(aspects, run), dict(aspects.items.values_list("key", "query__key"))
    of_odd = {place: value for place, value in found.items() if items[place[0]] in odd}
    assert of_odd == pytest.approx({place: said[place] for place in of_odd})
    others = [abs(value - said[place]) for place, value in found.items() if place not in of_odd]
    assert max(others) > 0.1


def test_each_aspect_may_be_of_another_member(aspects):
    first = rate(aspects, member(aspects, "one"), seed=4, keys=("factuality",), with_overall=False)
    rate(aspects, member(aspects, "two"), seed=4, keys=("amount_info", "formality"), with_overall=False)
    options = {"members": ["one", "two"], "weights": "fixed", "fixed": WEIGHTS}
    run, _ = judged(aspects, create_judge(aspects, name="both", backend="weighted", options=options))
    assert scores(aspects, run) == pytest.approx(first)


def test_what_was_not_rated_fails_with_the_reason(aspects):
    item = aspects.items.order_by("key")[3]
    rate(aspects, member(aspects), seed=2, leave_out={(item.key, "r2", "amount_info")})
    run, _ = judged(aspects, weighted(aspects, weights="equal"))
    assert list(run.calls.filter(outcome="failed").values_list("item__key", "error")) == [
        (item.key, "rated: no rating of amount_info of r2.")
    ]
    assert aspects.judgments.filter(rater=run.judging.rater, outcome="ok").count() == 19


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"members": []}, "at least one name"),
        ({"overall": "best"}, "must be one of the study's scales"),
        ({"overall": "formality"}, "The ideal of 'formality' must be one of its ends"),
        ({"aspects": ["factuality", "nothing"]}, "no question 'nothing'"),
        ({"aspects": ["factuality", "best"]}, "'best' is not"),
        ({"aspects": ["acceptability"]}, "'acceptability' is not"),
        ({"weights": "fixed", "fixed": {"factuality": 1}}, "lack that of 'amount_info'"),
        ({"weights": "fixed", "fixed": {**WEIGHTS, "x": 1}}, "a fixed weight of 'x'"),
        (
            {"weights": "fixed", "fixed": {**WEIGHTS, "formality": "much"}},
            "the weight of 'formality' is no number",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(aspects, options, said):
    with pytest.raises(FieldsRefused, match=said):
        weighted(aspects, **options)


def test_without_ratings_of_people_no_weights_are_fitted(aspects):
    rate(aspects, member(aspects), seed=2)
    run, _ = judged(aspects, weighted(aspects))
    assert run.state == "stopped"
    assert "No person has rated every aspect" in run.reason


def ways_of(study):
    report = build_report(study, replicates=20)
    # The derived judge came last; a member that rated everything has a record of its own.
    found = [each for each in report["records"] if each["figure"] == "judges/weighted_aspects"][-1]
    return report, {each["way"]: each for each in found["ways"]}


def test_the_report_has_every_way_that_there_is(aspects):
    """The member was asked for aspects alone, and nobody picked a response; the aspects make up the overall rating."""
    for number in range(2):
        rate(aspects, new_rater(aspects, f"person {number}"), seed=1)
    rate(aspects, member(aspects), seed=1, with_overall=False)
    judged(aspects, weighted(aspects, weights="fixed", fixed=WEIGHTS))
    report, ways = ways_of(aspects)
    assert list(ways) == ["fitted", "fixed", "equal"]
    assert ways["fitted"]["weights"] == pytest.approx(list(WEIGHTS.values()))
    assert ways["fixed"]["weights"] == list(WEIGHTS.values())
    assert ways["fixed"]["pearson"]["value"] == pytest.approx(1)
    assert ways["fitted"]["pearson"]["value"] == pytest.approx(1)
    assert ways["equal"]["pearson"]["value"] < 1
    assert {each["accuracy"] for each in ways.values()} == {None}
    page = report_markdown(report)
    assert "Acceptability from aspects" in page
    assert "each query is scored with weights fitted on the other four of five folds" in page


def test_the_report_has_no_fitted_weights_where_people_determine_none(aspects):
    """People rated over all and no aspect."""
    rate(aspects, new_rater(aspects, "someone"), seed=1, keys=())
    rate(aspects, member(aspects), seed=1)
    judged(aspects, weighted(aspects, weights="equal"))
    _, ways = ways_of(aspects)
    assert list(ways) == ["direct", "equal"]
    assert ways["direct"]["pearson"]["value"] == pytest.approx(1)
