"""The methods paragraph: sentences of what is known of a study, in every protocol, and nothing of what is not."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from analytics.reports.build import build_report, fingerprint
from analytics.reports.files import report_html, report_json
from analytics.reports.markdown import report_markdown
from annotator.models import Panel, Participant, Slot
from evaluation.dumps.imports.scores import import_scores
from evaluation.filters import Filters
from evaluation.models import Outcome, Rater
from evaluation.protocols import PROTOCOLS
from evaluation.services.exclusions import exclude
from evaluation.services.studies.launch import close_study
from evaluation.services.studies.revision import revise_study
from tests import factories
from tests.analytics.reports.answering import judged_by_everyone
from tests.analytics.reports.judging import answer, fail, judge, judged_study, main_items, new_judge
from tests.crowd import come, hand_in
from tests.factories import PAPER_ARMS

pytestmark = pytest.mark.django_db


def paragraph(study):
    return build_report(study, replicates=20, only=[])["methods_paragraph"]


def came(study, raters, day, platform="prolific", outcome="completed"):
    revision = study.revisions.get()
    for rater in raters:
        Participant.objects.create(
            study=study,
            rater=rater,
            revision=revision,
            platform=platform,
            external_id=rater.pseudonym,
            quota=10,
            created_at=datetime(2026, 3, day, 12, tzinfo=UTC),
            outcome=outcome,
            step="done",
        )


def test_people_of_a_panel(owner):
    study = judged_study(owner=owner)
    study.pay, study.currency, study.paid_minutes = Decimal("6.00"), "GBP", 20
    study.save()
    one, two, three = judge(study, raters=3)
    came(study, [one], 3)
    came(study, [two], 5, outcome="timed_out")
    came(study, [three], 4, platform="link")
    filters = {"approval_rate": 99, "countries": ["United Kingdom"]}
    Panel.objects.create(study=study, platform="prolific", whom=filters)
    text = paragraph(study)
    for sentence in (
        "3 participants, recruited by a link (1) and on Prolific (2), came from 3 March 2026 to 5 March 2026 and "
        "judged at least one item; 2 completed the study.",
        "Recruitment was limited to people who met these conditions:",
        "living in United Kingdom",
        "Participants were paid 6.00 GBP for an estimated 20 minutes (18.00 GBP an hour).",
        "Before the first item, participants gave consent",
        "with either response first equally often",
        f"Each participant judged up to {study.items_per_participant} items, ",
        "with the setting drawn at random for each participant",
        "were judged under the protocol “Pairwise comparison” as 36 items, in 3 settings",
        "The figures rest on 108 judgments by 3 people.",
        "No judgment was excluded.",
        "were not revised after launch",
        study.study_hash,
    ):
        assert sentence in text, sentence
    assert "  " not in text


def test_nothing_is_said_of_what_is_not_known(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    text = paragraph(study)
    for words in (
        "recruited",
        "paid",
        "Before the first item",
        "Each participant",
        "first equally often",
        "LLM",
    ):
        assert words not in text
    assert "The figures rest on 72 judgments by 2 people." in text


def test_judges_imports_and_exclusions(owner):
    study = judged_study(owner=owner)
    people = judge(study, raters=3)
    Rater.objects.filter(pk=people[0].pk).update(source=Rater.Source.IMPORTED)
    judge(study, raters=1, kind="judge", label="cedar")
    fail(study, new_judge(study), Outcome.UNPARSED)
    exclude(study=study, rater=people[2], by=owner, reason="bot")
    text = paragraph(study)
    assert "72 judgments by 2 people (1 imported) and 36 judgments by 1 LLM judge." in text
    assert (
        "Of the others, which are not in the report, 36 were excluded individually or with their rater and 1 by judges "
        "could not be read." in text
    )
    assert "1 rater was excluded." in text


def test_few_judges_are_named_with_their_models(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    [item, *_] = main_items(study)
    assert "LLM judge" not in paragraph(study)
    answer(study, new_judge(study, "cedar"), item, "r1")
    assert "The LLM judge was cedar (cedar-7b)." in paragraph(study)
    answer(study, new_judge(study, "oak", model="oak"), item, "r1")
    answer(study, new_judge(study, "pine", model=""), item, "r1")
    answer(study, new_judge(study, "yew", model="yew, large"), item, "r1")
    # A heuristic is none of them, and a judge is named by its label alone where that is the model, or none is known.
    answer(study, new_judge(study, "longer", heuristic=True), item, "r1")
    text = paragraph(study)
    assert "4 judgments by 4 LLM judges and 1 judgment by 1 heuristic." in text
    assert "The LLM judges were cedar (cedar-7b); oak; pine; and yew (yew, large)." in text
    for name in ("fir", "elm"):
        answer(study, new_judge(study, name), item, "r1")
    text = paragraph(study)
    assert "by 6 LLM judges" in text
    assert "The LLM judges were" not in text


def at_work(study, raters=2):
    """People of this installation who judged everything."""
    people = judge(study, raters=raters)
    came(study, people, 3)
    return study


def begun(owner, **rules):
    """Launched, with one judgment by somebody who came."""
    study = factories.make_study("begun", owner=owner, queries=4, training=False, checks=0)
    study = factories.launch(study, steps=factories.NO_STEPS, **rules)
    hand_in(come(study).token)
    return study


def close_early(study):
    close_study(study=study)
    study.refresh_from_db()
    return (
        f"The study was closed early, with 1 of {Slot.objects.filter(study=study).count()} planned judgments."
    )


def test_a_registered_stopping_rule(owner):
    study = begun(owner, stopping={"figure": "win_rate", "half_width": 0.1})
    rule = (
        "It was registered before launch that the study may stop once the interval of each pair's expected win rate "
        "reaches at most 10 points to either side, whenever one looks."
    )
    text = paragraph(study)
    assert rule in text
    assert "closed early" not in text
    early = close_early(study)
    text = paragraph(study)
    assert f"{rule} {early}" in text
    assert "No rule for stopping early" not in text


def test_closed_early_without_a_rule(owner):
    study = begun(owner)
    assert "rule for stopping" not in paragraph(study)
    early = close_early(study)
    assert f"{early} No rule for stopping early had been registered." in paragraph(study)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"checks": 1}, "One attention check with a known answer was mixed in with the items."),
        (
            {"checks": 2, "allowed_failures": 1},
            "2 attention checks with known answers were mixed in with the items; whoever failed more than 1 could not "
            "continue.",
        ),
        (
            {"checks": 1, "allowed_failures": 0},
            "was mixed in with the items; whoever failed one could not continue.",
        ),
    ],
)
def test_attention_checks(owner, rule, said):
    study = factories.make_study("attentive", owner=owner, queries=4, training=False, checks=2)
    study = at_work(factories.launch(study, steps=factories.NO_STEPS | {"attention": rule}))
    text = paragraph(study)
    assert said in text
    assert "qualification" not in text


def test_a_qualification(owner):
    study = factories.make_study("qualified", owner=owner, queries=4, training=False, checks=0)
    query, context = factories.make_query(study, "test")
    for arm in study.arms.all():
        factories.make_item(
            study, query, context, arm, list(study.systems.all()), key=f"test-{arm.key}",
            role="qualification", gold={"preference": "r1"},
        )  # fmt: skip
    steps = factories.NO_STEPS | {"qualification": {"pass_mark": 1}}
    text = paragraph(at_work(factories.launch(study, steps=steps)))
    assert "judged at least 1 of 3 qualification items as expected continued." in text
    assert "attention check" not in text


def test_several_revisions(owner):
    study = at_work(judged_study(owner=owner, queries=4))
    revise_study(study=study, changes={"title": "Second try"}, by=owner)
    text = paragraph(study)
    assert "Judgments made under 2 revisions of the items and questions are pooled." in text
    assert "not revised" not in text
    one = build_report(study, replicates=20, filters=Filters(revision=1), only=[])["methods_paragraph"]
    assert "Only judgments made under revision 1 are in the figures." in one


def test_a_random_part_that_people_judged(owner):
    study = factories.make_study("part", owner=owner, queries=6, training=False, checks=0)
    study = at_work(factories.launch(study, human_sample=2))
    text = paragraph(study)
    assert (
        "People judged a simple random part of the queries, 2 of 6, which was registered at launch and drawn from the "
        f"seed {study.seed}." in text
    )


@pytest.mark.parametrize("protocol", sorted(set(PROTOCOLS) - {"pairwise"}))
def test_every_protocol_has_one(protocol):
    study = judged_by_everyone(protocol)
    text = paragraph(study)
    assert f"under the protocol “{PROTOCOLS[protocol].label}”" in text
    assert "Raters were asked for " in text
    assert text.count("“") == text.count("”")


def test_it_is_on_the_page_and_in_every_file(owner):
    study = judged_study(owner=owner)
    raters = judge(study, raters=2)
    before = fingerprint(study)
    came(study, raters, 1)
    assert fingerprint(study) != before
    report = build_report(study, replicates=20, only=[])
    text = report["methods_paragraph"]
    assert json.loads(report_json(report))["methods_paragraph"] == text
    for file in (report_html(report), report_markdown(report)):
        assert "Methods in a paragraph" in file
        assert "came on 1 March 2026" in file


def test_only_what_was_asked_is_named(owner):
    study = judged_study(owner=owner, arms=PAPER_ARMS[:1])
    raters = judge(study, raters=2)
    asked = paragraph(study).partition("Raters were asked for ")[2].partition(". ")[0]
    assert "checklist" not in asked  # no setting shows a context to raters
    assert "free text" in asked
    Rater.objects.filter(pk__in=[rater.pk for rater in raters]).update(source=Rater.Source.IMPORTED)
    asked = paragraph(study).partition("Raters were asked for ")[2].partition(". ")[0]
    assert "free text" not in asked  # nobody's is in the file
    assert "preference" in asked


def test_labels_with_commas_and_heuristics(owner):
    study = judged_study(owner=owner)
    study.systems.filter(key="aspen").update(label="Aspen, formal")
    judge(study, raters=2)
    judge(study, raters=1, kind="judge", label="longer")
    Rater.objects.filter(study=study, kind="judge").update(about={"heuristic": True})
    text = paragraph(study)
    assert "(Aspen, formal; and birch)" in text
    assert "by 1 heuristic." in text


def test_judges_that_are_no_language_models_are_named_as_what_they_are(owner, tmp_path):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    abouts = (
        {"derived": {"members": {}}},
        {"writes": False, "measures": [{"name": "near"}]},
        {"model": "m-7b"},
    )
    for about, each in zip(abouts, judge(study, raters=3, kind="judge", label="j"), strict=True):
        Rater.objects.filter(pk=each.pk).update(about=about)
    text = paragraph(study)
    assert "1 LLM judge" in text
    assert "1 judge derived from others" in text
    assert "1 automatic measure" in text
    assert text.count("LLM judge") == 2


def test_a_study_that_only_measures_judge_asked_for_nothing(owner, tmp_path):
    study = judged_study(owner=owner)
    items = study.items.filter(role="main")
    lines = [f"{item.key},{each['system']},m,1" for item in items for each in item.stimulus["responses"]]
    (tmp_path / "scores.csv").write_text("\n".join(["item,system,name,score", *lines]))
    import_scores(study, tmp_path / "scores.csv", judge="script")
    text = paragraph(study)
    assert "asked for" not in text
    assert "LLM" not in text
    assert "by 1 automatic measure" in text


def test_people_practised_where_there_was_something_to_practise_on(owner):
    study = judged_study(owner=owner)
    came(study, judge(study, raters=2), 1)
    revision = study.revisions.get()
    revision.spec["steps"]["training"] = True
    revision.save()
    assert "practised" not in paragraph(study)
    study.items.filter(pk=study.items.last().pk).update(role="training")
    assert "practised on training items with feedback" in paragraph(study)
