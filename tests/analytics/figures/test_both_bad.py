"""Votes that both responses are bad: a share of their own, a tie to wins, and a category to agreement."""

from dataclasses import replace

import numpy as np
import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.statistics.agreement.percentage import agreement, chance_agreement, is_tied
from analytics.statistics.agreement.two_votes import two_votes_within
from analytics.statistics.core.replicates import inconsistency, reduce_readings
from analytics.statistics.core.tidy import BOTH_BAD, FIRST, MISSING, SECOND, TIE
from analytics.statistics.preferences.tie_rates import tie_rate
from evaluation.forms.screen import build_screen
from evaluation.protocols import Kind, QuestionSpec
from evaluation.services.studies.launch import launch_study
from tests import factories
from tests.analytics.reports.answering import answered_study, give, items_of, new_rater
from tests.analytics.reports.judging import answer, judge, judged_study, main_items, new_judge
from tests.analytics.statistics.build import counts_of, make_judgments, spec
from tests.analytics.statistics.core.test_replicates import read, readings_of
from tests.four_way import four_way_study

VOTES = (
    ("r1", "r1", "r1"),
    ("both_bad", "both_bad", "tie"),
    ("both_bad", "both_bad", "both_bad"),
    ("tie", "tie", "both_bad"),
    ("r2", "both_bad", "r2"),
    ("r1", "tie", "both_bad"),
)
# Figures of who wins; none of them tells the kinds of ties apart.
OF_WINS = (
    "preferences/win_rates",
    "preferences/tie_rates",
    "preferences/bias",
    "preferences/flips",
    "preferences/bradley_terry",
)


def voted(study, *, folded=False):
    def choose(rater, at):
        vote = VOTES[at % len(VOTES)][rater]
        return "tie" if folded and vote == "both_bad" else vote

    judge(study, choose=choose)
    judge(study, raters=1, kind="judge", choose=lambda _, at: choose(1, at))
    return study


def records(report, figure):
    return {each["group"]: each for each in report["records"] if each["figure"] == figure}


@pytest.fixture
def options():
    return {"queries": 6, "arms": factories.PAPER_ARMS[:1]}


@pytest.mark.django_db
def test_shares_of_both_bad(options):
    study = voted(four_way_study(systems=("aspen", "birch", "cedar"), items_per_query=3, **options))
    report = build_report(study, replicates=50, only=["preferences/both_bad"])
    found = records(report, "preferences/both_bad")["person"]
    assert (found["overall"]["value"], found["overall"]["n"]) == (pytest.approx(8 / 18), 54)
    assert found["overall"]["low"] < found["overall"]["value"] < found["overall"]["high"]
    assert found["by_arm"] == []
    assert {each["system"]: each["rate"]["n"] for each in found["by_system"]} == {
        "aspen": 36, "birch": 36, "cedar": 36,
    }  # fmt: skip
    # Of a system, both of the pairs that it is in.
    pairs = {(each["system_1"], each["system_2"]): each["rate"]["value"] for each in found["by_pair"]}
    aspen = next(each["rate"]["value"] for each in found["by_system"] if each["system"] == "aspen")
    assert aspen == pytest.approx((pairs["aspen", "birch"] + pairs["aspen", "cedar"]) / 2)
    text = report_markdown(report)
    assert "Share of judgments that both responses are bad" in text
    assert "agreement tells it from a vote that both are good" in text


@pytest.mark.django_db
def test_wins_count_both_kinds_as_ties(options):
    options |= {"systems": ("aspen", "birch", "cedar"), "items_per_query": 3}
    four, three = voted(four_way_study(**options)), voted(judged_study("three", **options), folded=True)
    type(four).objects.update(seed=5)
    for study in (four, three):
        study.refresh_from_db()
    told, folded = (build_report(study, replicates=50) for study in (four, three))
    for figure in OF_WINS:
        assert records(told, figure), figure
        for group, found in records(told, figure).items():
            assert found == records(folded, figure)[group]
    assert not records(folded, "preferences/both_bad")


@pytest.mark.django_db
def test_agreement_tells_them_apart(options):
    report = build_report(voted(four_way_study(**options)), replicates=50)
    overall = records(report, "agreement/percentage")["person"]["overall"]
    assert overall["with_ties"]["value"] == pytest.approx((1 + 2 / 3 + 1 + 2 / 3 + 2 / 3 + 1 / 3) / 6)
    # Without ties stay r1, r2 and the item on which three said something different.
    assert (overall["without_ties"]["value"], overall["without_ties"]["n"]) == (
        pytest.approx((1 + 2 / 3 + 1 / 3) / 3),
        3,
    )
    (key,) = [key for key in records(report, "judges/labels_vs_people") if key != "person"]
    confusion = records(report, "judges/labels_vs_people")[key]["confusion"]
    # Rows and columns: the two responses, both good, both bad; and no majority.
    assert [list(row) for row in confusion["counts"]] == [
        [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 1], [0, 1, 0, 2, 0],
    ]  # fmt: skip
    text = report_markdown(report)
    assert "Both good | Both bad | None" in text
    alphas = {
        each["level"]: each["alpha"]["value"]
        for each in records(report, "agreement/alpha")["person"]["levels"]
    }
    folded = build_report(voted(judged_study("three", **options), folded=True), replicates=50)
    ties = {
        each["level"]: each["alpha"]["value"]
        for each in records(folded, "agreement/alpha")["person"]["levels"]
    }
    # Between the two responses is one place; as names they are four.
    assert alphas["ordinal"] == pytest.approx(ties["ordinal"])
    assert alphas["nominal"] < ties["nominal"]


