"""Whom a study takes: as a published study did or by its own fields, and what is asked of the panel for it."""

from decimal import Decimal

import pytest

from annotator.models import Panel
from annotator.panels.prolific.filters import as_stored, differences
from annotator.panels.prolific.presets import PRESETS, fair_pay_warning
from annotator.panels.prolific.recruitment_filters import (
    DEVICES,
    EDUCATION,
    FiltersInvalid,
    RecruitmentFilters,
    read_filters,
)
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.services import recruiting, study_draft
from annotator.panels.services.panel_settings import panel_of
from annotator.panels.services.preflight import draft_warnings
from annotator.panels.services.recruitment_filters import filters_of, offer, set_filters, use_preset
from tests import factories
from tests.annotator.panels import prolific_filters
from tests.annotator.panels.recruits import drafted_as, make, problems_of, run
from tests.crowd import come

pytestmark = pytest.mark.django_db


def wrong_with(given, study=None):
    """The fields that are refused, each with why."""
    with pytest.raises(FiltersInvalid) as caught:
        read_filters(given) if study is None else set_filters(study, given)
    return dict(caught.value.fields)


# --- presets ----------------------------------------------------------------------------------------------------------


def test_a_preset_recruits_as_the_paper_did(prolific, study):
    said = use_preset(study, "contexteval")
    study.refresh_from_db()
    assert (study.pay, study.currency, study.paid_minutes, study.items_per_participant) == (
        Decimal("5.25"),
        "USD",
        21,
        3,
    )
    assert said == []
    study_draft.draft_on_panel(study)
    assert drafted_as(prolific)["filters"] == [
        {"filter_id": "approval_rate", "selected_range": {"lower": 99}},
        {"filter_id": "approval_numbers", "selected_range": {"lower": 500}},
        {"filter_id": "fluent-languages", "selected_values": ["19"]},
    ]


def test_a_preset_for_a_study_of_its_own_length_pays_by_the_hour(study):
    [said] = use_preset(study, "agentcq")
    assert (study.pay, study.paid_minutes, study.items_per_participant) == (Decimal("2.98"), 21, 3)
    assert "below the 12.00 that Prolific recommends" in said


def test_a_preset_of_several_visits(study):
    """438 items for each person, as HREF's had, in visits of an hour."""
    [said] = use_preset(study, "href")
    study.refresh_from_db()
    assert (study.pay, study.paid_minutes, study.items_per_participant, study.visits) == (
        Decimal(16),
        60,
        20,
        22,
    )
    assert (
        study.items_per_participant * (study.visits - 1) < 438 <= study.items_per_participant * study.visits
    )
    assert offer(study) == "16.00 USD for 20 items in 60 minutes, in each of up to 22 visits"
    assert said == "HREF requires 9 of 10 right in a qualification; this study does not."
    study.revisions.all().delete()
    study.steps = study.steps | {"qualification": {"pass_mark": 9}}
    study.save()
    assert use_preset(study, "href") == [said], "there are no ten to get right"
    assert any("Prolific requires two at a comprehension check" in each for each in draft_warnings(study))
    study.steps["qualification"]["attempts"] = 2
    assert not any("Prolific requires two at a comprehension check" in each for each in draft_warnings(study))
    arm = study.arms.get()
    for number in range(10):
        query, context = factories.make_query(study, f"qualify-{number}")
        factories.make_item(study, query, context, arm, [], key=f"qualify-{number}", role="qualification")
    assert use_preset(study, "href") == []
    use_preset(study, "lfqa")
    assert study.visits == 1


def test_above_99_is_100_in_whole_numbers(prolific, study):
    use_preset(study, "href")
    study_draft.draft_on_panel(study)
    assert drafted_as(prolific)["filters"][0] == {
        "filter_id": "approval_rate",
        "selected_range": {"lower": 100},
    }


def test_minutes_that_a_preset_pays_are_minutes_that_an_item_is_kept(prolific):
    study = make(lease_minutes=30)
    use_preset(study, "lfqa")
    study.refresh_from_db()
    assert (study.pay, study.paid_minutes, study.lease_minutes) == (Decimal(12), 42, 42)


