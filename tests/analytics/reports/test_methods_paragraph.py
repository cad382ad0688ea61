"""The methods paragraph: sentences of what is known of a study, in every protocol, and nothing of what is not."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from analytics.reports.build import build_report, fingerprint
from analytics.reports.files import report_html, report_json
from analytics.reports.markdown import report_markdown
from annotator.models import Panel, Participant
from evaluation.models import Outcome, Rater
from evaluation.protocols import PROTOCOLS
from evaluation.services import exclude
from tests.analytics.reports.answering import judged_by_everyone
from tests.analytics.reports.judging import fail, judge, judged_study, new_judge
from tests.factories import PAPER_ARMS

pytestmark = pytest.mark.django_db


def paragraph(study):
    return build_report(study, replicates=20)["methods_paragraph"]


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
        "Of the others, which are in no figure, 36 were excluded individually or with their rater and 1 by judges "
        "could not be read." in text
    )
    assert "1 rater was excluded." in text


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
    report = build_report(study, replicates=20)
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
