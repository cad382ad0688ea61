"""Error messages for a participant whose form has problems."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from evaluation.protocols import Kind, Problem

# What a participant is told; the codes are those of `evaluation.protocols.base.MESSAGES`.
PROBLEM_TEXTS: dict[str, str | Promise] = {
    "missing": gettext_lazy("Please answer this."),
    "nothing": gettext_lazy("Please answer at least one question."),
    "not_a_choice": gettext_lazy("Please choose one of the options shown."),
    "unconfirmed": gettext_lazy(
        "You have not changed the order. Change it, or confirm that it is right as it stands."
    ),
    "ranks_tied": gettext_lazy("Two responses share a rank. Give each a different rank."),
    "not_a_rank": gettext_lazy("Please choose a rank from 1 to %(highest)s."),
    "too_long": gettext_lazy("This is too long; please keep it under %(limit)s characters."),
    "too_short": gettext_lazy("Write at least %(least)s characters."),
    "none_and_some": gettext_lazy("Untick “None of these”, or everything else."),
    "not_text": gettext_lazy("Please write text here."),
    "entries_missing": gettext_lazy("Please keep, take over or add at least one entry."),
    "entry_blank": gettext_lazy("This entry is empty. Please fill it in or reject it."),
    "undecided": gettext_lazy("Please accept or reject this entry."),
    "nothing_above": gettext_lazy("There is no entry above this one to merge it with."),
    "too_many_entries": gettext_lazy("There can be no more than %(limit)s entries."),
    "unknown_question": gettext_lazy(
        "The form had an answer to a question that is not on this page. Please answer again."
    ),
    "unknown_part": gettext_lazy(
        "The form had an answer to a question that is not on this page. Please answer again."
    ),
}
# By how a question is answered (`QuestionKind.form`).
MISSING_TEXTS: dict[str, str | Promise] = {
    Kind.PREFERENCE: gettext_lazy("Please choose one."),
    Kind.CHECKLIST: gettext_lazy("Please choose one."),
    Kind.CHOICE: gettext_lazy("Please choose one."),
    Kind.SCALE: gettext_lazy("Please choose one."),
    Kind.RANKING: gettext_lazy("Please give each one a rank."),
    Kind.TEXT: gettext_lazy("Please write a few words."),
    Kind.ENTRIES: PROBLEM_TEXTS["entries_missing"],
}


def problem_text(problem: Problem) -> str:
    """The problem in the participant's language."""
    text = PROBLEM_TEXTS.get(problem.code, gettext_lazy("This answer is not valid."))
    return str(text) % dict(problem.params)


def sentence_for(error: str, form: str) -> str:
    return str(MISSING_TEXTS.get(form, PROBLEM_TEXTS["missing"])) if error == "missing" else error