def test_choices_are_found_by_their_names_there(prolific, study, monkeypatch):
    listed = [dict(each) for each in prolific_filters.FILTERS]
    for each in listed:
        if each["filter_id"] == "first-language":
            each["choices"] = {"7": "English"}
    monkeypatch.setattr(prolific_filters, "FILTERS", listed)
    use_preset(study, "lfqa")
    study_draft.draft_on_panel(study)
    assert drafted_as(prolific)["filters"][1] == {"filter_id": "first-language", "selected_values": ["7"]}


def test_a_choice_that_is_gone_there_recruits_nobody(prolific, study, monkeypatch):
    kept = [
        each for each in prolific_filters.FILTERS if each["filter_id"] != "highest-education-level-completed"
    ]
    monkeypatch.setattr(prolific_filters, "FILTERS", kept)
    use_preset(study, "href")
    [said] = problems_of(study_draft.draft_on_panel, study)
    assert "'highest-education-level-completed'" in said
    assert prolific.studies == {}
    # Nothing is left in the way of the next attempt.
    set_filters(study, {})
    assert study_draft.draft_on_panel(study).drafted_at is not None


def test_a_preset_leaves_who_is_kept_out_and_the_devices(prolific, study):
    come(make("other"), "ann")
    set_filters(study, {"not_from": ["other"], "by": "people", "devices": ["desktop"], "least": 20})
    said = run("panel", "pairs", "preset", "lfqa")
    for kept in ("nobody who took part in other", "on desktop", "approval rate of at least 99 %"):
        assert kept in said
    assert "approved submissions" not in said
    study.refresh_from_db()
    study_draft.draft_on_panel(study)
    sent = drafted_as(prolific)
    assert {"filter_id": "custom_blocklist", "selected_values": ["ann"]} in sent["filters"]
    assert sent["device_compatibility"] == ["desktop"]


def test_an_unknown_preset_is_named(study):
    assert "contexteval" in problems_of(use_preset, study, "mturk")[0]
    assert not Panel.objects.exists()


# --- by its own fields ------------------------------------------------------------------------------------------------


def test_every_condition_is_asked_for_in_the_panels_form(prolific, study):
    asked = {
        "approval_rate": 95, "least": "20", "most": "400", "fluent": "English, French", "first": ["Arabic"],
        "countries": "Canada; Germany", "education": EDUCATION[-2], "devices": ["desktop", "tablet"],
    }  # fmt: skip
    assert set_filters(study, asked) == []
    panel = study_draft.draft_on_panel(study)
    assert drafted_as(prolific)["filters"] == [
        {"filter_id": "approval_rate", "selected_range": {"lower": 95}},
        {"filter_id": "approval_numbers", "selected_range": {"lower": 20, "upper": 400}},
        {"filter_id": "fluent-languages", "selected_values": ["19", "23"]},
        {"filter_id": "first-language", "selected_values": ["4"]},
        {"filter_id": "current-country-of-residence", "selected_values": ["38", "77"]},
        {"filter_id": "highest-education-level-completed", "selected_values": ["5", "6"]},
    ]
    assert drafted_as(prolific)["device_compatibility"] == ["desktop", "tablet"]
    assert filters_of(panel).sentences() == [
        "approval rate of at least 95 %",
        "20 to 400 approved submissions",
        "fluent in English or French",
        "Arabic as first language",
        "living in Canada or Germany",
        "education: Graduate degree (MA/MSc/MPhil/other) or more",
        "on desktop or tablet",
    ]
    assert panel.drafted["filters"] == drafted_as(prolific)["filters"]
    assert [each.kind.key for each in reconcile(panel).mismatches if each.kind.key == "filters"] == []


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"approval_rate": 101}, "approval_rate", "not a whole number from 0 to 100"),
        ({"approval_rate": "99.5"}, "approval_rate", "'99.5' is not a whole number"),
        ({"approval_rate": -1}, "approval_rate", "is not a whole number from 0 to"),
        ({"least": 50, "most": 20}, "most", "less than the 50"),
        ({"most": 2_000_000}, "most", "from 0 to 1,000,000"),
        ({"education": "Bachelor"}, "education", "not one of No formal qualifications"),
        ({"devices": ["toaster"]}, "devices", "not one of desktop, tablet, mobile"),
        ({"by": "luck"}, "by", "not one of studies, people"),
        ({"shoes": 44}, "shoes", "no such filter"),
    ],
)
def test_what_can_not_be_meant_is_said_beside_its_field(given, field, said):
    assert said in wrong_with(given)[field]


