"""Rehearsals: a draft's copy, filled by simulated participants through the services of participants, deleted whole."""

from io import BytesIO

import krippendorff
import pandas as pd
import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse

from analytics.frames.study import study_frame
from annotator.models import Assignment, Participant
from annotator.panels.services.panel_settings import set_panel
from annotator.panels.services.personal_links import make_links
from evaluation.demo.studies import STUDIES
from evaluation.dumps.derive import derive_study
from evaluation.dumps.exports.study_export import export_study, export_to
from evaluation.dumps.imports.added_items import add_items
from evaluation.dumps.imports.scores import import_scores
from evaluation.dumps.lines import FileSource
from evaluation.job_kinds import REHEARSAL
from evaluation.models import AnswerLayout, Judgment, Rater, Status, Study
from evaluation.refusals import Refused
from evaluation.services.jobs import begin_job
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.deletion import delete_study
from evaluation.services.studies.launch import launch_problems, launch_study
from evaluation.services.studies.rehearsals import delete_rehearsal
from evaluation.services.studies.rehearsing import rehearse
from evaluation.services.studies.verification import verify_study
from judging.services.judges import create_judge, heuristic_judge
from judging.services.runs.judge_runs import start_run
from tests import factories
from tests.crowd import come
from tests.extensions import extend

ASKED = {"participants": 6, "hurried": 17, "random": 17}
STEPS = {
    "consent": True,
    "instructions": True,
    "training": True,
    "qualification": None,
    "attention": {"checks": 1, "allowed_failures": 0, "warn": False},
    "comments": True,
}
pytestmark = pytest.mark.django_db


def contents(study):
    """Every row of every table, but layouts, which no study owns."""
    return {
        model._meta.label: sorted(model._default_manager.values_list("pk", flat=True), key=str)
        for model in apps.get_models()
        if model is not AnswerLayout
    }


@pytest.fixture
def draft(owner):
    return factories.make_study("draft", owner=owner, steps=STEPS, contact="research@example.org", pay="2.50")


@pytest.fixture
def rehearsal(draft):
    found, _ = rehearse(draft, ASKED)
    return found


def test_the_copy_is_filled_as_by_participants_and_the_draft_stays_as_it_was(draft, rehearsal):
    draft.refresh_from_db()
    assert draft.status == Status.DRAFT
    assert draft.raters.count() == 0
    assert rehearsal.rehearsal_of == draft
    assert rehearsal.status == Status.LIVE
    assert rehearsal.simulated
    people = Participant.objects.filter(study=rehearsal)
    assert people.count() == 6
    assert set(people.values_list("rater__kind", flat=True)) == {Rater.Kind.SIMULATED}
    # The one that answers at random is found out by the check, or got through it by luck.
    assert {"completed"} <= set(people.values_list("outcome", flat=True)) <= {"completed", "failed_attention"}
    roles = set(Judgment.objects.filter(study=rehearsal).values_list("item__role", flat=True))
    assert roles == {"main", "training", "attention"}
    durations = Judgment.objects.filter(study=rehearsal, outcome="ok").values_list("duration_ms", flat=True)
    assert min(durations) > 1_000
    assert len(set(durations)) > 10
    assert list(verify_study(rehearsal)) == []
    # Some are reserved by nobody, none by two: what participants' own services see to.
    assert Assignment.objects.filter(participant__study=rehearsal, state="reserved").count() == 0
    members = sorted(rehearsal.members.values_list("user", "role"))
    assert members == sorted(draft.members.values_list("user", "role"))


def test_careful_ones_agree_more_than_random_ones(owner):
    draft = factories.make_study(
        "draft", owner=owner, queries=60, arms=PAPER_ARMS[:1], checks=0, training=False, steps=factories.NO_STEPS,
        items_per_participant=60, redundancy=5,
    )  # fmt: skip

    def alpha(**mix):
        found, _ = rehearse(draft, {"participants": 5, "hurried": 0, "random": 0} | mix)
        votes = Judgment.objects.filter(study=found, answers__question="preference")
        labels = votes.values_list("rater", "item", "answers__label")
        table = pd.DataFrame(labels, columns=["rater", "item", "label"]).pivot(
            index="rater", columns="item", values="label"
        )
        codes = table.apply(lambda column: column.map({"r1": 0, "tie": 1, "r2": 2}))
        return krippendorff.alpha(codes.to_numpy(float), level_of_measurement="nominal")

    careful, at_random = alpha(), alpha(random=100)
    assert careful > 0.1
    assert -0.15 < at_random < careful - 0.1


def test_simulated_people_come_again(owner):
    """Two items for each of three visits; a careless one may fail a check and have no further visit."""
    draft = factories.make_study(
        "often", owner=owner, queries=8, arms=PAPER_ARMS[1:2], checks=4, items_per_participant=2, visits=3,
        redundancy=6, steps=STEPS,
    )  # fmt: skip
    found, _ = rehearse(draft, {"participants": 5, "hurried": 0, "random": 0})
    people = Participant.objects.filter(study=found)
    assert max(people.values_list("visit_number", flat=True)) == 3
    for ann in people.filter(visit_number=3, outcome="completed"):
        judged = Assignment.objects.filter(participant=ann, state="submitted", slot__isnull=False)
        assert sorted(judged.values_list("visit_number", flat=True)) == [1, 1, 2, 2, 3, 3]
        assert list(ann.submissions.order_by("entered_at").values_list("visit_number", flat=True)) == [
            1,
            2,
            3,
        ]
    assert list(verify_study(found)) == []


