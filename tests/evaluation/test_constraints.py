"""Rules that the database itself keeps: each named constraint is violated once."""

import copy
import uuid
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F
from django.utils import timezone

from annotator.models import (
    Assignment,
    DraftRound,
    EntryRule,
    ErasedVisit,
    KnownMismatch,
    LinkedStudy,
    Panel,
    PanelAct,
    PanelEvent,
    PanelRecord,
    Participant,
    PersonalLink,
    Slot,
    SlotState,
    Submission,
    UnreadArrivals,
)
from evaluation.models import (
    ApiRequest,
    ApiToken,
    CachedReport,
    Context,
    Erasure,
    Exclusion,
    Item,
    Job,
    Judgment,
    Note,
    Progress,
    Query,
    Question,
    Rater,
    Response,
    Revision,
    SavedTableMap,
    SavedView,
    Study,
    StudyInvitation,
    StudyMember,
    System,
    Text,
    Upload,
)
from evaluation.services.studies.creation import PAPER_ARMS
from judging.models import (
    AnchorSchedule,
    BudgetHold,
    Call,
    CallBatch,
    Endpoint,
    GenerationUnit,
    Judge,
    Jury,
    LedgerEntry,
    ModelPrice,
    PipelineRun,
    Product,
    RunGroup,
    StudyBudget,
)
from tests.crowd import come, hand_in, make_crowd_study
from tests.judging.build import make_judge_run


def call_batch(world):
    return CallBatch.objects.create(run=world.run, lease=uuid.uuid4())


CONSTRAINTS = {
    constraint.name: (model, constraint)
    for app in ("evaluation", "annotator", "judging")
    for model in apps.get_app_config(app).get_models()
    for constraint in model._meta.constraints
}


@pytest.fixture(scope="module")
def made(around_module):
    """A live study with a participant who has judged one item and has another before them, and a second one."""
    owner = get_user_model().objects.create(username="owner")
    study = make_crowd_study("world", owner=owner, queries=4, arms=PAPER_ARMS[1:2])
    participant, other = come(study, "a"), come(study, "b")
    done = hand_in(participant.token)
    judgment = done.judgment
    judge = Judge.objects.create(study=study, name="longer", backend="longer")
    run = make_judge_run(judge, judgment.revision, Rater.objects.create(study=study, kind="judge"))
    panel = Panel.objects.create(study=study, platform="prolific", external_id="there")
    record = PanelRecord.objects.create(
        panel=panel, external_id="s", participant_id="p", status_at=timezone.now()
    )
    return SimpleNamespace(
        panel=panel,
        record=record,
        judge=judge,
        run=run,
        unit=GenerationUnit.objects.create(run=run, query=judgment.item.query, step="context"),
        call=Call.objects.create(run=run, item=judgment.item, order="r1,r2"),
        endpoint=Endpoint.objects.create(name="near", base_url="http://127.0.0.1:1/v1"),
        study=study,
        rule=EntryRule.objects.create(
            study=study,
            other=Study.objects.create(slug="other", title="Other", protocol="pairwise"),
            kind="not",
        ),
        owner=owner,
        participant=participant,
        other=other,
        done=done,
        current=Assignment.objects.get(participant=participant, state="reserved"),
        judgment=judgment,
        rater=judgment.rater,
        item=judgment.item,
        query=Query.objects.filter(study=study, contexts__isnull=False).first(),
        free=Slot.objects.filter(study=study, state=SlotState.OPEN).first(),
        later=timezone.now() + timedelta(hours=1),
    )


@pytest.fixture
def world(db, made):
    """The same, a copy of each test's own, as the database is."""
    return copy.deepcopy(made)


def announce(world, **changes):
    """An upload of nine bytes."""
    return Upload.objects.create(user=world.owner, name="soups.csv", size=9, sha256="0" * 64, **changes)


def again(row, **changes):
    """The same row once more."""
    row = type(row).objects.get(pk=row.pk)
    row.pk = uuid.uuid4() if isinstance(row.pk, uuid.UUID) else None
    row._state.adding = True
    for name, value in changes.items():
        setattr(row, name, value)
    row.save(force_insert=True)


