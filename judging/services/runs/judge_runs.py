"""Runs of judges: started or refused, described as raters, and chosen for the figures."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from evaluation.models import Item, Rater, Status, Study
from evaluation.protocols import Kind
from evaluation.protocols.answers.measures import Measure
from evaluation.refusals import Refused
from evaluation.selectors import queries_of_people
from evaluation.services.scores import require_agreement
from evaluation.services.seals import seal_changed, seal_new
from evaluation.services.studies.freeze import assign_orders
from evaluation.services.studies.rehearsals import refuse_in_rehearsal
from evaluation.services.tallies import mark_items_of
from judging.asking import asking_of
from judging.asking.forms import FORM
from judging.backends import BACKENDS, CHAT
from judging.backends.base import ModelBackend
from judging.backends.options import missing_options
from judging.models import (
    Judge,
    JudgeRun,
    JudgeValidation,
    Jury,
    Orders,
    Purpose,
    Run,
    RunGroup,
    RunState,
    Verdict,
    WorkKind,
)
from judging.parsing.wrappers import READER
from judging.services.calls.judged_items import judged_by, judged_items
from judging.services.derived import derivation_of
from judging.services.derived.base import Preparation, members_of
from judging.services.endpoints.access import private_refusal
from judging.services.endpoints.prices import prices_of
from judging.services.endpoints.targets import target_prices, targets_of
from judging.services.judges import (
    answered_questions,
    configured_heuristic,
    current_spec,
    judge_problems,
    judge_settings,
    read_anew,
)
from judging.services.references import uses_reference
from judging.services.runs.extension import extend_run, extendable_run

# Anchor runs are of the version that their schedule names, and revisions of the judge that participants see.
READ_ANEW = (Purpose.MAIN, Purpose.TRIAL)
JUDGED_STATUSES = (Status.LIVE, Status.PAUSED, Status.CLOSED)


def start_run(
    study: Study,
    judge: Judge,
    *,
    user: Any = None,
    purpose: str = Purpose.MAIN,
    budget: Decimal | None = None,
    max_items: int | None = None,
    in_flight: int | None = None,
    by_batch: bool = False,
    group: RunGroup | None = None,
    half: str = "",
) -> Run:
    """A new run with its rater; its calls are created by whoever works on it. A trial may be of one `half` alone.

    Where items were added since a main run was complete, that one goes on, and judges these alone. A judge whose
    earlier runs were read by another reader judges as its next version.
    """
    refuse_in_rehearsal(study, "judges don't work on it.")
    # Of revisions, each item is looked at when it is asked about.
    to_send = judged_items(study).none() if purpose == Purpose.REVISION else _to_judge(study, max_items, half)
    problems = _refusals(study, judge, to_send)
    if purpose not in Purpose.values:
        problems.append(f"There is no purpose {purpose!r}.")
    asks_form = judge.asks_model and asking_of(judge.backend) is FORM
    if purpose == Purpose.REVISION and not (asks_form and has_revisable_entries(study)):
        problems.append("Revisions need a model, and a study in which entries are calibrated.")
    problems += [
        f"The {what} must be more than zero."
        for what, value in (
            ("budget", budget),
            ("number of items", max_items),
            ("number in flight", in_flight),
        )
        if value is not None and value <= 0
    ]
    if by_batch:
        problems += batch_refusals(judge, purpose)
    if problems:
        raise Refused(*problems)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        judge = read_anew(judge, user=user) if purpose in READ_ANEW else judge
    if purpose == Purpose.MAIN and max_items is None and (earlier := extendable_run(study, judge)):
        return extend_run(earlier, budget=budget, in_flight=in_flight, by_batch=by_batch, group=group)
    spec = current_spec(study)
    if judged_items(study).filter(start_order=None).exists():
        assign_orders(study)  # a study that was imported closed has had no use for orders before
    with transaction.atomic():
        # An edit of the judge waits, and finds that it has run.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        before = latest_revisions(study, judge) if purpose == Purpose.REVISION else None
        if before is not None and before.state not in (RunState.CANCELLED, RunState.COMPLETE):
            raise Refused(f"Run {before.pk} already holds the revisions of {judge.name}.")
        require_agreement(study, judge_measures(judge, spec))
        revision = study.revisions.order_by("-number")[0]
        rater = Rater.objects.create(
            study=study, kind=Rater.Kind.JUDGE, label=str(judge), in_figures=False,
            about=_about(judge, purpose, revision.spec),
        )  # fmt: skip
        seal_new(study, [rater])
        price_prompt, price_completion = prices_of(judge, by_batch=by_batch)
        run = Run.objects.create(
            study=study,
            budget=budget,
            in_flight=in_flight,
            by_batch=by_batch,
            group=group,
            price_prompt=price_prompt,
            price_completion=price_completion,
            prices=target_prices(judge, targets_of(judge)),
            created_by=user,
            work=Purpose(purpose).work,
            **(_opened() if purpose == Purpose.REVISION else {}),
        )
        JudgeRun.objects.create(
            run=run, judge=judge, revision=revision, rater=rater, purpose=purpose, max_items=max_items,
            half=half,
        )  # fmt: skip
        return run


def keep_preparation(judging: JudgeRun, prepared: Preparation) -> None:
    """Keep what a derived judge's run was chosen or fitted to, for all its items, with the given instance.

    Of two workers that prepared the same run at once, the first one's holds.
    """
    with transaction.atomic():
        rater = Rater.objects.select_for_update(no_key=True).get(pk=judging.rater_id)
        if "derived" not in rater.about:
            rater.about |= {
                "derived": {**prepared.about, **_folds_of_people(rater.study, prepared.by_query)},
                "heuristic": prepared.heuristic,
                "reference": prepared.reference,
            }
            rater.save(update_fields=["about"])
            seal_changed(rater.study, [rater])
            judging.folds = dict(prepared.by_query)
            judging.save(update_fields=["folds"])
    judging.refresh_from_db()


def _folds_of_people(study: Study, by_query: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Where people judge a random part of the queries, the folds of these: prediction-powered means ask of each which
    choice did not know it, of copies of the study, too, which have no runs."""
    theirs = queries_of_people(study) if by_query else None
    if theirs is None:
        return {}
    keys = {key for pk, key in study.queries.values_list("pk", "key").iterator() if pk in theirs}
    return {"by_query": {key: fold for key, fold in by_query.items() if key in keys}}