@pytest.mark.parametrize("demo", STUDIES, ids=lambda demo: demo.slug)
def test_every_protocol_can_be_rehearsed(demo, owner):
    call_command("import_study", str(demo.items), slug="demo", owner=owner.get_username())
    study = Study.objects.get(slug="demo")
    study.items_per_participant = 2
    study.save()
    found, said = rehearse(study, {"participants": 3, "hurried": 0, "random": 34})
    assert said.startswith("3 simulated participants: ")
    assert "completed" in said
    judged = Judgment.objects.filter(study=found, item__role="main", outcome="ok")
    assert judged.count() >= 3
    # Every question of the form has an answer, but those that may stay empty.
    asked = {each["key"] for each in found.revisions.get().spec["questions"] if each["required"]}
    answered = set(judged.values_list("answers__question", flat=True))
    shown = {each["key"] for each in found.revisions.get().spec["questions"] if each["shown"] == "always"}
    assert asked & shown <= answered
    assert study_frame(found).groups


def test_deleting_it_leaves_nothing_of_it_and_everything_else(draft, owner):
    other = factories.launch(
        factories.make_study("other", owner=owner, steps=factories.NO_STEPS, training=False)
    )
    come(other, "somebody")
    before = contents(draft)
    found, _ = rehearse(draft, ASKED)
    assert contents(draft) != before
    delete_rehearsal(found)
    assert contents(draft) == before
    for study in (draft, other):
        with pytest.raises(Refused, match="is no rehearsal"):
            delete_rehearsal(study)
    assert contents(draft) == before


def test_a_second_rehearsal_takes_the_place_of_the_first(draft, rehearsal):
    again, _ = rehearse(draft, ASKED)
    assert list(Study.objects.filter(rehearsal_of=draft)) == [again]


def test_what_fails_leaves_no_rehearsal(draft, monkeypatch):
    def fail(study, asked, watch):
        raise RuntimeError("the power went out")

    extend(monkeypatch, fill_rehearsal=fail)
    before = contents(draft)
    with pytest.raises(RuntimeError):
        rehearse(draft, ASKED)
    assert contents(draft) == before


def test_it_ends_with_the_launch_after_one_confirmation(draft, rehearsal, owner, client):
    address = reverse("admin:evaluation_study_launch", args=[draft.slug])
    client.force_login(owner)
    assert launch_problems(draft) == []
    page = client.get(address).content.decode()
    assert "rehearsal is deleted with all that was simulated" in page
    assert client.post(address).status_code == 422
    assert Study.objects.filter(pk=rehearsal.pk).exists()
    assert client.post(address, {"confirmed": "1"}).status_code == 302
    draft.refresh_from_db()
    assert draft.status == "live"
    assert not Study.objects.filter(pk=rehearsal.pk).exists()
    assert LogEntry.objects.filter(
        change_message__contains=f"Deleted the rehearsal {rehearsal.slug}"
    ).exists()


def test_a_refused_launch_keeps_it(draft, rehearsal):
    item = draft.items.filter(role="main").first()
    item.item_responses.first().delete()
    with pytest.raises(Refused):
        launch_study(draft)
    assert Study.objects.filter(pk=rehearsal.pk).exists()


def test_while_it_is_being_filled_the_draft_is_not_launched(draft, owner):
    begin_job(kind=REHEARSAL.key, slug=draft.slug, study=draft, by=owner, parameters=ASKED)
    with pytest.raises(Refused, match="still being filled"):
        launch_study(draft)


def test_it_goes_with_the_draft(draft, rehearsal, owner):
    delete_study(draft, by=owner)
    assert not Study.objects.exists()


def test_nothing_of_it_leaves_and_nobody_comes(client, draft, rehearsal, owner, tmp_path):
    item = rehearsal.items.filter(role="main").first()
    (tmp_path / "scores.csv").write_text(f"item,name,score\n{item.key},words,3\n")
    for write in (
        lambda: export_study(rehearsal, format="jsonl", out=BytesIO()),
        lambda: export_to(rehearsal, format="csv", path="-"),
        lambda: set_panel(rehearsal, "prolific", {}, "keep"),
        lambda: make_links(rehearsal, ["Ada"]),
        lambda: create_judge(rehearsal, name="j", backend="random"),
        lambda: heuristic_judge(rehearsal, "longer"),
        lambda: start_run(rehearsal, heuristic_judge(draft, "longer")),
        lambda: import_scores(rehearsal, tmp_path / "scores.csv", judge="words"),
        lambda: add_items(FileSource(tmp_path / "scores.csv"), rehearsal),
        lambda: derive_study(rehearsal, "disagreements"),
    ):
        with pytest.raises(Refused, match="This is a rehearsal with simulated participants"):
            write()
    with pytest.raises(CommandError, match="can't be exported"):
        call_command("export", rehearsal.slug, format="jsonl", out="-")
    assert client.get(f"/s/{rehearsal.slug}/").status_code == 404
    client.force_login(owner)
    assert "(rehearsal)" not in client.get("/studies/").content.decode()
    assert "(rehearsal)" not in client.get("/admin/").content.decode()
    for page in (f"/studies/{rehearsal.slug}/", f"/studies/{rehearsal.slug}/"):
        assert "Rehearsal: everything here is simulated." in client.get(page).content.decode()
    assert "Rehearsal: everything" not in client.get("/studies/draft/").content.decode()


def test_a_rehearsal_is_marked_as_simulated_by_the_database(draft, rehearsal):
    with pytest.raises(IntegrityError), transaction.atomic():
        Study.objects.filter(pk=rehearsal.pk).update(simulated=False)


def test_a_person_in_it_would_keep_it(draft, rehearsal):
    Rater.objects.create(study=rehearsal, kind=Rater.Kind.PERSON)
    with pytest.raises(Refused, match="A person has judged"):
        delete_rehearsal(rehearsal)
