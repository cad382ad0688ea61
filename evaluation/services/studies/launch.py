"""Launch and the life cycle: draft -> live <-> paused -> closed -> live."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from evaluation.counting import counted
from evaluation.extension import Advice, extensions
from evaluation.job_kinds import REHEARSAL
from evaluation.models import Import, Item, Job, Revision, Role, Seal, Status, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action
from evaluation.services.seals import seal_changed, unseal
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import first_questions, first_texts
from evaluation.services.studies.freeze import assign_orders, compute_study_hash, freeze_items, freeze_spec
from evaluation.services.studies.rehearsals import discard_rehearsal, rehearsal_of

# A launch that has not shown a sign of life for this long is taken over by the next one.
ABANDONED_AFTER = timedelta(minutes=2)
MAX_PROBLEMS = 1_000
# The texts that say how the questions are to be answered.
GUIDING = ("instructions", "guideline", "guideline_context")


UPLOAD = ("Upload items", "admin:evaluation_study_upload")
REHEARSAL_ENDS = "The draft's rehearsal is deleted with all that was simulated."


class Weight(StrEnum):
    """The weight of what a draft lacks: it blocks the launch, it has to be confirmed, or it is to be considered."""

    BLOCKS = "blocks"
    CONFIRM = "confirm"
    CONSIDER = "consider"


@dataclass(frozen=True)
class Missing:
    """Something that a draft lacks, and its weight."""

    advice: Advice
    weight: Weight


def missing_before_launch(study: Study, by: Any = None) -> list[Missing]:
    """Everything that a draft lacks for its launch, for `by` to read, the gravest first. Nothing of other studies."""
    if study.status != Status.DRAFT:
        return []
    found = (
        (Weight.BLOCKS, _problems(study)),
        (Weight.CONFIRM, _cautions(study)),
        (Weight.CONSIDER, launch_advice(study, by)),
    )
    return [Missing(each, weight) for weight, advice in found for each in advice]


def launch_problems(study: Study) -> list[str]:
    """The problems that block a draft's launch, as far as they show without compiling every item."""
    return [each.text for each in _problems(study)]


def draft_problems(study: Study) -> Iterator[Advice]:
    """Problems of the draft itself, which keep it from being rehearsed, too."""
    if not study.arms.exists():
        yield Advice("The study has no arm.", "Add an arm", field="arms")
    if not study.questions.exists():
        yield Advice("The study has no questions.", "Add a question", field="questions")
    for problem in study.protocol_object.spec_problems(compile_spec(study)):
        yield Advice(f"{problem}.", "Questions", field="questions")
    if not study.items.filter(role=Role.MAIN).exists():
        yield Advice("The study has no items.", *UPLOAD)
    if Import.objects.filter(state=Import.State.RUNNING, created_study=study).exists():
        yield Advice("The study is still being imported.", "Overview", "admin:evaluation_study_overview")
    for text in pass_mark_problems(study, study.steps):
        yield Advice(text, "Pass mark", field="qualification_pass_mark")
    for text in _sample_problems(study):
        yield Advice(text, "Queries that people judge", field="human_sample")
    without_gold = study.items.exclude(role=Role.MAIN).filter(gold__isnull=True)
    for key, role in without_gold.order_by("key").values_list("key", "role")[:MAX_PROBLEMS]:
        yield Advice(f"Item {key}: a {role} item needs gold.", *UPLOAD)


def _problems(study: Study) -> Iterator[Advice]:
    yield from draft_problems(study)
    if any(
        each.is_active and not each.is_lost for each in Job.objects.filter(study=study, kind=REHEARSAL.key)
    ):
        overview = ("Overview", "admin:evaluation_study_overview")
        yield Advice("A rehearsal of this draft is still being filled: wait until that is done.", *overview)


def launch_advice(study: Study, by: Any = None) -> list[Advice]:
    """Warnings about a draft that don't block its launch, for `by` to read."""

    def fewest_responses() -> int:
        main = study.items.filter(role=Role.MAIN).annotate(n=Count("responses"))
        return main.aggregate(fewest=Min("n"))["fewest"] or 0

    found = [
        Advice(text, "Judgments per item", field="redundancy")
        for text in study.protocol_object.advice(study.redundancy, fewest_responses)
    ]
    found += [Advice(text, "Texts", field="texts") for text in text_advice(study)]
    if study.steps.get("training") and not study.items.filter(role=Role.TRAINING).exists():
        text = "Participants practise before they judge, and there is no training item."
        found.append(Advice(text, "Practice", field="step_training"))
    return found + [each for extension in extensions() for each in extension.launch_advice(study, by)]


