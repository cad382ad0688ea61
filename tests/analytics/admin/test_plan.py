"""The plan of a study: from assumptions, from a pilot, with costs; and what it refuses."""

from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from analytics.reports.common import NothingToReport
from analytics.reports.pilots import pilot_ratings, pilot_votes
from analytics.statistics.planning.precision import Model, Wanted, least_items
from evaluation.services.members import add_member
from tests.extensions import extend
from tests.judged_contrast import made, owner, shared, study
from tests.protocol_factories import make_question_quality_study

__all__ = ["made", "owner", "shared", "study"]

ASKED = {
    "planned": "win_rate",
    "pilot": "",
    "first": "aspen",
    "second": "birch",
    "win_rate": "58",
    "ties": "15",
    "two_votes": "55",
    "aim": "seen",
    "chance": "80",
    "raters": "1, 3",
    "items": "200",
    "pay": "0.5",
    "fee": "20",
    "tokens": "0.01",
    "tokens_currency": "GBP",
}
# An interval of three points, with a judge of many items.
BESIDE = {"aim": "width", "reach": "3", "judge_r": "0.4", "judged": "5000"}


def address(study):
    return reverse("admin:evaluation_study_plan", args=[study.slug])


@pytest.fixture
def systems(study):
    one, two = study.systems.order_by("key")[:2]
    return {"first": one.key, "second": two.key}


@pytest.fixture
def ask(client, owner, study, systems):
    client.force_login(owner)
    return lambda **changed: client.get(address(study), {**ASKED, **systems, **changed})


def rows_of(response, which="least"):
    return response.context["plan"][which]


def test_the_form_proposes_what_the_study_says(client, owner, study):
    study.pay, study.items_per_participant = Decimal("3.00"), 10
    study.save()
    client.force_login(owner)
    response = client.get(address(study))
    assert response.status_code == 200
    assert response.context["plan"] is None
    agreement = response.context["form"]["two_votes"]
    assert (agreement.label, agreement.value()) == ("Agreement of two raters, percent", 55)
    proposed = response.context["form"].initial
    assert proposed["pay"] == Decimal("0.300")
    assert proposed["items"] == study.items.filter(role="main").count()


def test_the_fewest_items_and_what_they_cost(ask, study):
    response = ask()
    assert response.status_code == 200
    one, three = rows_of(response)
    model = response.context["form"].model(response.context["form"].assumed())
    assert isinstance(model, Model)
    assert one.found == least_items(model, 1, Wanted(seen=0.8), seed=study.seed)
    assert one.found.items > three.found.items
    assert one.judgments == one.found.items
    assert response.context["plan"]["currencies"] == ("GBP",)
    assert one.costs == (one.found.items * (Decimal("0.5") * Decimal("1.2") + Decimal("0.01")),)
    assert three.costs == (three.found.items * (3 * Decimal("0.5") * Decimal("1.2") + Decimal("0.01")),)
    assert (one.cheapest, three.cheapest) == (True, False)
    text = response.content.decode()
    assert f"{one.found.items}" in text
    assert "cheapest" in text
    assert [row.found.items for row in rows_of(response, "here")] == [200, 200]


def test_without_prices_there_are_no_costs(ask):
    response = ask(pay="", tokens="")
    assert all(row.costs == () for row in rows_of(response))
    assert "cheapest" not in response.content.decode()
    assert "No pay is entered: designs are compared by their judgments." in response.content.decode()


def test_without_pay_designs_are_compared_by_judgments(ask):
    """What judges cost falls with the items: alone it would call the most raters the cheapest."""
    response = ask(pay="")
    one, three = rows_of(response)
    assert one.costs[0] > three.costs[0]
    assert one.judgments < three.judgments
    assert [(row.cheapest, row.fewest) for row in (one, three)] == [(False, True), (False, False)]
    text = " ".join(response.content.decode().split())
    assert "No pay is entered: the cost shown is the judges&#x27; alone" in text
    assert "fewest judgments" in text
    assert "cheapest" not in text


@pytest.mark.parametrize(
    ("currency", "column", "said"),
    [
        ("usd", "Judges, USD", "Pay is in GBP and the judges&#x27; cost in USD, so they are not added up."),
        ("", "Judges", "prices, which are entered without one, so they are not added up"),
    ],
)
def test_costs_in_two_currencies_stand_apart(ask, currency, column, said):
    response = ask(tokens_currency=currency)
    one, three = rows_of(response)
    assert response.context["plan"]["currencies"] == ("Pay, GBP", column)
    assert one.costs == (one.found.items * Decimal("0.6"), one.found.items * Decimal("0.01"))
    text = response.content.decode()
    assert said in text
    assert f'<th scope="col" class="num">{column}</th>' in text
    # More pay for fewer judged items: neither is the cheaper one.
    assert one.costs[0] < three.costs[0]
    assert one.costs[1] > three.costs[1]
    assert not one.cheapest
    assert not three.cheapest
    [beside, _] = ask(**BESIDE, tokens_currency=currency).context["plan"]["with_judge"]
    assert beside.costs == (beside.items * Decimal("0.6"), 5000 * Decimal("0.01"))


def test_one_cost_alone_stands_in_its_own_currency(ask):
    for changed, currency in (
        ({"tokens": ""}, "GBP"),
        ({"pay": "", "tokens_currency": "USD"}, "Judges, USD"),
        ({"pay": "", "tokens_currency": ""}, "Judges"),
    ):
        response = ask(**changed)
        assert response.context["plan"]["currencies"] == (currency,)
        assert all(len(row.costs) == 1 for row in rows_of(response))
        assert "not added up" not in response.content.decode().split("<form")[0]