def _opened() -> dict[str, Any]:
    """No call to create, and open at once."""
    return {
        "state": RunState.RUNNING,
        "last_subject": None,
        "started_at": timezone.now(),
    }


def latest_revisions(study: Study, judge: Judge) -> Run | None:
    """The latest run that holds what participants asked of this judge, of whatever version."""
    runs = Run.objects.filter(study=study, judging__judge__name=judge.name, work=WorkKind.REVISION)
    return runs.select_related("judging__judge").order_by("-pk").first()


def has_revisable_entries(study: Study) -> bool:
    """True if participants work on entries that a model could revise."""
    spec = study.revisions.order_by("-number").values_list("spec", flat=True).first() or {"questions": []}
    return any(question["kind"] == Kind.ENTRIES for question in spec["questions"])


def run_refusals(study: Study, judge: Judge, max_items: int | None = None) -> list[str]:
    """Why the judge can't judge this study, or so many of its items, as sentences."""
    return _refusals(study, judge, _to_judge(study, max_items))


def batch_refusals(judge: Judge, purpose: str = Purpose.MAIN) -> list[str]:
    """Why a run of this judge can't be asked as batches, as sentences."""
    backend = BACKENDS[judge.backend]
    if not isinstance(backend, ModelBackend) or backend.open is not CHAT.open:
        return ["Only chat completions can be asked as batches."]
    if purpose in (Purpose.REVISION, Purpose.TRIAL):
        return ["Somebody waits for a trial or a revision: it can't be asked as a batch."]
    known = (judge.endpoint.capabilities if judge.endpoint else {}).get(judge.model, {})
    if known.get("batches") is False:
        return [f"The endpoint {judge.endpoint} has no Batch API."]
    return []


def _refusals(study: Study, judge: Judge, to_send: QuerySet[Item]) -> list[str]:
    if judge.study_id != study.pk:
        return ["The judge belongs to another study."]
    if study.status not in JUDGED_STATUSES:
        return ["Judges need frozen items: launch the study first."]
    problems = [sentence for each in judge_problems(judge).values() for sentence in each]
    problems += missing_options(BACKENDS[judge.backend].options, judge.options)
    if not judged_items(study).exists():
        problems.append("The study has no items to judge.")
    if not problems and derivation_of(judge):
        try:
            members_of(judge)
        except Refused as refused:
            problems += refused.problems
    if not problems:
        endpoints = {target.endpoint.pk: target.endpoint for target in targets_of(judge)}
        problems += filter(None, (private_refusal(each, to_send) for each in endpoints.values()))
    return problems


def _to_judge(study: Study, max_items: int | None, half: str = "") -> QuerySet[Item]:
    return judged_by(study, max_items if max_items and max_items > 0 else None, half)