def _cautions(study: Study) -> Iterator[Advice]:
    if not study.contact.strip():
        yield Advice(
            "No contact is set: participants have nobody to ask.", "Set the contact", field="contact"
        )
    if study.pay is None:
        yield Advice("No pay is set: the entry page can't state it.", "Set the pay", field="pay")
    if study.steps.get("consent") and not _bodies(study).get("consent", "").strip():
        text = "Participants are asked for their consent, but the consent text is empty."
        yield Advice(text, "Write it", field="texts")
    for extension in extensions():
        yield from extension.launch_cautions(study)


def launch_cautions(study: Study) -> list[str]:
    """Sentences that block a launch until they are confirmed: what participants would miss, and what a launch ends."""
    ends = [REHEARSAL_ENDS] if rehearsal_of(study) is not None else []
    return [*(each.text for each in _cautions(study)), *ends]


def text_advice(study: Study) -> list[str]:
    """Texts that are empty, or that still speak of the protocol's own questions where these were replaced."""
    bodies, defaults = _bodies(study), first_texts(study.protocol_object, study.language)
    found = []
    if study.steps.get("instructions") and not bodies.get("instructions", "").strip():
        found.append("The instructions are a step of the study, but their text is empty.")
    guideline = study.protocol_object.guideline(compile_spec(study), with_context=False)
    if "guideline" in defaults and not guideline.strip():
        found.append("The guideline is empty: neither people nor judges are told how to judge.")
    questions = first_questions(study.protocol_object, study.language)
    own = {(each["key"], each["prompt"]) for each in questions}
    if own and own != set(study.questions.values_list("key", "prompt")):
        same = [key for key in GUIDING if defaults.get(key) and bodies.get(key) == defaults[key]]
        if same:
            found.append(
                f"The questions were changed, but these texts are still the protocol's own and may not fit: "
                f"{', '.join(same)}."
            )
    return found


def _bodies(study: Study) -> dict[str, str]:
    return dict(study.texts.values_list("key", "body"))


def pass_mark_problems(study: Study, steps: Mapping[str, Any]) -> list[str]:
    """Problems with the pass mark that would let nobody qualify."""
    mark = (steps.get("qualification") or {}).get("pass_mark", 0)
    available = study.items.filter(role=Role.QUALIFICATION, withdrawn_at=None).count() if mark else 0
    if available >= mark:
        return []
    return [f"The pass mark is {mark}, but there are {available} qualification items."]


def _sample_problems(study: Study) -> list[str]:
    if study.human_sample is None:
        return []
    queries = study.queries.filter(items__role=Role.MAIN).distinct().count()
    if study.human_sample < queries:
        return []
    return [
        f"People are to judge a random part of {study.human_sample:,} queries, but the study has {queries:,}: "
        "let them judge fewer, or all of them."
    ]


class LaunchTaken(WrongState):
    """Another process has taken this launch over, because it had shown no sign of life; this one must stop."""


def heartbeat(study: Study) -> None:
    """Note that a launch is still running; long hooks do so too, or another launch takes over. LaunchTaken if one
    has."""
    if study.launching_since is None:
        return
    now = timezone.now()
    mine = Study.objects.filter(pk=study.pk, launching_since=study.launching_since)
    if not mine.update(launching_since=now):
        raise LaunchTaken(f"Another process has taken over the launch of {study.slug}.")
    study.launching_since = now


def abandoned_launches() -> QuerySet[Study]:
    """Drafts whose launch was cut short, as by a kill, and nobody has resumed."""
    silent = timezone.now() - ABANDONED_AFTER
    return Study.objects.filter(status=Status.DRAFT, rehearsal_of=None, launching_since__lte=silent)


def launch_study(
    study: Study, *, by: Any = None, on_batch: Callable[[int], None] = lambda done: None
) -> None:
    """Compile, freeze, hash and deal, and delete the draft's rehearsal; Refused leaves an editable draft behind.

    Works in short transactions. A launch that was cut short is resumed by launching again, which workers do by
    themselves (`evaluation.services.jobs.resume_launches`).
    """
    revision = _begin(study)

    def alive(done: int) -> None:
        heartbeat(study)
        on_batch(done)

    try:
        problems = freeze_items(study, revision, on_batch=alive)
        if problems:
            raise Refused(*[f"Item {key}: {problem}" for key, problem in problems[:MAX_PROBLEMS]])
        assign_orders(study)
        heartbeat(study)
        for each in extensions():
            each.launch(study)
    except (Exception, KeyboardInterrupt) as error:
        _undo(study, error)
        raise
    with transaction.atomic():
        heartbeat(study)
        study.study_hash = compute_study_hash(study)
        study.status, study.launching_since = Status.LIVE, None
        study.save(update_fields=["study_hash", "status", "launching_since"])
        seal_changed(study, [study])
        if (rehearsal := rehearsal_of(study)) is not None:
            discard_rehearsal(rehearsal)
            log_action(study=study, by=by, message=f"Deleted the rehearsal {rehearsal.slug}.")
        log_action(study=study, by=by, message=f"Launched with {counted(study.items.count(), 'item')}.")


