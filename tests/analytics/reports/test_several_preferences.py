"""A pairwise study that asks for several preferences: each is reported by itself, and figures say of which they are."""

import json
from itertools import cycle

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from analytics.figures.agreement.alpha import ALPHA
from analytics.frames.study import study_frame
from analytics.reports.files import report_html, report_json
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from evaluation.protocols import AnswerValue, Kind, QuestionSpec, Shown
from evaluation.services.judgments import JudgmentInput, record_judgments
from tests import factories
from tests.analytics.reports.judging import judge, judged_study, main_items, new_judge
from tests.analytics.reports.reading import build_report
from tests.analytics.reports.validator import problems

pytestmark = pytest.mark.django_db
USEFUL = QuestionSpec("useful", Kind.PREFERENCE, "Which is more useful?", options={"tie": "Equal"})


def asking(*extra, slug="several", queries=8, **options):
    """A live study with questions besides the protocol's own."""
    study = factories.make_study(slug, queries=queries, training=False, checks=0, **options)
    for position, question in enumerate(extra, 100):
        study.questions.create(position=position, **question.as_json())
    return factories.launch(study)


def answer_both(study, rater, overall, useful, *, replicate=0, shown="", checks=()):
    """One judgment of every main item; the labels of either preference are given in turn."""
    labels = zip(cycle(overall), cycle(useful), strict=False)
    batch = []
    for item, (one, other) in zip(main_items(study), labels, strict=False):
        answers = [
            AnswerValue(key, Kind.PREFERENCE, label=label)
            for key, label in (("preference", one), ("useful", other))
            if label
        ]
        if item.arm.context_at_judging:
            answers += [
                AnswerValue("satisfied", Kind.CHECKLIST, part, number=float(value)) for part, value in checks
            ]
        batch.append(
            JudgmentInput(
                rater_id=rater.pk,
                item_id=item.pk,
                revision_id=study.revisions.get().pk,
                replicate=replicate,
                answers=answers,
                shown=shown,
            )
        )
    record_judgments(study=study, batch=batch)


def people(study, n=3):
    return [
        study.raters.create(kind="person", label=f"person {number}", pseudonym=f"person-{number}")
        for number in range(n)
    ]


@pytest.fixture
def study():
    """Overall everybody is for the first response; three in four find the second more useful."""
    made = asking(USEFUL)
    for rater in people(made):
        answer_both(made, rater, ["r1"], ["r2", "r2", "r1", "r2"], shown="r1,r2")
    return made


def section(report, key):
    return next(each for each in report_page(report.raw).sections if each.key == key)


def share_of_first(groups):
    return [rate["system_1"]["value"] for rate in groups[0]["win_rates"]["majority"]]


def test_each_preference_has_figures_of_its_own(study):
    report = build_report(study, replicates=50)
    asked = report["preference"]
    assert (asked["key"], asked["prompt"]) == ("preference", "Which response is better overall?")
    assert share_of_first(report["groups"]) == [1.0, 1.0, 1.0]
    (further,) = report["further_preferences"]
    assert (further["key"], further["prompt"]) == ("useful", "Which is more useful?")
    assert share_of_first(further["groups"]) == [0.25, 0.25, 0.25]
    assert further["groups"][0]["kappa"]["pairs"][0]["kappa"]["value"] == 1.0


def test_a_preference_is_as_if_the_other_had_not_been_asked(study):
    alone = judged_study("alone", queries=8)
    judge(alone, raters=3, choose=lambda rater, position: "r1")
    (of_both, of_one) = (build_report(each, replicates=50)["groups"] for each in (study, alone))
    for name in ("agreement", "win_rates", "flips", "leave_one_out", "alpha"):
        assert of_both[0][name] == of_one[0][name], name


def test_a_judgment_counts_once(study):
    report = build_report(study, replicates=0)
    counts = report["counts"]
    assert (counts["judgments"], counts["raters"], counts["items"]) == (72, 3, 24)
    assert [rater["judgments"] for rater in report["raters"]] == [24, 24, 24]


def test_a_rater_who_answered_only_one_of_them_is_counted():
    study = asking(USEFUL)
    one, other = people(study, 2)
    answer_both(study, one, ["r1"], [""])
    answer_both(study, other, [""], ["r2"])
    report = build_report(study, replicates=0)
    assert (report["counts"]["judgments"], report["counts"]["raters"]) == (48, 2)
    assert [rater["judgments"] for rater in report["raters"]] == [24, 24]
    assert [report["groups"][0]["raters"], report["further_preferences"][0]["groups"][0]["raters"]] == [1, 1]


def test_a_preference_without_answers_is_left_out():
    study = asking(USEFUL)
    (rater,) = people(study, 1)
    answer_both(study, rater, [""], ["r2"])
    report = build_report(study, replicates=0)
    assert report["preference"]["key"] == "useful"
    assert report["further_preferences"] == []
    assert study_frame(study).pairs[0].preference.key == "useful"


def test_headline_figures_and_sections_name_their_question(study):
    report = build_report(study, replicates=50)
    page = report_page(report.raw)
    facts = {fact.name: fact.detail for fact in page.facts}
    assert facts["Agreement"].startswith("Which response is better overall? ")
    assert facts[ALPHA].startswith("Which response is better overall? ")
    headings = [block.heading for block in section(report, "win-rates").blocks]
    assert any(heading.startswith("Which response is better overall? aspen vs birch") for heading in headings)
    assert any(heading.startswith("Which is more useful? aspen vs birch") for heading in headings)
    anchors = [block.anchor for each in page.sections for block in each.blocks if block.anchor]
    assert len(anchors) == len(set(anchors))
    # Judgments by rater is the same for both, and stands once.
    assert [block.heading for block in section(report, "raters").blocks].count("Judgments by rater") == 1
    assert "Each preference is reported separately" in " ".join(report["methods"])