def test_everything_wrong_is_said_at_once_and_nothing_is_stored(study):
    found = wrong_with({"approval_rate": "x", "education": "y", "fluent": ["English"]}, study)
    assert set(found) == {"approval_rate", "education"}
    assert panel_of(study) is None or panel_of(study).whom == {}


def test_a_word_that_the_panel_does_not_know_is_said_with_those_near_it(prolific, study):
    found = wrong_with({"countries": "United Kingdon, Canada"}, study)
    assert "no choice 'United Kingdon'; similar are United Kingdom" in found["countries"]
    assert "goes from 0 to 10000, but 20000 was requested" in wrong_with({"least": 20_000}, study)["least"]
    assert Panel.objects.get().whom == {}


def test_without_an_answer_it_is_kept_and_looked_up_when_drafted(prolific, study):
    prolific.fail("GET", "/filters/", "400")
    [note] = set_filters(study, {"first": "Klingon"})
    assert note.startswith("These names are checked against Prolific")
    [said] = problems_of(study_draft.draft_on_panel, study)
    assert "'Klingon'" in said
    assert prolific.studies == {}


def test_who_took_part_in_another_study_is_kept_out_by_the_study(prolific, study):
    other = make("other")
    assert "was never drafted on Prolific" in wrong_with({"not_from": ["other"]}, study)["not_from"]
    there = study_draft.draft_on_panel(other).external_id
    set_filters(study, {"not_from": ["other"]})
    study_draft.draft_on_panel(study)
    sent = prolific.sent("POST", "^/studies/$")[-1].body["filters"]
    assert sent == [{"filter_id": "previous_studies_blocklist", "selected_values": [there]}]
    assert filters_of(panel_of(study)).sentences() == ["nobody who took part in other"]
    assert (
        "is this study: its participants"
        in wrong_with({"not_from": ["pairs"]}, make("third") and study)["not_from"]
    )
    assert "no study 'gone'" in wrong_with({"not_from": ["gone"]}, study)["not_from"]


def test_who_took_part_in_another_study_is_kept_out_by_id_and_no_id_is_kept_twice(prolific, study):
    other = make("other")
    for name in ("zoe", "ann"):
        come(other, name)
    set_filters(study, {"not_from": ["other"], "by": "people"})
    panel = study_draft.draft_on_panel(study)
    assert drafted_as(prolific)["filters"] == [
        {"filter_id": "custom_blocklist", "selected_values": ["ann", "zoe"]}
    ]
    assert "ann" not in str(panel.drafted)
    assert "ann" not in str(panel.there)
    assert filters_said(prolific, panel) == []
    prolific.studies[panel.external_id]["filters"][0]["selected_values"] = ["ann"]
    assert "differs there" in filters_said(prolific, panel)[0]


def test_a_draft_is_changed_there_too_until_it_is_published(prolific, study):
    panel = study_draft.draft_on_panel(study)
    set_filters(study, {"approval_rate": 90})
    assert prolific.studies[panel.external_id]["filters"] == [
        {"filter_id": "approval_rate", "selected_range": {"lower": 90}}
    ]
    prolific.fail("PATCH", "^/studies/", "400")
    with pytest.raises(Exception, match="As the test wants it"):
        set_filters(study, {"approval_rate": 80})
    assert filters_of(Panel.objects.get()).approval_rate == 90
    recruiting.publish(Panel.objects.get())
    study.panel.refresh_from_db()
    assert "published" in problems_of(set_filters, study, {"approval_rate": 80})[0]
    assert len(prolific.sent("PATCH", "^/studies/")) == 2


def test_what_changes_while_the_study_is_drafted_is_not_lost(prolific, study, monkeypatch):
    set_filters(study, {"approval_rate": 90})
    really = study_draft._create_or_adopt

    def slowly(client, fields):
        Panel.objects.update(whom={"approval_rate": 50})
        return really(client, fields)

    monkeypatch.setattr(study_draft, "_create_or_adopt", slowly)
    assert "changed while the study was drafted" in problems_of(study_draft.draft_on_panel, study)[0]
    monkeypatch.setattr(study_draft, "_create_or_adopt", really)
    study.panel.refresh_from_db()
    panel = study_draft.draft_on_panel(study)
    assert panel.drafted["filters"][0]["selected_range"] == {"lower": 50}
    assert len(prolific.studies) == 1