def _about(judge: Judge, purpose: str, spec: Any) -> dict[str, Any]:
    """Facts for the report about this rater (see `evaluation.models.Rater.about`).

    Of a derived judge, its preparation says the rest (`keep_preparation`).
    """
    asks_model, derivation = judge.asks_model, derivation_of(judge)
    measures = judge_measures(judge, spec)
    return {
        "judge": judge.name,
        "version": judge.version,
        "model": (judge.model if asks_model else "") or judge.get_backend_display(),
        "reference": uses_reference(judge),
        **({"reference_from": judge.reference_from} if judge.reference_from else {}),
        "orders": "none" if derivation else str(judge.orders),
        "samples": judge.samples,
        "reduction": reduction(judge),
        "questions": question_keys(judge, spec),
        "purpose": str(purpose),
        "heuristic": not asks_model and derivation is None,
        **{name: own for name in ("own_system", "own_family") if (own := getattr(judge, name))},
        **({"options": judge.options} if judge.options else {}),
        **({"writes": False} if judge.is_repeatable else {"reader": READER} if asks_model else {}),
        **({"jury": jury_facts(judge.jury)} if judge.jury else {}),
        **({"measures": [each.as_json() for each in measures]} if measures else {}),
        **({"validation": tested} if purpose == Purpose.MAIN and (tested := validation_facts(judge)) else {}),
    }


def validation_facts(judge: Judge) -> dict[str, Any]:
    """Of a judge that was chosen and tested on people's queries (`JudgeValidation`): how, and with what verdict."""
    found = JudgeValidation.objects.filter(judge=judge, opened_at__isnull=False).first()
    if found is None:
        return {}
    return {
        "question": found.question,
        "variants": found.variants,
        "tuning": len(found.tuning),
        "test": len(found.test),
        "opened": found.opened_at.date().isoformat() if found.opened_at else "",
        "seen": found.seen,
        "result": found.result,
    }


def jury_facts(jury: Jury) -> dict[str, str]:
    return {"name": jury.name, "combination": str(jury.combination)}


def judge_measures(judge: Judge, spec: Any) -> tuple[Measure, ...]:
    """The measures that a run of this judge gives."""
    if derivation := derivation_of(judge):
        return derivation.measures(judge, spec)
    if judge.asks_model:
        return asking_of(judge.backend).measures(judge_settings(judge))
    return configured_heuristic(judge).measures


def question_keys(judge: Judge, spec: Any) -> list[str]:
    """Keys of the questions that the judge is asked, in the order of the form."""
    if not judge.asks_model:
        return answered_questions(judge, spec)
    return asking_of(judge.backend).questions(spec, judge_settings(judge))


def reduction(judge: Judge) -> str:
    """The rule by which frames reduce a judge's replicates to one reading."""
    if judge.orders == Orders.BOTH:
        return "both_ways"
    if judge.verdict == Verdict.LOGPROBS and judge.samples > 1:
        return "mean"
    return "majority"


def note_end(run: Run) -> None:
    """Tell on the rater when a run came to its end, by which a judge's passes are put in order."""
    rater = Rater.objects.select_for_update(no_key=True).get(pk=run.judging.rater_id)
    rater.about.pop("finished", None)
    if run.state == RunState.COMPLETE and run.finished_at is not None:
        rater.about["finished"] = run.finished_at.isoformat(timespec="seconds")
    rater.save(update_fields=["about"])
    seal_changed(rater.study, [rater])


def choose_for_figures(run: Run) -> None:
    """Put the latest complete main run of a judge, of whatever version, into the figures, and no other."""
    judging = run.judging
    if judging.purpose != Purpose.MAIN:
        return
    runs = JudgeRun.objects.filter(
        run__study=run.study_id, judge__name=judging.judge.name, purpose=Purpose.MAIN
    )
    complete = runs.filter(run__state=RunState.COMPLETE).order_by("-pk")
    latest = complete.values_list("rater", flat=True).first() or 0
    raters = Rater.objects.filter(judge_run__in=runs)
    changed = [
        *raters.filter(in_figures=True).exclude(pk=latest),
        *raters.filter(pk=latest, in_figures=False),
    ]
    for rater in changed:
        rater.in_figures = rater.pk == latest
        rater.save(update_fields=["in_figures"])
    if changed:
        seal_changed(run.study, changed)
        # Neither the number of judgments nor the highest id tells that figures changed.
        Study.objects.filter(pk=run.study_id).update(corrections=F("corrections") + 1)
        mark_items_of(changed)
