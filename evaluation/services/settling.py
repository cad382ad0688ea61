"""Settling: a member says what the answers to an item are, and why; taken back, and settled anew.

Settled labels are judgments of a rater of their own kind, one for each member: no figure counts them among people's or
judges', and one holds all of these against them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation import design
from evaluation.models import Exclusion, Item, Judgment, Rater, Role, Study
from evaluation.permissions import get_study_for, is_owner
from evaluation.protocols import AnswersInvalid, AnswerValue, Kind, Over, QuestionSpec
from evaluation.protocols.base import Data, Spec, Stimulus
from evaluation.refusals import Refused, WrongState
from evaluation.services.exclusions import exclude, restore
from evaluation.services.history import log_action, server_account
from evaluation.services.judgments import JudgmentInput, record_judgments, revise_judgment
from evaluation.services.seals import seal_new
from evaluation.storable import storable

# In a judgment's trace: {"reason", "shown"}, where `shown` names what of others' answers was shown before.
SETTLED = "settled"
# Whose answers can be shown to whoever settles.
PEOPLE, JUDGES = "people", "judges"
LONGEST_EXPLANATION = 1_000
TAKEN_BACK = "Settled label taken back."


@dataclass(frozen=True)
class LabelToSettle:
    """The answers that settle the item of that key; `where` they stand goes before what is wrong with them."""

    where: str
    item: str
    data: Data
    reason: str


def settle_items(
    study: Study, labels: Sequence[LabelToSettle], *, by: Any, shown: Collection[str] = ()
) -> list[Judgment]:
    """Settle them all, or none: Refused has every problem of each."""
    problems, settled = [], []
    with transaction.atomic():
        items = {each.key: each for each in study.items.filter(key__in={each.item for each in labels})}
        seen: dict[str, str] = {}
        for each in labels:
            try:
                if each.item not in items:
                    raise Refused(f"The study has no item {each.item!r}.")
                if (first := seen.setdefault(each.item, each.where)) != each.where:
                    raise Refused(f"{each.item} is settled in {first}, too.")
                found = settle_item(items[each.item], each.data, reason=each.reason, by=by, shown=shown)
                settled.append(found)
            except AnswersInvalid as invalid:
                problems += [f"{each.where}: {problem}" for problem in invalid.problems]
            except Refused as refused:
                problems += [f"{each.where}: {problem}" for problem in refused.problems]
        if problems:
            raise Refused(*problems)
    return settled


def settle_item(
    item: Item, data: Data, *, reason: str = "", by: Any, shown: Collection[str] = ()
) -> Judgment:
    """Settle an item by these answers, or settle it anew; of others' answers the member was `shown` these. Without a
    reason it is what the form itself asks for in words. Without a member, `by` None, it is whoever runs the server.

    Raises AnswersInvalid with every problem of the answers, and Refused without a reason of either kind or for an item
    that nobody can judge.
    """
    study = item.study
    reason = storable(reason).strip()
    with transaction.atomic():
        by = _with_right(study, by)
        _check(item)
        revision = study.revisions.order_by("-number")[0]
        own = asked_reason(study, revision.spec, item.stimulus or {})
        if not reason and own is None:
            raise Refused("A settled label needs a reason.")
        answers = study.protocol_object.clean(revision.spec, item.stimulus or {}, data)
        if own is not None and not reason:
            reason = next(each.text or "" for each in answers if each.question == own.key).strip()
        reason = reason[:LONGEST_EXPLANATION]
        rater = _rater_of(study, by)
        noted = {SETTLED: {"reason": reason, "shown": sorted(shown)}}
        judgment = _record(item, rater, revision.pk, answers, noted)
        log_action(study=study, by=by, message=f"Settled item {item.key}.", reason=reason)
    return judgment


def asked_reason(study: Study, spec: Spec, stimulus: Stimulus) -> QuestionSpec | None:
    """The question of the form whose answer is the reason for the others, None without one: the first text about the
    item that has to be written."""
    questions = study.protocol_object.questions(spec, stimulus)
    texts = (each for each in questions if each.kind == Kind.TEXT and each.over == Over.ITEM)
    return next((each for each in texts if each.required), None)


def exclude_or_take_back(judgment: Judgment, *, reason: str, by: Any) -> Exclusion:
    """Exclude any judgment; a settled label is taken back, which not every editor may do with anybody's."""
    if judgment.rater.kind == Rater.Kind.SETTLED:
        return _take_back(judgment, by=by, reason=reason)
    return exclude(study=judgment.study, judgment=judgment, reason=reason, by=by)