def _begin(study: Study) -> Revision:
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        study.refresh_from_db()  # what is stored is frozen, not what the caller read a while ago
        if study.status != Status.DRAFT:
            raise WrongState(f"Only a draft can be launched; this study is {study.status}.")
        _refuse_archived(study)
        if study.launching_since and timezone.now() - study.launching_since < ABANDONED_AFTER:
            raise WrongState("The study is already being launched.")
        problems = launch_problems(study)
        if not problems:
            study.launching_since = timezone.now()
            study.save(update_fields=["launching_since"])
            return freeze_spec(study)
    if study.launching_since:  # what a launch that was cut short left behind
        _thaw(study)
    raise Refused(*problems)


def _thaw(study: Study) -> None:
    """Return to a draft: nothing of a refused launch stays frozen."""
    for each in extensions():
        each.unlaunch(study)
    with transaction.atomic():
        frozen = Item.objects.filter(study=study).exclude(stimulus_hash="")
        frozen.update(stimulus=None, stimulus_hash="", systems_key="", lengths="", start_order=None)
        unseal(study, Seal.Kind.ITEM)
        study.revisions.all().delete()
        study.launching_since = None
        study.save(update_fields=["launching_since"])


def _undo(study: Study, error: BaseException) -> None:
    """Return to a draft; where even that finds no room, say so and let the next launch resume at once. LaunchTaken if
    another process has taken over, whose work it would be that is undone."""
    try:
        heartbeat(study)
        _thaw(study)
    except DatabaseError:
        error.add_note("The launch is unfinished and could not be undone: launch again, and it is finished.")
        with contextlib.suppress(DatabaseError):
            since = timezone.now() - ABANDONED_AFTER
            Study.objects.filter(pk=study.pk).update(launching_since=since)


def pause_study(study: Study, *, by: Any = None, reason: str = "") -> str:
    """Pause the study: no new reservations; running ones may finish. Returns the sentence of the history, as do the
    others."""
    return _move(study, {Status.LIVE}, Status.PAUSED, "Paused.", by, reason)


def resume_study(study: Study, *, by: Any = None, reason: str = "") -> str:
    return _move(study, {Status.PAUSED}, Status.LIVE, "Resumed.", by, reason)


def close_study(study: Study, *, by: Any = None, reason: str = "") -> str:
    return _move(study, {Status.LIVE, Status.PAUSED}, Status.CLOSED, "Closed.", by, reason)


def reopen_study(study: Study, *, by: Any = None, reason: str = "") -> str:
    for each in extensions():
        each.refuse_reopening(study)
    return _move(study, {Status.CLOSED}, Status.LIVE, "Reopened.", by, reason)


def archive_study(study: Study, *, by: Any = None, reason: str = "") -> str:
    """Set a draft or a closed study aside; Refused for one that is under way."""
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if locked.status not in (Status.DRAFT, Status.CLOSED) or locked.launching_since or locked.archived_at:
            raise WrongState("A draft or a closed study is archived, and once.")
        return _set_aside(study, timezone.now(), "Archived.", by, reason)


def unarchive_study(study: Study, *, by: Any = None, reason: str = "") -> str:
    with transaction.atomic():
        if Study.objects.select_for_update(no_key=True).get(pk=study.pk).archived_at is None:
            raise WrongState("The study is not archived.")
        return _set_aside(study, None, "Taken out of the archive.", by, reason)


def _set_aside(study: Study, at: Any, said: str, by: Any, reason: str) -> str:
    study.archived_at = at
    study.save(update_fields=["archived_at"])
    log_action(study=study, by=by, message=said, reason=reason)
    return said


def _refuse_archived(study: Study) -> None:
    if study.archived_at is not None:
        raise WrongState("The study is archived: take it out of the archive first.")


def _move(study: Study, allowed: set[Status], to: Status, said: str, by: Any, reason: str) -> str:
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if locked.status == to:
            raise WrongState(f"The study is already {to}.")
        if locked.status not in allowed:
            raise WrongState(f"A study that is {locked.status} can't become {to}.")
        _refuse_archived(locked)
        study.status = locked.status = to
        study.closed_at = locked.closed_at = timezone.now() if to == Status.CLOSED else None
        locked.save(update_fields=["status", "closed_at"])
        log_action(study=study, by=by, message=said, reason=reason)
    return said
