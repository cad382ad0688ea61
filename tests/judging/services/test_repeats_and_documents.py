"""Several samples on a share of the queries, and so many documents in the prompt."""

from collections import Counter

import numpy as np
import pytest

from analytics.frames.study import study_frame
from evaluation.models import Answer
from evaluation.protocols import get_protocol
from evaluation.refusals import FieldsRefused
from evaluation.services.studies.verification import verify_study
from judging.prompting.item_call import ItemCall
from judging.prompting.problems import settings_problems
from judging.prompting.request import build_request
from judging.prompting.settings import Settings
from judging.selectors import describe
from judging.services.estimates.run_estimate import estimate
from tests.judging import endpoint
from tests.judging.build import judged, make_judge
from tests.judging.questions_study import make_questions_study
from tests.judging.samples import SAMPLES


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


SHARE = {"samples": 3, "temperature": 0.7, "options": {"repeated_share": 20}}


def test_a_fifth_of_the_queries_is_judged_three_times_and_averaged(owner, served):
    study = make_questions_study(owner, queries=10, systems=("aspen", "birch"))
    judge = make_judge(study, served, "coin", **SHARE)
    # Ten queries with two items each: two of them three times.
    told = estimate(study, judge)
    run, _ = judged(study, judge)
    assert told.calls == run.calls.count() == 8 * 2 + 2 * 2 * 3
    per_query = Counter(run.calls.values_list("item__query__key", flat=True))
    assert sorted(per_query.values()) == [2] * 8 + [6] * 2
    again, _ = judged(study, make_judge(study, served, "coin", name="again", **SHARE))
    assert Counter(again.calls.values_list("item__query__key", flat=True)) == per_query, "drawn by the seed"
    assert list(verify_study(study)) == []
    groups = {group.label: group for group in study_frame(study).answers.groups}
    answers = groups["llm v1"].answers["overall"]
    for place, item in enumerate(study.items.order_by("pk")):
        given = Answer.objects.filter(
            judgment__rater=run.judging.rater, judgment__item=item, question="overall"
        )
        numbers = list(given.values_list("number", flat=True))
        assert len(numbers) == (3 if per_query[item.query.key] == 6 else 1)
        [found] = answers.value[answers.item == place]
        assert np.isclose(found, np.mean(numbers))
    assert "3 samples each on 20 % of the queries, drawn by the seed, and one on the others" in describe(run)


def test_both_orders_of_a_sample_stay_together(study, served):
    judge = make_judge(study, served, "coin", samples=2, orders="both", options={"repeated_share": 50})
    run, _ = judged(study, judge)
    times = Counter(run.calls.values_list("item", flat=True))
    assert set(times.values()) == {2, 4}
    assert estimate(study, judge).calls == run.calls.count()


def test_an_estimate_of_a_draw_counts_the_repeated_items_in_it(owner, served):
    study = make_questions_study(owner, queries=10, systems=("aspen", "birch"))
    judge = make_judge(study, served, "coin", **SHARE)
    for most in (3, 11):
        run, _ = judged(study, judge, max_items=most, purpose="trial")
        assert estimate(study, judge, max_items=most).calls == run.calls.count()


@pytest.mark.parametrize("share", [0, -1, 101, "some"])
def test_a_share_that_is_none_is_refused(study, served, share):
    with pytest.raises(FieldsRefused, match="Repeated queries"):
        make_judge(study, served, "coin", options={"repeated_share": share})


# --- documents --------------------------------------------------------------------------------------------------------


def prompt(protocol, number):
    spec, stimulus = SAMPLES[protocol]
    order = ",".join(each["part"] for each in stimulus["responses"])
    options = {} if number == "as people" else {"documents": number}
    request = build_request(
        ItemCall(
            get_protocol(protocol),
            spec,
            stimulus,
            Settings(model="m", options=options),
            order=order,
            capabilities={},
        )
    )
    return "\n".join(each["content"] for each in request.messages)


@pytest.mark.parametrize(
    ("protocol", "number", "shown"),
    [
        ("aspects", "as people", 2), ("aspects", None, 2), ("aspects", 0, 0), ("aspects", 1, 1), ("aspects", 10, 2),
        ("pairwise", "as people", 0), ("pairwise", 1, 1),
    ],
)  # fmt: skip
def test_so_many_documents_stand_in_the_prompt(protocol, number, shown):
    told = prompt(protocol, number)
    assert [f"=== Document {n} [" in told for n in (1, 2)] == [shown > 0, shown > 1]


def test_a_template_has_a_place_for_documents_that_are_to_be_shown():
    template = "{query} {responses} {context} {format}"

    def problems(protocol, **options):
        spec, _ = SAMPLES[protocol]
        settings = Settings(model="m", template=template, options=options)
        return " ".join(settings_problems(get_protocol(protocol), spec, settings))

    assert "{documents} is missing" in problems("aspects")
    assert "{documents}" not in problems("aspects", documents=0)
    assert "the judge is to be shown documents" in problems("pairwise", documents=3)


def test_the_number_of_documents_is_entered_or_left_empty(owner, served):
    study = make_questions_study(owner, queries=1)
    judge = make_judge(study, served, "coin", options={"documents": 3})
    assert judge.options["documents"] == 3
    assert make_judge(study, served, "coin", name="other").options["documents"] is None
    with pytest.raises(FieldsRefused, match="a whole number from 0 to 100"):
        make_judge(study, served, "coin", name="third", options={"documents": 1.5})