def change(row, **changes):
    type(row).objects.filter(pk=row.pk).update(**changes)


def exclude_twice(world, **whom):
    for _ in range(2):
        Exclusion.objects.create(study=world.study, reason="Spam.", **whom)


def invitation(world, **values):
    about = {"study": world.study, "role": "viewer", "token_hash": "0" * 64, "expires_at": world.later}
    StudyInvitation.objects.create(**about | values)


def ask_twice(world):
    for _ in range(2):
        ApiRequest.objects.create(user=world.owner, key="a", path="/runs/", body_hash="0")


def begin_jobs(world, times=1, **values):
    for _ in range(times):
        Job.objects.create(**{"kind": "export", "slug": "world", "study": world.study} | values)


def act(world, **values):
    PanelAct.objects.create(panel=world.panel, record=world.record, **values)


def linked_study(world, **values):
    fields = {"external_id": "further", "visit_number": 2, "places": 1, "status_at": world.later} | values
    LinkedStudy.objects.create(panel=world.panel, platform="prolific", **fields)


def begin_rounds(world, numbers, **values):
    for number in numbers:
        DraftRound.objects.create(assignment=world.current, number=number, instruction="Shorter.", **values)


VIOLATIONS = {
    "api_token_has_name": lambda w: ApiToken.objects.create(w.owner, name=""),
    "api_request_once": ask_twice,
    "upload_once_per_file": lambda w: [announce(w) for _ in range(2)],
    "upload_within_its_size": lambda w: announce(w, received=10),
    "job_state_known": lambda w: begin_jobs(w, state="asleep"),
    "job_leased_while_running": lambda w: begin_jobs(w, state="running"),
    "one_job_at_once_per_kind": lambda w: begin_jobs(w, times=2),
    "study_language_known": lambda w: change(w.study, language="xx"),
    "study_going_back_known": lambda w: change(w.study, going_back="some"),
    "study_rehearsal_is_simulated": lambda w: change(w.study, rehearsal_of=w.study, simulated=False),
    "study_status_known": lambda w: change(w.study, status="ended"),
    "study_epsilon_is_share": lambda w: change(w.study, epsilon=1.5),
    "study_human_sample_positive": lambda w: change(w.study, human_sample=0),
    "study_human_sample_without_stopping": lambda w: change(
        w.study, human_sample=2, stopping={"figure": "win_rate"}
    ),
    "saved_view_name_unique": lambda w: [
        SavedView.objects.create(study=w.study, name="careful", filters={"arm": ["a"]}) for _ in range(2)
    ],
    "saved_table_map_name_unique": lambda w: [
        SavedTableMap.objects.create(owner=w.owner, name="pairs", map={}) for _ in range(2)
    ],
    "saved_table_map_has_name": lambda w: SavedTableMap.objects.create(owner=w.owner, name="", map={}),
    "study_visits_positive": lambda w: change(w.study, visits=0),
    "study_people_budget_positive": lambda w: change(w.study, people_budget=0),
    "study_retention_positive": lambda w: change(w.study, retention_days=0),
    "study_redundancy_positive": lambda w: change(w.study, redundancy=0),
    "study_arm_per_item_once_per_query": lambda w: change(w.study, arm_per="item", once_per="item"),
    "study_lease_covers_paid_minutes": lambda w: change(w.study, lease_minutes=F("paid_minutes") - 1),
    "study_member_unique": lambda w: StudyMember.objects.create(study=w.study, user=w.owner, role="viewer"),
    "study_invitation_role_known": lambda w: invitation(w, role="emperor"),
    "study_invitation_ends_once": lambda w: invitation(w, accepted_at=w.later, withdrawn_at=w.later),
    "arm_key_unique": lambda w: again(w.study.arms.first()),
    "question_key_unique": lambda w: again(Question.objects.first()),
    "attribute_key_unique": lambda w: [
        w.study.attributes.create(key="expertise", question="?", values=["a", "b"]) for _ in range(2)
    ],
    "text_key_unique": lambda w: again(Text.objects.first()),
    "revision_number_unique": lambda w: again(Revision.objects.get()),
    "cached_report_unique": lambda w: [
        CachedReport.objects.create(study=w.study, fingerprint="f", payload={}) for _ in range(2)
    ],
    "system_key_unique": lambda w: again(System.objects.first()),
    "system_setting_has_base": lambda w: change(System.objects.first(), setting="with documents"),
    "system_setting_unique": lambda w: [
        change(system, setting="with documents", base="aspen") for system in System.objects.all()[:2]
    ],
    "query_key_unique": lambda w: again(w.query),
    "query_split_known": lambda w: change(w.query, split="test"),
    "context_key_unique": lambda w: again(Context.objects.first()),
    "response_key_unique": lambda w: again(Response.objects.first()),
    "item_key_unique": lambda w: again(w.item),
    "item_role_known": lambda w: change(w.item, role="warm-up"),
    "item_stimulus_has_hash": lambda w: change(w.item, stimulus_hash=""),
    "item_response_unique": lambda w: again(w.item.item_responses.first()),
    "rater_pseudonym_unique": lambda w: again(w.rater),
    "rater_kind_known": lambda w: change(w.rater, kind="robot"),
    "rater_of_settled_labels_in_no_group": lambda w: change(w.rater, kind="settled"),
    "rater_settles_as_settled": lambda w: change(w.rater, settled_by=w.owner),
    "rater_once_per_settler": lambda w: [
        Rater.objects.create(study=w.study, kind="settled", in_figures=False, settled_by=w.owner)
        for _ in range(2)
    ],
    "note_has_text": lambda w: Note.objects.create(study=w.study, item=w.item, text=""),
    "judgment_once_per_replicate": lambda w: again(w.judgment),
    "seal_once_per_row": lambda w: again(w.study.seals.first()),
    "judgment_outcome_known": lambda w: change(w.judgment, outcome="lost"),
    "judgment_surplus_is_ok": lambda w: change(w.judgment, outcome="skipped", surplus=True),
    "judgment_visible_within_duration": lambda w: change(w.judgment, duration_ms=1, visible_ms=2),
    "answer_text_once_per_part": lambda w: [
        w.judgment.texts.create(question="a", text="x") for _ in range(2)
    ],
    "exclusion_of_rater_or_judgment": lambda w: Exclusion.objects.create(study=w.study, reason="Spam."),
    "exclusion_has_reason": lambda w: Exclusion.objects.create(study=w.study, rater=w.rater, reason=""),
    "erasure_has_reason": lambda w: Erasure.objects.create(study=w.study, reason=""),
    "erased_visit_once": lambda w: [
        ErasedVisit.objects.create(study=w.study, digest="d", day=w.later.date()) for _ in "ab"
    ],
    "erased_visit_paid_no_less_than_nothing": lambda w: ErasedVisit.objects.create(
        study=w.study, pay=-1, day=w.later.date()
    ),
    "one_standing_exclusion_per_rater": lambda w: exclude_twice(w, rater=w.rater),
    "one_standing_exclusion_per_judgment": lambda w: exclude_twice(w, judgment=w.judgment),
    "participant_once_per_study": lambda w: change(w.other, external_id=w.participant.external_id),
    "participant_done_has_outcome": lambda w: change(w.participant, outcome="completed"),
    "submission_once_per_visit": lambda w: again(Submission.objects.first()),
    "entry_rule_once_per_other": lambda w: again(w.rule),
    "entry_rule_took_known": lambda w: change(w.rule, took="by heart"),
    "entry_rule_not_of_itself": lambda w: change(w.rule, other=w.study),
    "panel_study_once": lambda w: Panel.objects.create(
        study=w.rule.other, platform="prolific", external_id="there"
    ),
    "panel_drafted_has_id": lambda w: change(w.panel, external_id="", drafted_at=w.later),
    "linked_study_once": lambda w: [linked_study(w) for _ in range(2)],
    "linked_study_is_of_a_further_visit": lambda w: linked_study(w, visit_number=1),
    "unread_arrivals_once_a_day": lambda w: [
        UnreadArrivals.objects.create(study=w.study, day=w.later.date(), names="PROLIFIC_PID")
        for _ in range(2)
    ],
    "personal_link_label_unique": lambda w: [
        PersonalLink.objects.create(study=w.study, label="Reading group") for _ in range(2)
    ],
    "personal_link_revoked_has_reason": lambda w: PersonalLink.objects.create(
        study=w.study, label="Reading group", revoked_at=w.later
    ),
    "panel_record_bonuses_read": lambda w: change(w.record, bonuses=1),
    "panel_record_once": lambda w: again(w.record),
    "panel_record_status_known": lambda w: change(w.record, status="asleep"),
    "panel_event_once": lambda w: [
        PanelEvent.objects.create(
            platform="prolific", event_id="e", kind="k", occurred_at=w.later, payload={}
        )
        for _ in range(2)
    ],
    "panel_act_once": lambda w: [act(w, kind="approve") for _ in range(2)],
    "panel_act_bonus_has_amount": lambda w: act(w, kind="bonus", purpose="more"),
    "panel_act_sent_has_time": lambda w: act(w, kind="approve", state="done"),
    "known_mismatch_once": lambda w: [
        KnownMismatch.objects.create(panel=w.panel, key="places", note="So it is.") for _ in range(2)
    ],
    "draft_round_number_unique": lambda w: begin_rounds(w, numbers=(1, 1), state="done"),
    "draft_round_one_waiting": lambda w: begin_rounds(w, numbers=(1, 2)),
    "slot_k_unique": lambda w: again(w.free),
    "slot_held_while_reserved_or_filled": lambda w: change(w.free, state="filled"),
    "slot_leased_while_reserved": lambda w: change(w.free, leased_until=w.later),
    "one_live_assignment_per_slot": lambda w: again(
        w.done, participant=w.other, judgment=None, attempt=1, once=-1
    ),
    "one_reserved_per_participant": lambda w: again(w.current, slot=w.free, attempt=1, once=-1),
    "one_assignment_per_attempt": lambda w: again(
        w.done, slot=w.free, state="skipped", judgment=None, once=-1
    ),
    "once_per_rule": lambda w: again(w.done, slot=w.free, state="skipped", judgment=None, attempt=1),
    "assignment_slot_has_once": lambda w: change(w.current, once=None),
    "assignment_ends_after_reserved": lambda w: change(w.done, ended_at=F("reserved_at") - timedelta(1)),
    "endpoint_has_one_key": lambda w: change(w.endpoint, key_name="ASSAY_KEY_X", stored_key="x"),
    "endpoint_key_name_prefixed": lambda w: change(w.endpoint, key_name="SECRET_KEY"),
    "endpoint_in_flight_positive": lambda w: change(w.endpoint, max_in_flight=0),
    "endpoint_rate_limits_positive": lambda w: change(w.endpoint, tokens_per_minute=0),
    "endpoint_batch_price_is_a_share": lambda w: change(w.endpoint, batch_price_factor=2),
    "anchor_schedule_some_days": lambda w: AnchorSchedule.objects.create(judge=w.judge, every_days=0),
    "anchor_schedule_budget_more_than_zero": lambda w: AnchorSchedule.objects.create(judge=w.judge, budget=0),
    "call_batch_state_known": lambda w: change(call_batch(w), state="lost"),
    "call_batch_named_once_submitted": lambda w: change(call_batch(w), state="submitted"),
    "endpoint_trust_known": lambda w: change(w.endpoint, trust="anybody"),
    "endpoint_trusted_by_a_superuser": lambda w: change(w.endpoint, trust="operator", trusted_by=w.owner),
    "jury_name_unique": lambda w: [Jury.objects.create(study=w.study, name="twelve") for _ in range(2)],
    "jury_combination_known": lambda w: Jury.objects.create(study=w.study, name="odd", combination="loudest"),
    "judge_version_unique": lambda w: again(w.judge),
    "judge_samples_positive": lambda w: change(w.judge, samples=0),
    "judge_chat_has_endpoint": lambda w: change(w.judge, backend="chat", model="m"),
    "run_state_known": lambda w: change(w.run, state="asleep"),
    "run_group_budget_more_than_zero": lambda w: RunGroup.objects.create(study=w.study, budget=0),
    "run_work_named": lambda w: change(w.run, work=""),
    "ledger_entry_purpose_known": lambda w: LedgerEntry.objects.create(purpose="fun", calls=1),
    "ledger_entry_costs_no_less_than_nothing": lambda w: LedgerEntry.objects.create(
        purpose="probe", calls=1, cost=-1
    ),
    "model_price_once_per_endpoint": lambda w: [
        ModelPrice.objects.create(endpoint=w.endpoint, model="m") for _ in "ab"
    ],
    "model_price_not_negative": lambda w: ModelPrice.objects.create(
        endpoint=w.endpoint, model="m", price_prompt=-1
    ),
    "budget_hold_not_negative": lambda w: BudgetHold.objects.create(
        study=w.study, amount=-1, until=timezone.now()
    ),
    "study_budget_more_than_zero": lambda w: StudyBudget.objects.create(study=w.study, amount=0),
    "judge_run_purpose_known": lambda w: change(w.run.judging, purpose="fun"),
    "judge_run_half_known": lambda w: change(w.run.judging, half="test"),
    "pipeline_run_named": lambda w: PipelineRun.objects.create(run=w.run, pipeline="", version="1", seed=1),
    "generation_unit_once_per_query_step_and_key": lambda w: again(w.unit),
    "generation_unit_outcome_known": lambda w: change(w.unit, outcome="lost"),
    "product_number_once_per_unit": lambda w: [
        Product.objects.create(unit=w.unit, number=1, content={}) for _ in "ab"
    ],
    "product_edited_with_its_time": lambda w: Product.objects.create(
        unit=w.unit, number=1, content={}, edited={"text": "a"}
    ),
    "call_once_per_unit_and_replicate": lambda w: [Call.objects.create(run=w.run, unit=w.unit) for _ in "ab"],
    "call_has_one_subject": lambda w: change(w.call, unit=w.unit),
    "call_once_per_replicate_and_step": lambda w: again(w.call),
    "call_state_known": lambda w: change(w.call, state="lost"),
    "call_outcome_once_final": lambda w: change(w.call, state="final"),
    "call_lease_while_leased": lambda w: change(w.call, leased_until=w.later),
    "progress_filled_within_wanted": lambda w: Progress.objects.create(study=w.study, n_wanted=1, n_filled=2),
}


def test_every_constraint_is_violated_below():
    assert set(VIOLATIONS) == set(CONSTRAINTS)


@pytest.mark.parametrize("name", VIOLATIONS)
def test_constraint(world, name):
    with pytest.raises(IntegrityError, match=says(name)), transaction.atomic():
        VIOLATIONS[name](world)


def says(name):
    """The database's name of the constraint: SQLite names a unique one by its columns."""
    model, constraint = CONSTRAINTS[name]
    if connection.vendor == "sqlite" and isinstance(constraint, models.UniqueConstraint):
        columns = [model._meta.get_field(field).column for field in constraint.fields]
        return rf"failed: {', '.join(f'{model._meta.db_table}.{column}' for column in columns)}$"
    return rf"\b{name}\b"


def test_what_was_judged_can_t_be_deleted(world):
    for row in (world.study, world.item, world.rater, world.participant):
        with pytest.raises(models.ProtectedError):
            row.delete()
    assert Study.objects.filter(pk=world.study.pk).exists()
    assert Item.objects.count() > 0
    assert Judgment.objects.get() == world.judgment
    assert Participant.objects.count() == 2
