"""The composite judge: chosen on people and cross-fitted, or by a map; run like any judge."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analytics.reports.build import build_report
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.filters import TOGETHER, Filters
from evaluation.models import Rater
from evaluation.refusals import FieldsRefused, Refused
from judging.models import JudgeRun
from judging.services.derived.base import Preparation
from judging.services.derived.composite import href_map
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge, edit_judge
from judging.services.runs.judge_runs import keep_preparation, start_run
from judging.services.runs.lifecycle import resume_run
from judging.services.runs.work import work_on
from tests.analytics.reports.answering import judged_by_everyone
from tests.analytics.reports.judging import answer, new_judge
from tests.evaluation.dumps.build import export_bytes
from tests.judging.build import judged
from tests.judging.services.derived.build import (
    OTHER,
    imported,
    items_of,
    people,
    right_in,
    said_by,
    say,
    study_in_categories,
    truth,
)

pytestmark = pytest.mark.django_db
SIZES = {"facts": 40, "style": 40, "rare": 10}


def make_once(owner):
    study = study_in_categories(SIZES, slug="shared", owner=owner)
    people(study)
    right_in(study, "alpha", "facts", "rare")
    right_in(study, "beta", "style")
    return study


@pytest.fixture
def judged_study(study):
    return study


def composite(study, members=("alpha", "beta"), name="best", **options):
    fields = {"questions": options.pop("questions")} if "questions" in options else {}
    return create_judge(
        study, name=name, backend="composite", options={"members": list(members), **options}, **fields
    )


def test_each_category_is_judged_by_the_member_that_is_best_there(judged_study):
    run, _ = judged(judged_study, composite(judged_study))
    assert (run.state, run.reason) == ("complete", "")
    about = run.judging.rater.about["derived"]
    # Of the rare category there is too little: it takes the best over all, which is right there and in facts.
    assert about["categories"] == {"facts": "alpha", "style": "beta", "rare": "alpha"}
    assert (about["otherwise"], about["by_default"]) == ("alpha", ["rare"])
    assert about["folds"] == [about["categories"]] * 5
    assert about["agreement"] == {
        "cross_fitted": {"value": 1.0, "n": 90, "n_left_out": 0},
        "of_map": {"value": 1.0, "n": 90, "n_left_out": 0},
        "in_sample": {"value": 1.0, "n": 90, "n_left_out": 0},
    }
    assert list(said_by(judged_study, run.judging.rater).values()) == [truth(at) for at in range(90)]
    # It has seen no response, in no order.
    assert set(judged_study.judgments.filter(rater=run.judging.rater).values_list("shown", flat=True)) == {""}


def test_the_smallest_number_of_judged_queries_is_a_setting(owner):
    study = study_in_categories({"facts": 40, "rare": 10}, owner=owner)
    people(study)
    right_in(study, "alpha", "facts")
    right_in(study, "beta", "rare")
    for least, member in ((30, "alpha"), (10, "beta"), (1, "beta")):
        run, _ = judged(study, composite(study, name=f"from-{least}", least_judged=least))
        about = run.judging.rater.about["derived"]
        assert (about["categories"]["rare"], about["least_judged"]) == (member, least)
    with pytest.raises(FieldsRefused, match="a whole number from 1 to 1,000,000 is needed"):
        composite(study, name="none", least_judged=0)


def test_an_item_is_judged_by_the_choice_of_the_other_folds(owner):
    """Both members are right in 20 of 40; whoever is better among the others is worse in the fold that is held back."""
    study = study_in_categories({"facts": 40}, owner=owner)
    people(study)
    labels = [truth(at) for at in range(40)]
    for name, even in (("alpha", True), ("beta", False)):
        imported(study, name, name, [x if (at % 2 == 0) == even else OTHER[x] for at, x in enumerate(labels)])
    run, _ = judged(study, composite(study))
    about, folds = run.judging.rater.about["derived"], run.judging.folds
    assert sorted(folds) == [f"q{at:03}" for at in range(40)]
    said = said_by(study, run.judging.rater)
    for at, item in enumerate(items_of(study)):
        fold = folds[item.query.key]
        others = [place for place in range(40) if folds[f"q{place:03}"] != fold]
        right = sum(place % 2 == 0 for place in others)
        chosen = about["folds"][fold].get("facts", about["otherwise"])
        if right * 2 != len(others):
            assert chosen == ("alpha" if right * 2 > len(others) else "beta")
        assert said[item.key] == (labels[at] if (at % 2 == 0) == (chosen == "alpha") else OTHER[labels[at]])
    agreement = sum(said[f"i{at:03}"] == label for at, label in enumerate(labels)) / 40
    assert about["agreement"]["cross_fitted"]["value"] == pytest.approx(agreement)
    assert agreement < 0.5 == about["agreement"]["in_sample"]["value"]


def test_what_the_member_did_not_judge_fails_with_the_reason_and_is_counted(owner):
    study = study_in_categories(SIZES, owner=owner)
    people(study)
    right_in(study, "alpha", "facts", "rare", silent={"i003", "i004"})
    right_in(study, "beta", "style")
    run, _ = judged(study, composite(study))
    failed = run.calls.filter(outcome="failed")
    assert sorted(failed.values_list("item__key", flat=True)) == ["i003", "i004"]
    assert set(failed.values_list("error", flat=True)) == {
        "alpha, the member of category 'facts', has no verdict on it."
    }
    assert study.judgments.filter(rater=run.judging.rater, outcome="failed").count() == 2
    assert (run.state, run.unanswered) == ("complete", 2)


def test_a_map_needs_no_people(judged_study, owner):
    judged(judged_study, composite(judged_study))
    out = io.StringIO()
    call_command("composite_map", judged_study.slug, "best", stdout=out)
    made = json.loads(out.getvalue())
    assert made["agreement"]["cross_fitted"] == {"value": 1.0, "n": 90, "n_left_out": 0}
    other = study_in_categories({"style": 2, "unheard of": 2}, slug="other", owner=owner)
    for name, labels in (("one", ["r1"] * 4), ("two", ["r2"] * 4)):
        imported(other, name, "", labels)
    members = ["alpha = one", "beta = two"]
    applied, _ = judged(other, composite(other, members, chosen="map", map=made))
    assert list(said_by(other, applied.judging.rater).values()) == ["r2", "r2", "r1", "r1"]
    assert applied.judging.folds == {}


def test_the_map_of_href_takes_roles(owner):
    kinds = href_map()["categories"]
    assert kinds["Brainstorm"] == kinds["Summarize"] == "model"
    assert kinds["Open QA"] == kinds["Fact Checking"] == "embedding"
    names = ["Brainstorm", "Fact Checking or Attributed QA", "Rewrite", "Closed QA"]
    study = study_in_categories(dict.fromkeys(names, 1), owner=owner)
    for name, at in (("m", 0), ("e", 1), ("r", 2)):
        # Only in its own categories it says r2.
        says = ["r2" if {0: 0, 1: 1, 2: 2, 3: 2}[place] == at else "r1" for place in range(4)]
        imported(study, name, "", says)
    members = ["model = m", "model-with-reference = r", "embedding = e"]
    run, _ = judged(study, composite(study, members, chosen="href"))
    assert list(said_by(study, run.judging.rater).values()) == ["r2"] * 4


def test_members_are_found_by_what_stays_the_same(judged_study):
    imported(judged_study, "gpt-4", "GPT-4", [truth(at) for at in range(90)])
    run, _ = judged(judged_study, composite(judged_study, ["alpha", "GPT-4"]))
    assert run.judging.rater.about["derived"]["members"] == {"alpha": "judge-alpha", "GPT-4": "gpt-4"}
    assert list(said_by(judged_study, run.judging.rater).values()) == [truth(at) for at in range(90)]


def test_a_jury_is_one_member(judged_study):
    """Two of its three always say the first response; each by itself is no member."""
    jury = {"name": "crowd", "combination": "majority"}
    for name, label in (("one", "r1"), ("two", "r1"), ("three", "r2")):
        say(judged_study, new_judge(judged_study, name, jury=jury), [label] * 90)
    by_map = {"chosen": "map", "map": {"categories": {}, "otherwise": "crowd"}}
    run, _ = judged(judged_study, composite(judged_study, ["crowd"], **by_map))
    assert set(said_by(judged_study, run.judging.rater).values()) == {"r1"}
    with pytest.raises(Refused, match="'one' is one of the jury 'crowd', which judges as one: name the jury"):
        start_run(judged_study, composite(judged_study, ["alpha", "one"], name="other"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"members": []}, "Members: at least one name is needed"),
        ({"members": ["alpha"]}, "needs two members or more"),
        ({"members": ["alpha", "x = "]}, "neither a name nor"),
        ({"members": ["alpha", "alpha = beta"]}, "'alpha' is named twice"),
        ({"members": ["alpha"], "chosen": "map"}, "needs the map"),
        ({"members": ["alpha"], "chosen": "map", "map": {"categories": []}}, "otherwise"),
        (
            {"members": ["alpha"], "chosen": "map", "map": {"categories": {"x": "y"}, "otherwise": "alpha"}},
            "The map names 'y', of which the members have none",
        ),
        (
            {"members": ["model = alpha"], "chosen": "href"},
            "The map names 'embedding', 'model-with-reference'",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(judged_study, options, said):
    with pytest.raises(FieldsRefused, match=said):
        create_judge(judged_study, name="best", backend="composite", options=options)


def test_settings_of_models_and_other_studies_are_refused(judged_study, owner):
    with pytest.raises(FieldsRefused, match="one judgment of an item"):
        create_judge(
            judged_study, name="best", backend="composite", options={"members": ["alpha", "beta"]}, samples=3
        )
    with pytest.raises(FieldsRefused, match="does not ask for"):
        composite(judged_by_everyone("aspects"))


def test_a_member_that_is_not_there_is_refused_before_the_run(judged_study):
    judge = composite(judged_study, ["alpha", "gamma"])
    for begin in (start_run, estimate):
        with pytest.raises(
            Refused, match=r"No judge 'gamma' is in the study's figures.* There are: alpha, beta\."
        ):
            begin(judged_study, judge)
    right_in(judged_study, "gamma", in_figures=False)
    with pytest.raises(Refused, match="needs a complete main run"):
        start_run(judged_study, judge)


def test_without_people_nothing_is_chosen(owner):
    study = study_in_categories({"facts": 6}, owner=owner)
    for name in ("alpha", "beta"):
        right_in(study, name, "facts")
    run = start_run(study, composite(study))
    assert work_on(run.pk).state == "stopped"
    run.refresh_from_db()
    assert run.reason.startswith("No person has judged yet")
    assert not run.calls.exists()
    people(study)
    resume_run(run)
    assert work_on(run.pk).state == "complete"


def test_a_run_starts_at_once_and_is_prepared_once_by_a_worker(judged_study, monkeypatch):
    run = start_run(judged_study, composite(judged_study))
    about = run.judging.rater.about
    assert ("derived" in about, about["orders"], about["heuristic"]) == (False, "none", False)
    work_on(run.pk, seconds=0)
    rater = Rater.objects.get(pk=run.judging.rater_id)
    assert rater.about["derived"]["categories"]["style"] == "beta"
    assert len(JudgeRun.objects.get(pk=run.pk).folds) == 90
    # What people say later changes nothing of it.
    monkeypatch.setattr("judging.services.derived.composite._choose", None)
    assert work_on(run.pk).state == "complete"


def test_of_two_workers_the_first_ones_choice_holds(judged_study):
    run = start_run(judged_study, composite(judged_study))
    first, second = (JudgeRun.objects.select_related("rater").get(pk=run.pk) for _ in range(2))
    keep_preparation(first, Preparation(about={"kind": "composite", "by": "first"}, by_query={"q000": 1}))
    keep_preparation(second, Preparation(about={"kind": "composite", "by": "second"}, by_query={"q000": 2}))
    assert (second.rater.about["derived"]["by"], second.folds) == ("first", {"q000": 1})


def test_what_was_chosen_on_people_is_no_member_of_a_choice(judged_study):
    judged(judged_study, composite(judged_study))
    twice = composite(judged_study, ["best", "beta"], name="twice")
    refused, _ = judged(judged_study, twice)
    assert refused.state == "stopped"
    assert refused.reason.startswith("best v1: chosen or fitted on this study's people already")
    by_map = {"chosen": "map", "map": {"categories": {}, "otherwise": "best"}}
    run, _ = judged(judged_study, edit_judge(twice, options={"members": ["best"], **by_map}))
    assert run.state == "complete"


def test_a_member_that_left_the_figures_stops_the_run(judged_study):
    run = start_run(judged_study, composite(judged_study))
    work_on(run.pk, seconds=0)
    judged_study.raters.filter(pseudonym="judge-beta").update(in_figures=False)
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert "beta is not in the study's figures any more" in run.reason


def test_the_map_is_shown_and_downloaded(judged_study, admin_client):
    run, _ = judged(judged_study, composite(judged_study))
    page = admin_client.get(
        reverse("admin:judging_judge_change", args=[run.judging.judge_id])
    ).content.decode()
    address = reverse("admin:judging_judge_map", args=[run.judging.judge_id])
    assert address in page
    found = admin_client.get(address)
    assert found["Content-Disposition"] == 'attachment; filename="shared-best-map.json"'
    assert json.loads(found.content)["categories"]["style"] == "beta"
    longer = create_judge(judged_study, name="longer", backend="longer")
    assert admin_client.get(reverse("admin:judging_judge_map", args=[longer.pk])).status_code == 404
    with pytest.raises(CommandError, match="longer has no map"):
        call_command("composite_map", judged_study.slug, "longer")


def test_a_probability_is_taken_over(owner):
    study = study_in_categories({"facts": 2}, owner=owner)
    sure = new_judge(study, "sure", reduction="mean")
    for item, number in zip(items_of(study), (0.25, 0.75), strict=True):
        answer(study, sure, item, "r2" if number > 0.5 else "r1", number=number)
    by_map = {"chosen": "map", "map": {"categories": {}, "otherwise": "sure"}}
    run, _ = judged(study, composite(study, ["sure"], **by_map))
    rows = study.judgments.filter(rater=run.judging.rater).order_by("item__key")
    assert list(rows.values_list("answers__label", "answers__number")) == [("r1", 0.25), ("r2", 0.75)]


def test_a_study_that_is_read_in_again_reports_the_same(judged_study, tmp_path):
    judged(judged_study, composite(judged_study))
    file = tmp_path / "study.jsonl"
    file.write_bytes(export_bytes(judged_study, "jsonl"))
    again = import_dump(FileSource(file), slug="again")
    one, other = (
        [
            each
            for each in build_report(study, replicates=20, only=["judges/composites"])["records"]
            if each["figure"] == "judges/composites"
        ]
        for study in (judged_study, again)
    )
    assert len(one) == 1
    assert one == other


def test_judges_together_count_their_members_once(judged_study):
    judged(judged_study, composite(judged_study))
    report = build_report(judged_study, replicates=20, only=[], filters=Filters(judges=TOGETHER))
    [together] = [group for group in report["groups"] if group["kind"] == "judges"]
    assert (together["raters"], together["judgments"]) == (2, 180)
    assert "best v1" in [group["label"] for group in report["groups"]]
    sentences = " ".join(report["methods"])
    assert "derived from the judgments of alpha, beta; each item by the member that agreed best" in sentences