def test_findings_say_of_which_preference_they_are():
    study = asking(USEFUL, queries=12, arms=({"key": "all", "label": "All items"},))
    for rater in people(study):
        answer_both(study, rater, ["r1", "r1", "r1", "r1", "r1", "tie"], ["r2", "r2", "r2", "tie"])
    winners = [each for each in build_report(study, replicates=200)["findings"] if each["kind"] == "winner"]
    assert [(each["question"], each["system"]) for each in winners] == [
        ("preference", "aspen"),
        ("useful", "birch"),
    ]
    assert winners[1]["heading"].endswith(": Which is more useful?")


def test_page_markdown_file_and_schema_have_both(study, client):
    owner = get_user_model().objects.create_superuser("owner", password="owner-password")
    client.force_login(owner)
    page = client.get(reverse("analytics:study-report", args=[study.slug]))
    assert page.status_code == 200
    report = build_report(study, replicates=50)
    for text in (page.content.decode(), report_markdown(report.raw), report_html(report.raw)):
        assert "Which is more useful? aspen vs birch" in text
        assert "Which response is better overall? aspen vs birch" in text
    assert problems(json.loads(report_json(report.raw))) == []


def test_judges_are_as_consistent_as_each_preference_is():
    """In the other order the judge says the same overall, and turns round what it finds useful."""
    study = asking(USEFUL)
    rater = new_judge(study, orders="both", reduction="both_ways", questions=["preference", "useful"])
    answer_both(study, rater, ["r1"], ["r1"], shown="r1,r2")
    answer_both(study, rater, ["r1"], ["r2"], replicate=1, shown="r2,r1")
    report = build_report(study, replicates=50)
    (of_first,), ((of_second,),) = (
        report["judges"],
        [further["groups"] for further in report["further_preferences"]],
    )
    assert of_first["inconsistent"]["value"] == 0.0
    assert of_second["inconsistent"]["value"] == 1.0
    assert report["counts"]["judgments"] == 48
    tables = [table for block in section(report, "judges").blocks for table in block.tables]
    (table,) = (table for table in tables if table.columns[-2].label == "Inconsistent")
    inconsistent = [row[-2].text for row in table.rows]
    assert inconsistent == ["0.0", "100.0"]


def test_a_judge_of_one_preference_is_in_the_figures_of_that_one():
    study = asking(USEFUL)
    for rater in people(study):
        answer_both(study, rater, ["r1"], ["r2"])
    answer_both(study, new_judge(study, questions=["useful"]), [""], ["r2"])
    report = build_report(study, replicates=50)
    assert report["judges"][0]["caveats"] == []
    of_useful = report["further_preferences"][0]["groups"]
    assert [group["items"] for group in of_useful] == [24, 24]
    assert of_useful[1]["against_people"]["outer"]["value"] == 1.0
    report_page(report.raw)


def test_follow_ups_are_read_for_each_preference():
    study = asking(USEFUL)
    for rater in people(study):
        checks = [("f1.r1", 1), ("f1.r2", 0), ("f2.r1", 1), ("f2.r2", 1)]
        answer_both(study, rater, ["r1"], ["r2"], checks=checks)
    report = build_report(study, replicates=50)
    for groups in (report["groups"], report["further_preferences"][0]["groups"]):
        assert groups[0]["follow_ups"]["by_system"][0]["share"]["value"] == 1.0
    headings = [block.heading for block in section(report, "follow-ups").blocks]
    assert headings.count("Satisfied follow-ups by system") == 1


def test_two_wordings_for_two_kinds_of_arm_are_one_preference():
    """What nobody is asked twice can be compared between settings."""
    study = factories.make_study("wordings", queries=6, training=False, checks=0)
    study.questions.filter(key="preference").update(shown=Shown.WITHOUT_CONTEXT)
    with_context = QuestionSpec(
        "useful", Kind.PREFERENCE, "Which suits this person better?", shown=Shown.WITH_CONTEXT
    )
    study.questions.create(position=100, **with_context.as_json())
    study = factories.launch(study)
    (rater,) = people(study, 1)
    for item in main_items(study):
        key = "useful" if item.arm.context_at_judging else "preference"
        answers = [AnswerValue(key, Kind.PREFERENCE, label="r1" if key == "useful" else "r2")]
        given = JudgmentInput(
            rater_id=rater.pk, item_id=item.pk, revision_id=study.revisions.get().pk, answers=answers
        )
        record_judgments(study=study, batch=[given])
    report = build_report(study, replicates=50)
    assert report["further_preferences"] == []
    assert share_of_first(report["groups"]) == [0.0, 1.0, 1.0]
    assert any("two wordings" in sentence for sentence in report["methods"])


def test_a_checklist_about_the_whole_item_is_not_taken_for_follow_ups():
    flag = QuestionSpec("odd", Kind.CHECKLIST, "Something is odd here", options={"form": {"over": "item"}})
    study = asking(flag)
    (rater,) = people(study, 1)
    answers = [
        AnswerValue("preference", Kind.PREFERENCE, label="r1"),
        AnswerValue("odd", Kind.CHECKLIST, number=1.0),
    ]
    given = JudgmentInput(
        rater_id=rater.pk,
        item_id=main_items(study)[0].pk,
        revision_id=study.revisions.get().pk,
        answers=answers,
    )
    record_judgments(study=study, batch=[given])
    (group,) = build_report(study, replicates=0)["groups"]
    assert group["follow_ups"] is None
