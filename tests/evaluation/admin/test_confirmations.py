"""Members' actions on a study: done, or refused where they must be, and logged with who and why."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from annotator.models import Slot
from evaluation import tasks
from evaluation.models import ItemFlag, Job, Revision, Study, StudyMember
from evaluation.services.studies.launch import close_study
from judging import acts
from judging.models import Endpoint, Run
from tests import factories
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


def act(client: Any, page: str, row: int | str, /, **data: Any) -> Any:
    return client.post(reverse(f"admin:{page}", args=[row]), data)


def history(client: Any, study: Study) -> str:
    page = client.get(reverse("admin:evaluation_study_history", args=[study.slug]))
    return " ".join(page.content.decode().split())


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


# --- life cycle -------------------------------------------------------------------------------------------------------


def test_pausing_resuming_closing(mine: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), mine.study
    missing = act(client, "evaluation_study_pause", study.slug, reason=" ")
    assert missing.status_code == 422
    assert "This field is required" in text(missing)
    for name, status, reason in (
        ("pause", "paused", "Lunch."), ("resume", "live", ""), ("close", "closed", "Enough & done."),
    ):  # fmt: skip
        assert act(client, f"evaluation_study_{name}", study.slug, reason=reason).status_code == 302
        study.refresh_from_db()
        assert study.status == status
    refused = act(client, "evaluation_study_resume", study.slug, reason="Again.")
    assert refused.status_code == 422
    assert "can&#x27;t become live" in text(refused)
    refused = act(client, "evaluation_study_close", study.slug, reason="Again.")
    assert "The study is already closed." in text(refused)
    said = history(client, study)
    for line in ("Paused. Reason: Lunch.", "Resumed.", "Closed. Reason: Enough &amp; done."):
        assert line in said
    moves = LogEntry.objects.filter(change_message__regex="^(Paused|Resumed|Closed)")
    assert list(moves.values_list("user", flat=True)) == [colleague.pk] * 3


def test_the_launch_page_shows_what_is_missing(owner: Any) -> None:
    study = factories.make_study("empty", owner=owner, queries=0, training=False, checks=0)
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_launch", args=[study.slug])
    page = text(client.get(address))
    assert "The study has no items." in page
    assert "Launch now" not in page
    refused = client.post(address)
    assert refused.status_code == 422
    study.refresh_from_db()
    assert study.status == "draft"


def test_the_launch_page_shows_the_design_and_launches(owner: Any, viewer: Any) -> None:
    study = factories.make_study(
        "ready", owner=owner, queries=5, items_per_participant=4, pay="2.50", redundancy=3
    )
    StudyMember.objects.create(study=study, user=viewer, role="viewer")
    address = reverse("admin:evaluation_study_launch", args=[study.slug])
    assert "Launch now" not in text(signed_in(viewer).get(address))
    client = signed_in(owner)
    page = client.get(address)
    design = page.context["design"]
    # Five items, three judgments: fifteen places per arm, of which one order gets the odd one.
    assert [(arm.items, arm.slots, arm.participants) for arm in design.arms] == [(5, 15, 4)] * 3
    assert design.arms[0].orders == (("r1 first", 8), ("r2 first", 7))
    assert "12 participants \u00d7 2.50 GBP = <b>30.00 GBP</b>" in text(page)
    assert client.post(address, {"confirmed": "1"}).status_code == 302
    study.refresh_from_db()
    assert study.status == "live"
    for arm, promised in zip(study.arms.all(), design.arms, strict=True):
        dealt = [Slot.objects.filter(arm=arm, order=order).count() for order in ("r1,r2", "r2,r1")]
        assert dealt == [n for _, n in promised.orders]
    assert "Launched with" in history(client, study)
    assert client.post(address).status_code == 422


def test_a_large_launch_is_a_job(
    owner: Any, settings: Any, monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.ASSAY_LAUNCH_INLINE_ITEMS = 3
    sent: list[int] = []
    monkeypatch.setattr(tasks.work_on_job, "delay", sent.append)
    study = factories.make_study("large", owner=owner)
    factories.make_item(
        study, *factories.make_query(study, "odd"), study.arms.all()[0], [study.systems.all()[0]], key="odd"
    )
    client = signed_in(owner)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("admin:evaluation_study_launch", args=[study.slug]), {"confirmed": "1"})
    job = Job.objects.get()
    assert answer["Location"] == reverse("admin:evaluation_job_watch", args=[job.pk])
    tasks.work_on_job(sent[0])
    page = text(client.get(answer["Location"]))
    assert "Item odd" in page
    assert "needs exactly 2 responses, has 1" in page
    study.refresh_from_db()
    assert (study.status, study.is_frozen) == ("draft", False)
    study.items.get(key="odd").delete()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("admin:evaluation_study_launch", args=[study.slug]), {"confirmed": "1"})
    tasks.work_on_job(sent[1])
    study.refresh_from_db()
    assert study.status == "live"
    assert "Launch failed" in history(client, study)


# --- items, places, raters --------------------------------------------------------------------------------------------


def test_withdrawing_an_item(mine: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    assert act(client, "evaluation_item_withdraw", mine.item.pk, reason="Two spellings.").status_code == 302
    mine.item.refresh_from_db()
    assert mine.item.withdrawn_at is not None
    assert act(client, "evaluation_item_withdraw", mine.item.pk, reason="Again.").status_code == 422
    assert f"Withdrew item {mine.item.key}. Reason: Two spellings." in history(client, mine.study)
    assert act(client, "evaluation_item_bring_back", mine.item.pk, reason="As meant.").status_code == 302
    mine.item.refresh_from_db()
    assert mine.item.withdrawn_at is None
    assert act(client, "evaluation_item_bring_back", mine.item.pk, reason="Again.").status_code == 422
    assert f"Brought back item {mine.item.key}. Reason: As meant." in history(client, mine.study)


def test_a_closed_study_is_reopened_where_people_were_recruited(mine: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), mine.study
    close_study(study)
    overview = reverse("admin:evaluation_study_overview", args=[study.slug])
    assert reverse("admin:evaluation_study_reopen", args=[study.slug]) in text(client.get(overview))
    assert act(client, "evaluation_study_reopen", study.slug, reason="One more week.").status_code == 302
    study.refresh_from_db()
    assert study.status == "live"
    assert "Reopened. Reason: One more week." in history(client, study)
    came = factories.make_study("came", owner=colleague)
    Study.objects.filter(pk=came.pk).update(status="closed")
    answer = act(client, "evaluation_study_reopen", came.slug, reason="More.")
    assert "it came with its judgments" in text(answer)
    came.refresh_from_db()
    assert came.status == "closed"
    # Nor does its overview speak of people to come.
    shown = text(client.get(reverse("admin:evaluation_study_overview", args=[came.slug])))
    assert "needs no judgments from people" in shown
    assert "Link for participants" not in shown
    assert reverse("admin:evaluation_study_reopen", args=[came.slug]) not in shown


def test_changing_the_redundancy(mine: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    for wrong in (0, "many", 3):
        answer = act(client, "evaluation_study_redundancy", mine.study.slug, redundancy=wrong, reason="x")
        assert answer.status_code == 422, wrong
    before = Slot.objects.filter(study=mine.study).count()
    assert (
        act(
            client, "evaluation_study_redundancy", mine.study.slug, redundancy=5, reason="Tighter."
        ).status_code
        == 302
    )
    assert Slot.objects.filter(study=mine.study).count() == before + 2 * 3
    assert "Judgments per item: 5 instead of 3. Reason: Tighter." in history(client, mine.study)


def test_excluding_replacing_restoring(mine: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    rater, study = mine.rater, mine.study
    one = reverse("admin:evaluation_rater_exclude") + f"?ids={rater.pk}"
    assert rater.pseudonym in text(client.get(one))
    assert client.post(one, {"reason": ""}).status_code == 422
    assert client.post(one, {"reason": "Too fast."}).status_code == 302
    assert client.post(one, {"reason": "Again."}).status_code == 422
    standing = study.exclusions.get(rater=rater)
    assert (standing.reason, standing.by, standing.undone_at) == ("Too fast.", colleague, None)
    assert "Too fast." in text(client.get(reverse("admin:evaluation_rater_list", args=[study.slug])))
    assert act(client, "evaluation_study_replace", study.slug, reason="Anew.").status_code == 302
    assert act(client, "evaluation_study_replace", study.slug, reason="Anew.").status_code == 422
    back = reverse("admin:evaluation_rater_restore") + f"?ids={rater.pk}"
    assert client.post(back, {"reason": "Looked closer."}).status_code == 302
    assert client.post(back, {"reason": "Again."}).status_code == 422
    standing.refresh_from_db()
    assert (standing.undone_by, standing.undone_reason) == (colleague, "Looked closer.")
    said = history(client, study)
    for line in (
        f"Excluded {rater}. Reason: Too fast.",
        f"Restored {rater}. Reason: Looked closer.",
        "Opened 1 slot for",
    ):
        assert line in said


def test_one_judgment_restored_and_excluded(mine: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    pk = mine.judgment.pk
    assert act(client, "evaluation_judgment_exclude", pk, reason="Again.").status_code == 422
    assert act(client, "evaluation_judgment_restore", pk, reason="Fine.").status_code == 302
    assert act(client, "evaluation_judgment_restore", pk, reason="Fine.").status_code == 422
    assert act(client, "evaluation_judgment_exclude", pk, reason="Not fine.").status_code == 302
    said = history(client, mine.study)
    assert "Reason: Fine." in said
    assert "Reason: Not fine." in said


def test_resolving_a_flag(mine: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    assert (
        act(client, "evaluation_itemflag_resolve", mine.itemflag.pk, reason="It is fine.").status_code == 302
    )
    assert not ItemFlag.objects.exists()
    assert "Resolved the flag “reported”" in history(client, mine.study)


# --- members ----------------------------------------------------------------------------------------------------------


def test_owners_manage_members(mine: Any, owner: Any, outsider: Any, colleague: Any) -> None:
    client = signed_in(owner)
    outsider.email = "out@example.org"
    outsider.save()
    address = reverse("admin:evaluation_study_members", args=[mine.study.slug])
    assert "outsider" not in text(client.get(address))
    for who in ("out", "nobody@example.org", ""):
        assert client.post(address, {"who": who, "role": "viewer"}).status_code == 422
    assert client.post(address, {"who": "OUT@example.org", "role": "viewer"}).status_code == 302
    member = StudyMember.objects.get(study=mine.study, user=outsider)
    assert client.post(address, {"who": "outsider", "role": "owner"}).status_code == 422
    assert client.post(address, {"member": member.pk, "role": "editor"}).status_code == 302
    member.refresh_from_db()
    assert member.role == "editor"
    mine_alone = StudyMember.objects.get(study=mine.study, user=owner)
    for role in ("viewer", "remove", "emperor"):
        assert client.post(address, {"member": mine_alone.pk, "role": role}).status_code == 422
    assert client.post(address, {"member": member.pk, "role": "remove"}).status_code == 302
    assert not StudyMember.objects.filter(pk=member.pk).exists()
    said = history(client, mine.study)
    for line in ("Added outsider as viewer.", "outsider is editor now.", "Removed outsider."):
        assert line in said
    # An editor sees who is there, and manages nobody.
    assert "Add somebody" not in text(signed_in(colleague).get(address))
    assert signed_in(colleague).post(address, {"who": "outsider", "role": "viewer"}).status_code == 403


def test_members_of_another_study_can_not_be_changed(mine: Any, theirs: Any, owner: Any) -> None:
    stranger = StudyMember.objects.get(study=theirs.study)
    address = reverse("admin:evaluation_study_members", args=[mine.study.slug])
    assert signed_in(owner).post(address, {"member": stranger.pk, "role": "remove"}).status_code == 422
    assert StudyMember.objects.filter(pk=stranger.pk).exists()


# --- revising ---------------------------------------------------------------------------------------------------------


def form_of(page: Any) -> dict[str, Any]:
    """The form as a browser would send it back."""
    form = page.context["form"]
    values = {bound.html_name: bound.value() for bound in form}
    return {name: value for name, value in values.items() if value not in (None, False)}


def test_revising_a_live_study(mine: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), mine.study
    address = reverse("admin:evaluation_study_revise", args=[study.slug])
    data = form_of(client.get(address)) | {"reason": "Clearer."}
    nothing = client.post(address, data)
    assert nothing.status_code == 422
    assert "nothing would change" in text(nothing)
    data |= {
        "text:guideline": "Choose what helps.",
        "q:preference:prompt": "Which one?",
        "skips_per_participant": 7,
        "step_comments": "on",
    }
    shown = client.post(address, data)
    assert shown.status_code == 200
    assert "<ins>Choose what helps.</ins>" in text(shown)
    assert Revision.objects.filter(study=study).count() == 1
    # What is confirmed must be what was shown.
    other = client.post(
        address, data | {"text:guideline": "Something else.", "confirmed": shown.context["confirm"]}
    )
    assert other.status_code == 200
    assert Revision.objects.filter(study=study).count() == 1
    assert client.post(address, data | {"confirmed": shown.context["confirm"]}).status_code == 302
    spec = Revision.objects.get(study=study, number=2).spec
    assert spec["texts"]["guideline"] == "Choose what helps."
    assert spec["skips"] == {"per_participant": 7, "flag_after": 5}
    before = Revision.objects.get(study=study, number=1).spec["steps"]
    assert not before["comments"]
    assert spec["steps"] == before | {"comments": True}
    assert next(q for q in spec["questions"] if q["key"] == "preference")["prompt"] == "Which one?"
    assert "Revision 2 is what new participants get from now on. Reason: Clearer." in history(client, study)


def test_a_draft_is_not_revised(editors_draft: Any, colleague: Any) -> None:
    address = reverse("admin:evaluation_study_revise", args=[editors_draft.slug])
    refused = signed_in(colleague).get(address)
    assert refused.status_code == 403
    assert "Only a live or paused study can be revised; edit a draft instead." in refused.content.decode()


# --- judges -----------------------------------------------------------------------------------------------------------


def test_a_judge_is_made_edited_and_run(mine: Any, colleague: Any, monkeypatch: Any) -> None:
    queued: list[int] = []
    monkeypatch.setattr(acts, "enqueue_run", lambda run: queued.append(run.pk))
    client, study = signed_in(colleague), mine.study
    data = {
        "name": "shorter", "backend": "shorter", "orders": "random", "samples": 1, "self_preference": "none",
        "max_tokens": 100, "temperature": 0, "verdict": "text", "rationale": "none", "price_prompt": 0,
        "price_completion": 0, "extra": "{}", "questions": ["preference"],
    }  # fmt: skip
    refused = act(client, "judging_judge_new", study.slug, **{**data, "backend": "chat"})
    assert refused.status_code == 422
    assert "needs an endpoint" in text(refused)
    answer = act(client, "judging_judge_new", study.slug, **data)
    assert answer.status_code == 302
    judge = study.judges.get(name="shorter")
    estimate = client.get(reverse("admin:judging_judge_start", args=[judge.pk]))
    assert estimate.context["estimate"].items == 3
    assert act(client, "judging_judge_start", judge.pk, purpose="nonsense", start=1).status_code == 422
    assert (
        act(client, "judging_judge_start", judge.pk, purpose="main", max_items=2).status_code == 200
    )  # estimated only
    assert not Run.objects.filter(judging__judge=judge).exists()
    assert act(client, "judging_judge_start", judge.pk, purpose="main", start=1).status_code == 302
    run = Run.objects.get(judging__judge=judge)
    assert queued == [run.pk]
    assert act(client, "judging_run_pause", run.pk, reason="Wait.").status_code == 302
    assert act(client, "judging_run_pause", run.pk, reason="Wait.").status_code == 422
    assert act(client, "judging_run_resume", run.pk).status_code == 302
    assert act(client, "judging_run_cancel", run.pk, reason="Wrong one.").status_code == 302
    assert act(client, "judging_run_retry", run.pk).status_code == 422
    edited = act(client, "judging_judge_edit", judge.pk, **{**data, "orders": "both"})
    assert edited.status_code == 302
    assert set(study.judges.filter(name="shorter").values_list("version", "orders")) == {
        (1, "random"),
        (2, "both"),
    }
    said = history(client, study)
    for line in (
        "Created judge shorter v1.",
        "Started run",
        "Paused run",
        "Reason: Wait.",
        "Cancelled run",
        "now shorter v2",
    ):
        assert line in said


def test_an_endpoint_outside_the_allow_list_is_a_superuser_s(
    colleague: Any, chief: Any, monkeypatch: Any
) -> None:
    address = reverse("admin:judging_endpoint_add")
    data = {"name": "far", "base_url": "https://far.example/v1", "key_name": "ASSAY_KEY_FAR", "timeout_seconds": 60,
            "max_in_flight": 4, "batch_price_factor": 1}  # fmt: skip
    monkeypatch.setenv("ASSAY_KEY_FAR", "a-very-secret-key")
    refused = signed_in(colleague).post(address, data)
    assert refused.status_code == 200
    assert refused.context["errors"]
    assert (
        signed_in(chief).post(address, {**data, "trusted": "on", "key_name": "SECRET_KEY"}).context["errors"]
    )
    assert signed_in(chief).post(address, {**data, "trusted": "on"}).status_code == 302
    made = Endpoint.objects.get(name="far")
    page = signed_in(chief).get(reverse("admin:judging_endpoint_change", args=[made.pk]))
    assert "a-very-secret-key" not in page.content.decode()
    assert "ASSAY_KEY_FAR" in page.content.decode()
    hidden = signed_in(colleague).get(reverse("admin:judging_endpoint_change", args=[made.pk]))
    assert hidden.status_code == 302


def test_raters_are_found_by_their_exclusion(mine: Any, colleague: Any) -> None:
    page = signed_in(mine.owner).get(f"/studies/{mine.study.slug}/raters/").content.decode()
    assert "By exclusion" in page
    assert 'href="?excluded=yes"' in page