def test_a_command_shows_and_sets_it(prolific, study):
    assert "open to everyone" in run("panel", "pairs", "whom")
    said = run("panel", "pairs", "whom", "approval_rate=97", "countries=Canada, United States")
    assert "at least 97 %\nliving in Canada or United States" in said
    assert run("panel", "pairs", "whom", "countries=") == "approval rate of at least 97 %\n"


# --- what is there ----------------------------------------------------------------------------------------------------


def filters_said(prolific, panel):
    """What the reconciliation says of the filters, once they were read back."""
    recruiting.sync_study(panel)
    found = reconcile(Panel.objects.select_related("study").get(pk=panel.pk)).mismatches
    return [each.sentence for each in found if each.kind.key == "filters"]


def test_a_study_that_somebody_changed_there_is_a_mismatch(prolific, study):
    set_filters(study, {"approval_rate": 99, "fluent": "English"})
    panel = study_draft.draft_on_panel(study)
    there = prolific.studies[panel.external_id]
    assert filters_said(prolific, panel) == []
    there["filters"] = [
        {"filter_id": "approval_rate", "selected_range": {"lower": 50}},
        {"filter_id": "first-language", "selected_values": ["19"]},
    ]
    there["device_compatibility"] = ["desktop"]
    [said] = filters_said(prolific, panel)
    assert said == (
        "The study was changed on the panel: “approval rate of at least 99 %” differs there; “fluent "
        "in English” is not set there; “first-language” is set only there; it allows "
        "desktop there."
    )
    # Saved once more, the draft is as it was.
    set_filters(study, panel.whom)
    assert filters_said(prolific, panel) == []
    there.pop("filters")
    assert filters_said(prolific, panel) == []  # an answer that does not say


def test_a_limit_that_only_one_side_names_is_no_difference():
    ours = [{"filter_id": "approval_rate", "selected_range": {"lower": 99}}]
    limits, said = {"approval_rate": [0, 100]}, {"approval_rate": "99"}
    for theirs, n in (({"lower": 99, "upper": 100}, 0), ({"lower": 99, "upper": 99}, 1), ({"upper": 100}, 1)):
        there = as_stored([{"filter_id": "approval_rate", "selected_range": theirs}])
        assert len(differences(ours, there, said=said, limits=limits)) == n


def test_what_is_kept_is_read_back_as_it_was():
    whom = RecruitmentFilters(
        least=5, first=("English",), education=EDUCATION[3], devices=DEVICES[:1], by="people"
    )
    assert read_filters(whom.as_json()) == whom
    assert RecruitmentFilters().as_json() == {}


# --- fair pay ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pay", "minutes", "currency", "said"),
    [
        ("5.25", 21, "USD", ""),
        ("2.00", 10, "USD", ""),
        ("1.99", 10, "USD", "11.94 per hour, below the 12.00 that Prolific recommends."),
        ("1.00", 10, "GBP", "6.00 per hour, below the 9.00 that Prolific recommends."),
        ("0.99", 10, "GBP", "5.94 per hour, below Prolific's minimum of 6.00: it won't publish the study."),
        ("5.00", 10, "EUR", "30.00 per hour; Prolific says what is fair in GBP and USD only."),
    ],
)
def test_pay_is_held_against_what_is_fair(pay, minutes, currency, said):
    assert fair_pay_warning(Decimal(pay), minutes, currency).endswith(said)
    assert bool(fair_pay_warning(Decimal(pay), minutes, currency)) is bool(said)


@pytest.mark.parametrize("key", sorted(PRESETS))
def test_presets_pay_fairly(key):
    preset = PRESETS[key]
    minutes = preset.minutes(3, otherwise=20)
    said = fair_pay_warning(preset.pay(3, minutes), minutes, preset.currency)
    # What was paid on Mechanical Turk is below what Prolific recommends.
    assert ("below the 12.00 that Prolific recommends" in said) if key == "agentcq" else said == ""
