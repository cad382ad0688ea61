"""From several calibrators' sets to one settled set: the resolver's study, and the export in the paper's structure."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from evaluation.dumps.exports.settled_sets import settled_sets
from evaluation.dumps.exports.study_export import export_to, formats_of
from evaluation.models import Item, Job, Rater, Status, Study, StudyMember, System
from evaluation.protocols.entries.sets import read_set
from evaluation.refusals import Refused
from evaluation.services.exclusions import exclude
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.resolver import derive_resolver
from tests import factories
from tests.analytics.reports.answering import give, items_of, new_rater
from tests.calibrations import FERRY, FRAGMENTS, NEW, OLD, calibrated, calibration_study, kept

QUOTED = {"title": "A leaflet", "text": "Closed in 1990."}
FIRST = [kept(OLD, "r1.e1"), FERRY]
SECOND = [kept(NEW, "r1.e2", citations=[2, QUOTED])]


@pytest.fixture
def study(owner, colleague):
    """Three queries with a drafted set each; of two people both judged the first, one the second, nobody the third."""
    study = calibration_study(
        {"q1": [[OLD, NEW]], "q2": [[OLD]], "q3": [[]]}, contact="r@example.org", pay="2.00"
    )
    study.members.create(user=owner, role=StudyMember.Role.OWNER)
    study.members.create(user=colleague, role=StudyMember.Role.VIEWER)
    give(study, new_rater(study, "ANNE"), [calibrated(*FIRST), calibrated(kept(OLD, "r1.e1")), None])
    give(study, new_rater(study, "BERT"), [calibrated(*SECOND), None, None])
    give(study, new_rater(study, "judge", kind=Rater.Kind.JUDGE), [calibrated(FERRY)] * 3)
    return study


def resolved(study, **options):
    return derive_resolver(study, slug="resolver", **options)


# --- the resolver's study -------------------------------------------------------------------------------------------


def test_an_item_per_query_of_two_calibrators_with_their_sets(study):
    derived = resolved(study)
    assert (derived.items, derived.sets, derived.queries_left_out, derived.sets_left_out) == (1, 2, 2, 0)
    draft = derived.study
    assert (draft.status, draft.protocol, draft.redundancy) == (Status.DRAFT, "condition_calibration", 1)
    systems = System.objects.filter(study=draft)
    assert list(systems.values_list("key", "kind")) == [("ANNE", "person"), ("BERT", "person")]
    [item] = Item.objects.filter(study=draft)
    sets = {each.system.key: read_set(each.text) for each in item.responses.all()}
    assert sets == {"ANNE": [OLD, FERRY], "BERT": [kept(NEW, citations=[2, QUOTED])]}


def test_query_words_members_and_terms_are_those_of_the_calibrators(study):
    draft = resolved(study).study
    query = draft.queries.get()
    assert (query.key, query.category, query.documents) == ("q1", "dates", list(FRAGMENTS))
    roles = {member.user.username: member.role for member in draft.members.all()}
    assert roles == {"owner": "owner", "colleague": "viewer"}
    assert (draft.contact, str(draft.pay), draft.completion_codes) == ("r@example.org", "2.00", {})
    assert [each.key for each in draft.questions.all()] == ["entries", "checks", "comments"]


def test_it_can_be_launched_at_once_and_sets_stand_as_drafts(study):
    draft = resolved(study).study
    launch_study(draft)
    [item] = items_of(draft)
    assert [each["system"] for each in item.stimulus["responses"]] == ["ANNE", "BERT"]
    give(draft, new_rater(draft, "RESOLVER"), [calibrated(kept(OLD, "r1.e1"), kept(NEW, "r2.e1"))])
    assert settled_sets(draft).sets[0].entries[1]["origins"] == ["r2.e1"]


def test_training_and_checks_are_not_asked_of_the_resolver(study):
    revision = study.revisions.get()
    revision.spec["steps"] |= {"training": True, "attention": {"checks": 1}}
    revision.save()
    draft = resolved(study).study
    assert (draft.steps["training"], draft.steps["attention"]) == (False, None)
    launch_study(draft)


def test_excluded_judgments_do_not_count(study, owner):
    exclude(study=study, rater=study.raters.get(pseudonym="BERT"), reason="Careless.", by=owner)
    with pytest.raises(Refused, match="No query has sets of two calibrators"):
        resolved(study)
    assert not Study.objects.filter(slug="resolver").exists()


def test_no_more_sets_than_can_stand_beside_each_other(study):
    for name in "CDEFG":
        give(study, new_rater(study, name), [calibrated(FERRY), None, None])
    derived = resolved(study)
    assert (derived.sets, derived.sets_left_out) == (6, 1)
    assert "Sets left out beyond the 6 of a query: 1." in str(derived)
    launch_study(derived.study)


def test_people_and_simulated_raters_are_not_mixed(study):
    simulated = new_rater(study, "SIM", kind=Rater.Kind.SIMULATED)
    give(study, simulated, [calibrated(FERRY), calibrated(FERRY), calibrated(FERRY)])
    assert resolved(study).sets == 2


def test_what_can_not_be_resolved_says_why(study, db):
    with pytest.raises(Refused, match="already exists"):
        derive_resolver(study, slug=study.slug)
    pairs = factories.launch(
        factories.make_study("pairs", queries=1, training=False, checks=0, steps=factories.NO_STEPS)
    )
    with pytest.raises(Refused, match="entries"):
        derive_resolver(pairs, slug="other")
    assert set(Study.objects.values_list("slug", flat=True)) == {"bridges", "pairs"}


def test_the_command(study):
    out = StringIO()
    call_command("derive_resolver", study.slug, stdout=out)
    assert "Queries: 1, sets: 2." in out.getvalue()
    assert "Queries left out for having fewer than two calibrators: 2." in out.getvalue()
    assert Study.objects.get(slug="bridges-resolving").title == "Bridges: resolving"
    with pytest.raises(CommandError, match="already exists"):
        call_command("derive_resolver", study.slug)
    with pytest.raises(CommandError, match="no study 'nothing'"):
        call_command("derive_resolver", "nothing")


# --- the settled sets -----------------------------------------------------------------------------------------------


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_settled_sets_have_the_structure_of_the_paper(study, tmp_path):
    draft = resolved(study).study
    launch_study(draft)
    give(draft, new_rater(draft, "RESOLVER"), [calibrated(*FIRST, kept(SECOND[0], "r2.e1"))])
    out = StringIO()
    call_command("export_settled", draft.slug, "--out", str(tmp_path / "settled.jsonl"), stdout=out)
    assert out.getvalue().strip() == "Queries settled: 1."
    first, second, third = FRAGMENTS
    assert lines(tmp_path / "settled.jsonl") == [
        {
            "query": "When was the bridge of q1 opened?",
            "docs": list(FRAGMENTS),
            "conditions": [
                {"condition": "The first bridge", "answer": ["1894"], "citations": [first]},
                {"condition": "Crossing by ferry", "answer": ["always"], "citations": [third]},
                {"condition": "The bridge for cars", "answer": ["1962"], "citations": [second, QUOTED]},
            ],
        }
    ]


@pytest.fixture
def enough(study):
    """One calibrator of a query is to be enough here."""
    study.redundancy = 1
    study.save()


def test_what_nobody_resolved_or_judged_is_left_out_and_counted(study, enough):
    found = settled_sets(study)
    assert [each.item.key for each in found.sets] == ["q2"]
    assert (found.unresolved, found.unjudged, found.waiting) == (1, 1, 0)
    assert "with several sets that nobody resolved: 1." in str(found)


def test_the_first_set_of_a_query_waits_for_the_others(study, tmp_path):
    with pytest.raises(Refused, match=r"Waiting for their other calibrators: 1\. Without a set yet: 1\."):
        export_to(study, format="settled", path=str(tmp_path / "settled.jsonl"))
    assert list(tmp_path.iterdir()) == []


def test_nothing_settled_writes_nothing(tmp_path, db):
    fresh = calibration_study({"q1": [[OLD]]})
    with pytest.raises(Refused, match="Nothing is settled yet"):
        export_to(fresh, format="settled", path=str(tmp_path / "settled.jsonl"))
    assert list(tmp_path.iterdir()) == []


def test_other_studies_have_no_settled_sets(db):
    pairs = factories.make_study("pairs")
    assert "settled" not in [each.key for each in formats_of(pairs)]
    with pytest.raises(CommandError, match="entries"):
        call_command("export_settled", "pairs", "--out", "nowhere.jsonl")


# --- in the admin ---------------------------------------------------------------------------------------------------


@pytest.fixture
def admin(owner):
    client = Client()
    client.force_login(owner)
    return client


def page(study, name):
    return reverse(f"admin:evaluation_study_{name}", args=[study.slug])


def test_the_act_makes_the_draft_and_leads_to_it(study, admin):
    assert page(study, "resolve") in admin.get(page(study, "overview")).content.decode()
    form = admin.get(page(study, "resolve"))
    assert b'value="bridges-resolving"' in form.content
    done = admin.post(page(study, "resolve"), {"title": "Who is right?", "slug": "right"}, follow=True)
    draft = Study.objects.get(slug="right")
    assert done.redirect_chain[-1][0] == page(draft, "overview")
    assert "Queries: 1, sets: 2." in done.content.decode()
    assert "Derived from Bridges." in admin.get(page(draft, "history")).content.decode()
    again = admin.post(page(study, "resolve"), {"title": "Who is right?", "slug": "right"})
    assert again.status_code == 422
    assert "already exists" in again.content.decode()


def test_who_may_not_derive(study, admin, colleague, outsider):
    for user, status in ((colleague, 403), (outsider, 404)):
        client = Client()
        client.force_login(user)
        assert client.post(page(study, "resolve"), {"title": "T", "slug": "t"}).status_code == status
    pairs = factories.make_study("pairs", owner=study.members.get(role="owner").user)
    assert admin.get(page(pairs, "resolve")).status_code == 403
    assert page(pairs, "resolve") not in admin.get(page(pairs, "overview")).content.decode()
    assert Study.objects.count() == 2


def test_settled_sets_are_downloaded_like_other_exports(
    study, enough, admin, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.ASSAY_JOB_FILES = str(tmp_path)
    settings.CELERY_TASK_ALWAYS_EAGER = True
    assert "Settled sets" in admin.get(page(study, "exports")).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        admin.post(page(study, "exports"), {"format": "settled"})
    job = Job.objects.get()
    answer = admin.get(reverse("admin:evaluation_job_download", args=[job.pk]))
    assert answer["Content-Disposition"].endswith('.settled.jsonl"')
    [line] = b"".join(answer.streaming_content).splitlines()
    assert json.loads(line)["query"] == "When was the bridge of q2 opened?"
    pairs = factories.make_study("pairs", owner=study.members.get(role="owner").user)
    assert "Settled sets" not in admin.get(page(pairs, "exports")).content.decode()
    assert admin.post(page(pairs, "exports"), {"format": "settled"}).status_code == 422
