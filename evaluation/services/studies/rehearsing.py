"""Rehearsing a draft: its copy is launched and filled by simulated participants."""

from typing import Any

from django.db import transaction

from evaluation.extension import Watch, extensions
from evaluation.models import Status, Study, StudyMember
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, copy_study, free_slug
from evaluation.services.studies.launch import draft_problems, launch_study
from evaluation.services.studies.rehearsals import discard_rehearsal, rehearsal_of

MOST_PARTICIPANTS = 500


def rehearsal_problems(study: Study) -> list[str]:
    """Reasons against rehearsing this study: those that would keep it from being launched."""
    if study.status != Status.DRAFT:
        raise WrongState(f"Only a draft can be rehearsed; this study is {study.status}.")
    if study.launching_since is not None:
        raise WrongState("The study is being launched.")
    return [each.text for each in draft_problems(study)]


def check_request(study: Study, asked: dict[str, int]) -> None:
    """Refused with all that is wrong with what is asked for; nothing is begun then."""
    problems = rehearsal_problems(study)
    if not 1 <= asked["participants"] <= MOST_PARTICIPANTS:
        problems.append(f"The number of participants must be from 1 to {MOST_PARTICIPANTS}.")
    if min(asked["hurried"], asked["random"]) < 0 or asked["hurried"] + asked["random"] > 100:
        problems.append("The shares of hurried and random participants are from 0 to 100 % together.")
    if problems:
        raise Refused(*problems)


def rehearse(
    study: Study,
    asked: dict[str, int],
    *,
    by: Any = None,
    watch: Watch = lambda phase, done, total: None,
) -> tuple[Study, str]:
    """The draft's rehearsal, in place of an earlier one, and a sentence on it. A failure leaves none behind."""
    check_request(study, asked)
    if earlier := rehearsal_of(study):
        discard_rehearsal(earlier)
    rehearsal = _copy(study)
    try:
        total = rehearsal.items.count()
        watch("freezing", 0, total)
        launch_study(rehearsal, on_batch=lambda done: watch("freezing", done, total))
        told = (each.fill_rehearsal(rehearsal, asked, watch) for each in extensions())
        said = " ".join(filter(None, told))
        log_action(study=study, by=by, message=f"Rehearsed as {rehearsal.slug}. {said}")
    except BaseException:
        discard_rehearsal(rehearsal)
        raise
    return rehearsal, said


def _copy(study: Study) -> Study:
    with transaction.atomic():
        copy = copy_study(
            study,
            slug=free_slug(f"{study.slug[: MAX_SLUG - 14]}-rehearsal"),
            title=f"{study.title[: MAX_TITLE - 12]} (rehearsal)",
        )
        copy.rehearsal_of, copy.simulated = study, True
        copy.save(update_fields=["rehearsal_of", "simulated"])
        StudyMember.objects.bulk_create(
            StudyMember(study=copy, user_id=user, role=role)
            for user, role in study.members.values_list("user_id", "role")
        )
    return copy