@pytest.mark.django_db
def test_a_swap_that_turns_good_into_bad_is_inconsistent(options):
    study = four_way_study(**options)
    judge(study, choose=lambda rater, at: VOTES[at][rater])
    both = new_judge(study, "both", orders="both", reduction="both_ways")
    for at, item in enumerate(main_items(study)):
        answer(study, both, item, "both_bad", replicate=0, shown="r1,r2")
        answer(study, both, item, "both_bad" if at else "tie", replicate=1, shown="r2,r1")
    report = build_report(study, replicates=50)
    (found,) = records(report, "judges/order_consistency").values()
    assert found["inconsistent"]["value"] == pytest.approx(1 / 6)
    (bad,) = [each for key, each in records(report, "preferences/both_bad").items() if key != "person"]
    assert bad["overall"]["value"] == pytest.approx(5 / 6)


def test_rates_leave_out_what_is_missing():
    found = tie_rate(np.array([3, 2, MISSING, 3]), np.arange(4), resample=spec(), tie=BOTH_BAD)
    assert (found.value, found.n, found.n_left_out) == (pytest.approx(2 / 3), 3, 1)


def test_labels_of_votes():
    judgments = make_judgments([[FIRST, BOTH_BAD], [TIE, MISSING, SECOND]])
    assert judgments.vote.tolist() == [0, 3, 2, -1, 1]
    assert judgments.label.tolist() == [0, 2, 2, -1, 1]


def test_both_kinds_of_ties_tie_an_item():
    counts = counts_of([[2, 3], [3, 3, 0], [0, 2, 3], [0, 0, 3], [2, 3, 0, 0]], 4)
    assert is_tied(counts, TIE).tolist() == [True, True, False, False, False]
    found = agreement(counts, np.arange(5), resample=spec())
    assert found.without_ties.n == 3
    votes = two_votes_within(counts, np.arange(5), resample=spec())
    # Two votes that are no ties are on the last two items alone, and agree there.
    assert (votes.without_ties.value, votes.without_ties.n) == (1, 2)


def test_chance_of_four_labels():
    """Two votes of four equally likely labels: the same in a quarter of cases, and both ties in a quarter."""
    counts = counts_of([[0, 1], [2, 3]], 4)
    found = chance_agreement(counts)
    assert found.with_ties == pytest.approx(1 / 4 * 1 + 3 / 4 * 1 / 2)
    # Of the cases that are not two ties, two in twelve are the same.
    assert found.without_ties == pytest.approx(1 / 6 + 5 / 6 / 2)
    assert found.leave_one_out == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("rule", "votes", "reduced"),
    [
        ("majority", (BOTH_BAD, BOTH_BAD, FIRST), BOTH_BAD),
        ("majority", (BOTH_BAD, TIE), TIE),
        ("mean", (BOTH_BAD, BOTH_BAD), BOTH_BAD),
        ("mean", (BOTH_BAD, TIE), TIE),
        ("mean", (BOTH_BAD, SECOND), SECOND),
        ("both_ways", (BOTH_BAD, BOTH_BAD), BOTH_BAD),
        ("both_ways", (BOTH_BAD, TIE), TIE),
        ("both_ways", (BOTH_BAD, FIRST), TIE),
    ],
)
def test_readings_of_both_bad(rule, votes, reduced):
    assert reduce_readings(readings_of(read(*votes)), rule).vote.tolist() == [reduced]


def test_only_the_same_vote_is_consistent():
    readings = readings_of(read(BOTH_BAD, BOTH_BAD, BOTH_BAD, TIE))
    assert inconsistency(readings, np.zeros(4, int), resample=spec()).inconsistent.value == 1 / 2


PREFERENCE = QuestionSpec(
    "better", Kind.PREFERENCE, "Which is better?",
    options={"both_good": "Both good", "both_bad": "Both bad", "form": {"both_bad": True}},
)  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("over", ["item", "follow_up"])
def test_a_form_of_one_s_own_tells_them_apart_too(over):
    asked = replace(PREFERENCE, options={**PREFERENCE.options, "form": {"both_bad": True, "over": over}})
    study = answered_study(
        "custom", queries=6, questions=[asked], needs={"query": True, "least": 2, "most": 2}, launched=False,
        kinds={"aspen": "model", "birch": "model"},
    )  # fmt: skip
    launch_study(study)
    study.refresh_from_db()
    [item, *_] = items_of(study)
    screen = build_screen(study.protocol_object, study.revisions.get().spec, item.stimulus, "r1,r2")
    labels = str(screen["fields"])
    assert "Both good" in labels
    assert "Both bad" in labels
    parts = [""] if over == "item" else ["f1", "f2"]
    for rater in range(3):
        votes = [VOTES[at % len(VOTES)][rater] for at in range(6)]
        answers = [{"better": vote if over == "item" else dict.fromkeys(parts, vote)} for vote in votes]
        give(study, new_rater(study, f"person {rater}"), answers)
    report = build_report(study, replicates=50, only=["preferences/both_bad"])
    found = [each for each in report["records"] if each["figure"] == "preferences/both_bad"]
    assert [each["overall"]["value"] for each in found] == [pytest.approx(8 / 18)] * len(found)
    assert len(found) >= 1