def test_the_judges_costs_are_proposed(ask, monkeypatch):
    costs = [("Alder v1", Decimal("0.002")), ("Beech v2", Decimal("0.003"))]
    extend(monkeypatch, alone=True, item_costs=lambda study: costs)
    response = ask()
    assert response.context["form"].initial["tokens"] == Decimal("0.00500")
    assert "As estimated, of Alder v1, Beech v2." in response.content.decode()


def test_an_interval_is_wanted_for_agreement(ask):
    response = ask(planned="agreement", aim="width", reach="2.5", raters="1 3 5")
    found = rows_of(response)
    assert [row.raters for row in found] == [3, 5]
    assert all(row.found.half_width <= 0.025 for row in found)
    assert all(row.found.seen is None for row in found)


def test_a_judge_of_more_items_spares_people(ask):
    response = ask(**BESIDE)
    one, three = response.context["plan"]["with_judge"]
    alone = rows_of(response)[0].found.items
    assert three.items < one.items < alone
    assert one.costs == (one.items * Decimal("0.6") + 5000 * Decimal("0.01"),)
    assert three.judgments == 3 * three.items
    assert "With a judge of 5,000 items" in response.content.decode()
    few = ask(**{**BESIDE, "judged": "100"})
    assert [row.items for row in few.context["plan"]["with_judge"]] == [None, None]
    assert "the judge has to judge more items" in few.content.decode()
    assert ask().context["plan"]["with_judge"] == []


def test_an_aim_out_of_reach(ask):
    response = ask(win_rate="50")
    assert all(row.found is None for row in rows_of(response))
    assert "Even 100,000 items are too few." in response.content.decode()
    assert not any(row.meets for row in rows_of(response, "here"))


def test_a_pilot_gives_the_assumptions(ask, study, systems):
    response = ask(pilot=study.pk)
    assert response.status_code == 200
    found = response.context["plan"]["assumed"]
    assert found == pilot_votes(study, **systems)
    other_way = pilot_votes(study, systems["second"], systems["first"])
    assert other_way.win_rate == pytest.approx(1 - found.win_rate)
    assert other_way.two_votes == pytest.approx(found.two_votes)


def test_the_pilots_figures_are_the_reports(study, systems):
    from analytics.reports.build import build_report

    report = build_report(study, replicates=0, only=["agreement/two_votes"])
    votes = next(
        each
        for each in report["records"]
        if each["figure"] == "agreement/two_votes" and each["group"] == "person"
    )
    assert pilot_votes(study, **systems).two_votes == pytest.approx(votes["within"]["with_ties"]["value"])


def test_a_pilot_without_such_judgments_says_so(ask, study, systems):
    with pytest.raises(NothingToReport, match="no votes between nobody and nothing"):
        pilot_votes(study, "nobody", "nothing")
    with pytest.raises(NothingToReport, match="no ratings by people of the question clarity"):
        pilot_ratings(study, "clarity", **systems)


def test_a_draft_is_no_pilot(db):
    draft = make_question_quality_study("later")
    with pytest.raises(NothingToReport, match=r"no ratings by people|has not been launched"):
        pilot_ratings(draft, "clarity", "human", "model")


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"ties": "40", "win_rate": "90"}, "two_votes", "between 20.0% and 80.0%"),
        ({"two_votes": "10"}, "two_votes", "by chance alone"),
        ({"raters": "three"}, "raters", "Whole numbers from 1 to 50"),
        ({"raters": "0"}, "raters", "Whole numbers from 1 to 50"),
        ({"raters": "1 2 3 4 5 6 7 8 9"}, "raters", "At most 8"),
        ({"chance": "100"}, "chance", "between 0 and 1"),
        ({"chance": ""}, "chance", "required"),
        ({"ties": ""}, "ties", "required"),
        ({"items": "9"}, "items", "10"),
        ({"planned": "agreement"}, "aim", "no difference to detect"),
        ({"planned": "agreement", "aim": "width", "reach": "2", "raters": "1"}, "raters", "two raters"),
        ({"aim": "width", "reach": "-1"}, "reach", "above 0"),
        ({"planned": "difference"}, "planned", "not one of the available choices"),
        ({"tokens_currency": "dollars"}, "tokens_currency", "three letters"),
        ({"pay": "-1"}, "pay", "greater than or equal to 0"),
        ({"judge_r": "0.4"}, "judged", "required"),
        ({"judged": "500"}, "judge_r", "required"),
        ({"judge_r": "0.4", "judged": "500"}, "judge_r", "for an interval width"),
        ({"planned": "agreement", "raters": "3", **BESIDE}, "judge_r", "no judge makes it more precise"),
        ({**BESIDE, "judge_r": "0.9"}, "judge_r", "correlates with one person by 0 to 0."),
        ({**BESIDE, "judged": "31"}, "judged", "32"),
    ],
)
def test_what_does_not_fit_is_said_where_it_stands(ask, changed, field, said):
    response = ask(**changed)
    assert response.status_code == 422
    assert response.context["plan"] is None
    assert said in str(response.context["form"].errors[field])


def test_two_systems_of_a_pilot_differ(ask, study, systems):
    response = ask(pilot=study.pk, second=systems["first"])
    assert "two different systems" in str(response.context["form"].errors["second"])


def test_members_alone_see_a_plan(client, owner, study):
    stranger = get_user_model().objects.create_user("stranger", password="a-long-password", is_staff=True)
    client.force_login(stranger)
    assert client.get(address(study)).status_code == 404
    colleague = get_user_model().objects.create_user("colleague", password="a-long-password", is_staff=True)
    add_member(study, user=colleague, role="viewer", by=owner)
    client.force_login(colleague)
    assert client.get(address(study)).status_code == 200
    assert client.post(address(study), ASKED).status_code == 405