def take_back(judgment: Judgment, *, by: Any, reason: str = "") -> str:
    """Take a settled label back: it stays on record and counts no more. Own ones; owners, and whoever runs the server,
    any."""
    _take_back(judgment, by=by, reason=reason)
    return f"Took back the settled label of {judgment.item.key}."


def _take_back(judgment: Judgment, *, by: Any, reason: str) -> Exclusion:
    study = judgment.study
    with transaction.atomic():
        owns = by is None or is_owner(by, study)
        by = _with_right(study, by)
        if judgment.rater.kind != Rater.Kind.SETTLED:
            raise Refused("This is no settled label.")
        if judgment.rater.settled_by_id != by.pk and not owns:
            raise Refused("Only an owner can take back what somebody else has settled.")
        return exclude(study=study, judgment=judgment, reason=reason.strip() or TAKEN_BACK, by=by)


def noted_in(judgment: Judgment) -> dict[str, Any]:
    """The notes that were made as the label was settled; an import's trace is kept as it came."""
    noted = judgment.trace.get(SETTLED)
    return noted if isinstance(noted, dict) else {}


def reason_of(judgment: Judgment) -> str:
    """The reason of a settled label; '' of any other judgment."""
    return str(noted_in(judgment).get("reason") or "")


def order_for_settling(stimulus: Mapping[str, Any], position: int) -> str:
    """The order in which whoever settles is shown an item's responses: the same each time, and another for the next."""
    return design.presented_order(len(stimulus["responses"]), position)


def _with_right(study: Study, by: Any) -> Any:
    """The member, who may change the study; of a command without one, the account of whoever runs the server."""
    if by is None:
        return server_account()
    get_study_for(by, study.slug, right="write")
    return by


def _check(item: Item) -> None:
    if item.stimulus is None:
        raise WrongState("Items are settled once the study is launched.")
    if item.role != Role.MAIN or item.withdrawn_at is not None:
        raise WrongState(
            f"Item {item.key} is withdrawn or is none that figures are about: there is nothing to settle."
        )


def _rater_of(study: Study, member: Any) -> Rater:
    """The member's rater in the study, made on first use, and locked."""
    rater, is_new = Rater.objects.get_or_create(
        study=study,
        settled_by=member,
        defaults={"kind": Rater.Kind.SETTLED, "label": str(member)[:120], "in_figures": False},
    )
    if is_new:
        seal_new(study, [rater])
    return Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)


def _record(
    item: Item, rater: Rater, revision: int, answers: list[AnswerValue], noted: dict[str, Any]
) -> Judgment:
    judgment = Judgment.objects.filter(rater=rater, item=item).first()
    if judgment is None:
        order = order_for_settling(item.stimulus or {}, item.position)
        new = JudgmentInput(
            rater_id=rater.pk,
            item_id=item.pk,
            revision_id=revision,
            answers=answers,
            shown=order,
            judged_at=timezone.now(),
            trace=noted,
        )
        [judgment] = record_judgments(study=item.study, batch=[new], known_new=True)
        return judgment
    revise_judgment(study=item.study, judgment=judgment, answers=answers, noted=noted)
    for each in Exclusion.objects.filter(judgment=judgment, undone_at=None).select_related("study"):
        restore(each, reason="Settled anew.", by=None)
    return judgment
