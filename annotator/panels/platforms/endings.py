"""Endings of visits, in the words of the platform that somebody came from: the pay, and what to do now.

Every platform has all outcomes. What to do depends on whether there is a way back: a code, an address or a form.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Words = str | Promise


@dataclass(frozen=True)
class Ending:
    """`go_back`: what to do where there is a way back; `stay`: where there is none."""

    pay: Words
    go_back: Words
    stay: Words


Endings = Mapping[str, Ending]

_NOTHING = _("You can close this page.")

# Of a link nobody knows who sends it, nor whether they pay.
LINK: Endings = {
    "completed": Ending(
        _("If pay was offered, it comes from where you found the study."),
        _("Submit your work there, as shown below."),
        _("There is nothing more to do: your answers are saved. You can close this page."),
    ),
    "no_consent": Ending(
        _("There is no pay, since you did not take part."),
        _("Go back to where you found the study, as shown below."),
        _NOTHING,
    ),
    "failed_qualification": Ending(
        _("Check where you found the study whether this visit is paid."),
        _("Go back there, as shown below."),
        _("There is no code for this. If you are asked for one there, write to the researchers."),
    ),
    "failed_attention": Ending(
        _("The researchers decide about the pay when they have looked at your answers."),
        _("Go back to where you found the study, as shown below."),
        _("There is no code for this. If you think that it is a mistake, write to the researchers."),
    ),
    "full": Ending(
        _("There is no pay for this visit, since nothing was left to judge."),
        _("Go back to where you found the study, as shown below."),
        _NOTHING,
    ),
    "withdrawn": Ending(
        _(
            "A visit that ends early is not paid automatically. Ask the researchers about the part "
            "that you did."
        ),
        _("Go back to where you found the study, as shown below."),
        _NOTHING,
    ),
    "returned": Ending(
        _("A visit that was returned is not paid."), _("There is nothing left to do there."), _NOTHING
    ),
    "timed_out": Ending(
        _(
            "A visit that took too long is not paid automatically. If you did part of the work, write to "
            "the researchers."
        ),
        _("Go back to where you found the study, as shown below."),
        _NOTHING,
    ),
}

_RETURN_ASSIGNMENT = _("Please return the assignment on Connect.")
_PARTIAL = _("Go back to Connect as shown below; your part is recorded there as a partial completion.")
CONNECT: Endings = {
    "completed": Ending(
        _("You are paid on Connect once the researchers have approved your assignment."),
        _("Go back to Connect as shown below to complete the assignment."),
        _(
            "There is no way back from here. Do not return the assignment: complete it on Connect, "
            "and message the "
            "researchers there if it asks for a code."
        ),
    ),
    "no_consent": Ending(
        _("There is no pay, since you did not take part."),
        _("Please return the assignment on Connect. If it asks for a code, enter the one below."),
        _RETURN_ASSIGNMENT,
    ),
    "failed_qualification": Ending(
        _("You did not complete the assignment; the project says whether a part of it is paid."),
        _PARTIAL,
        _RETURN_ASSIGNMENT,
    ),
    "failed_attention": Ending(
        _("You did not complete the assignment; the project says whether a part of it is paid."),
        _PARTIAL,
        _(
            "Please return the assignment on Connect. If you think that this is a mistake, message "
            "the researchers."
        ),
    ),
    "full": Ending(
        _("Nothing was left to judge; the project says whether your time is paid."),
        _PARTIAL,
        _RETURN_ASSIGNMENT,
    ),
    "withdrawn": Ending(
        _(
            "You are not paid automatically if you stop early; the researchers can pay you for the "
            "part you did."
        ),
        _("Please return the assignment on Connect. If it asks for a code, enter the one below."),
        _RETURN_ASSIGNMENT,
    ),
    "returned": Ending(
        _("An assignment that was returned is not paid."), _("There is nothing left to do."), _NOTHING
    ),
    "timed_out": Ending(
        _("Connect does not pay for an assignment that ran out of time."),
        _("If you did part of the work, message the researchers on Connect."),
        _("If you did part of the work, message the researchers on Connect."),
    ),
}

_CANCEL = _("Please cancel your sign-up on SONA, so that somebody else can have the timeslot.")
_LATER = _(
    "There is nothing to do on SONA. If you have a question about your credit, write to the researchers."
)
SONA: Endings = {
    "completed": Ending(
        _("You get your credit on SONA."),
        _("Go to SONA as shown below: opening it is what grants the credit."),
        _("It could not be granted from here. Please write to the researchers, who can grant it."),
    ),
    "no_consent": Ending(_("There is no credit, since you did not take part."), _CANCEL, _CANCEL),
    "failed_qualification": Ending(_("Credit for this visit is not granted automatically."), _LATER, _LATER),
    "failed_attention": Ending(_("The researchers decide about your credit."), _LATER, _LATER),
    "full": Ending(_("There is no credit, since nothing was left to judge."), _CANCEL, _CANCEL),
    "withdrawn": Ending(_("You get no credit automatically if you stop early."), _LATER, _LATER),
    "returned": Ending(_("There is no credit for a sign-up that was cancelled."), _LATER, _LATER),
    "timed_out": Ending(_("There is no credit for a visit that took too long."), _LATER, _LATER),
}

_RETURN_TASK = _("Please return the task (HIT) there, so that somebody else can take it.")
_SEND_IN = _("Submit the task as shown below.")
EXTERNAL_QUESTION: Endings = {
    "completed": Ending(
        _("You are paid once the researchers have approved the task."),
        _SEND_IN,
        _("The task can't be submitted from here. Please do not return it; write to the researchers."),
    ),
    "no_consent": Ending(_("There is no pay, since you did not take part."), _RETURN_TASK, _RETURN_TASK),
    "failed_qualification": Ending(
        _("The researchers decide about your pay when they review the task."), _SEND_IN, _RETURN_TASK
    ),
    "failed_attention": Ending(
        _("The researchers decide about your pay when they review the task."), _SEND_IN, _RETURN_TASK
    ),
    "full": Ending(_("There is no pay, since nothing was left to judge."), _RETURN_TASK, _RETURN_TASK),
    "withdrawn": Ending(_("A task that is not submitted is not paid."), _RETURN_TASK, _RETURN_TASK),
    "returned": Ending(_("A task that was returned is not paid."), _NOTHING, _NOTHING),
    "timed_out": Ending(_("A task that ran out of time is not paid."), _NOTHING, _NOTHING),
}

_ASK = _("Any pay comes from whoever sent you the link.")
PERSONAL: Endings = dict.fromkeys(LINK, Ending(_ASK, _NOTHING, _NOTHING))

# --- for those whom a study does not take in ------------------------------------------------------------------------
# Why: it is paused or closed, it is not for them, or they ended it on an earlier visit.
AWAY = ("paused", "closed", "not_admitted", "done_before", "over_before")

_NO_PAY_YET = _("There is no pay yet, since you have not started.")
_NO_PAY = _("There is no pay, since you did not take part.")
_NO_FURTHER_PAY = _("There is no pay for this visit. It does not change the pay for the earlier one.")


def away_endings(
    paused: Words,
    otherwise: Words,
    *,
    yet: Words = _NO_PAY_YET,
    none: Words = _NO_PAY,
    further: Words = _NO_FURTHER_PAY,
) -> Endings:
    """Endings from what to do while the study is paused, and in all other cases; nobody of these has a code."""
    ended = {
        "paused": (yet, paused),
        "closed": (none, otherwise),
        "not_admitted": (none, otherwise),
        "done_before": (further, otherwise),
        "over_before": (further, otherwise),
    }
    return {reason: Ending(pay, todo, todo) for reason, (pay, todo) in ended.items()}


LINK_AWAY = away_endings(
    _("Come back later. If a panel sent you here, return the study there."),
    _("If a panel sent you here, return the study there. Otherwise you can close this page."),
)
CONNECT_AWAY = away_endings(
    _("Come back before your time on Connect runs out, or return the assignment there."), _RETURN_ASSIGNMENT
)
SONA_AWAY = away_endings(
    _("Come back within your timeslot, or cancel your sign-up on SONA."),
    _CANCEL,
    yet=_("There is no credit yet, since you have not started."),
    none=_("There is no credit, since you did not take part."),
    further=_("There is no credit for this visit. It does not change the credit for the earlier one."),
)
EXTERNAL_QUESTION_AWAY = away_endings(
    _("Come back before the time for the task runs out, or return the task (HIT)."), _RETURN_TASK
)
PERSONAL_AWAY: Endings = {
    reason: Ending(_ASK, todo, todo)
    for reason, todo in {**dict.fromkeys(AWAY, _NOTHING), "paused": _("Come back later.")}.items()
}
