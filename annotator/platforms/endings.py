"""How a visit ends, in the words of the platform that somebody came from: what happens with the pay, what to do now.

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
        _("Hand your work in there, as shown below."),
        _("There is nothing to hand in: your answers are saved. You can close this page."),
    ),
    "no_consent": Ending(
        _("There is no pay, since you did not take part."),
        _("Let the place where you found the study know, as shown below."),
        _NOTHING,
    ),
    "failed_qualification": Ending(
        _("Whether this visit is paid is said where you found the study."),
        _("Go back there, as shown below."),
        _("If something is to be handed in there, ask the researchers; there is no code for it."),
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
            "A visit that ends early is not paid by itself. The researchers can tell you about the part you did."
        ),
        _("Go back to where you found the study, as shown below."),
        _NOTHING,
    ),
    "returned": Ending(
        _("A visit that was given back is not paid."), _("There is nothing left to do there."), _NOTHING
    ),
    "timed_out": Ending(
        _("A visit that took too long is not paid by itself. If you did work, write to the researchers."),
        _("Go back to where you found the study, as shown below."),
        _NOTHING,
    ),
}

_RETURN = _("Please return your submission on Prolific, so that somebody else can take the place.")
_ASKED = _(
    "Go back to Prolific with the code below. Prolific then asks you to return your submission; please do so."
)
_REVIEWED = _("Go back to Prolific with the code below, so that the researchers can review your submission.")
PROLIFIC: Endings = {
    "completed": Ending(
        _("You are paid on Prolific once your submission is approved."),
        _("Go back to Prolific with the code below to hand in your submission."),
        _(
            "This study has no completion code. Do not return your submission: hand it in on Prolific without a code "
            "and send the researchers a message there."
        ),
    ),
    "no_consent": Ending(_("There is no pay, since you did not take part."), _ASKED, _RETURN),
    "failed_qualification": Ending(_("This submission is not paid."), _ASKED, _RETURN),
    "failed_attention": Ending(
        _("The researchers decide about your pay when they review your submission on Prolific."),
        _REVIEWED,
        _(
            "This study has no code for this. Send the researchers a message on Prolific if you think that it is a "
            "mistake; otherwise please return your submission there."
        ),
    ),
    "full": Ending(
        _("There is no pay for this submission, since nothing was left to judge."), _ASKED, _RETURN
    ),
    "withdrawn": Ending(
        _(
            "A submission that ends early is not paid by itself; the researchers can pay for the part you did."
        ),
        _REVIEWED,
        _(
            "Please return your submission on Prolific. About the part you did, send the researchers a message there."
        ),
    ),
    "returned": Ending(
        _("A submission that was returned is not paid."),
        _("There is nothing left to do on Prolific."),
        _("There is nothing left to do on Prolific."),
    ),
    "timed_out": Ending(
        _("Prolific does not pay for a submission that ran out of time."),
        _("If you did work, send the researchers a message on Prolific."),
        _("If you did work, send the researchers a message on Prolific."),
    ),
}

_RETURN_ASSIGNMENT = _("Please return the assignment on Connect.")
_PARTIAL = _("Go back to Connect as shown below; your part is recorded there as a partial completion.")
CONNECT: Endings = {
    "completed": Ending(
        _("You are paid on Connect once the researchers have approved your assignment."),
        _("Go back to Connect as shown below to complete the assignment."),
        _(
            "There is no way back from here. Do not return the assignment: complete it on Connect, and message the "
            "researchers there if it asks for a code."
        ),
    ),
    "no_consent": Ending(
        _("There is no pay, since you did not take part."),
        _("Please return the assignment on Connect; if it asks for a code, this is it."),
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
            "Please return the assignment on Connect. If you think that this is a mistake, message the researchers."
        ),
    ),
    "full": Ending(
        _("Nothing was left to judge; the project says whether your time is paid."),
        _PARTIAL,
        _RETURN_ASSIGNMENT,
    ),
    "withdrawn": Ending(
        _(
            "An assignment that ends early is not paid by itself; the researchers can pay for the part you did."
        ),
        _("Please return the assignment on Connect; if it asks for a code, this is it."),
        _RETURN_ASSIGNMENT,
    ),
    "returned": Ending(
        _("An assignment that was returned is not paid."), _("There is nothing left to do."), _NOTHING
    ),
    "timed_out": Ending(
        _("Connect does not pay for an assignment that ran out of time."),
        _("If you did work, message the researchers on Connect."),
        _("If you did work, message the researchers on Connect."),
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
    "failed_qualification": Ending(_("The credit for this visit is not granted by itself."), _LATER, _LATER),
    "failed_attention": Ending(_("The researchers decide about your credit."), _LATER, _LATER),
    "full": Ending(_("There is no credit, since nothing was left to judge."), _CANCEL, _CANCEL),
    "withdrawn": Ending(_("Who stops early gets no credit by itself."), _LATER, _LATER),
    "returned": Ending(_("There is no credit for a visit that was given back."), _LATER, _LATER),
    "timed_out": Ending(_("There is no credit for a visit that took too long."), _LATER, _LATER),
}

_RETURN_TASK = _("Please return the task (HIT) there, so that somebody else can take it.")
_SEND_IN = _("Send the task in as shown below.")
EXTERNAL_QUESTION: Endings = {
    "completed": Ending(
        _("You are paid once the researchers have approved the task."),
        _SEND_IN,
        _("The task can't be sent in from here. Please do not return it, and write to the researchers."),
    ),
    "no_consent": Ending(_("There is no pay, since you did not take part."), _RETURN_TASK, _RETURN_TASK),
    "failed_qualification": Ending(
        _("The researchers decide about your pay when they review the task."), _SEND_IN, _RETURN_TASK
    ),
    "failed_attention": Ending(
        _("The researchers decide about your pay when they review the task."), _SEND_IN, _RETURN_TASK
    ),
    "full": Ending(_("There is no pay, since nothing was left to judge."), _RETURN_TASK, _RETURN_TASK),
    "withdrawn": Ending(_("A task that is not sent in is not paid."), _RETURN_TASK, _RETURN_TASK),
    "returned": Ending(_("A task that was returned is not paid."), _NOTHING, _NOTHING),
    "timed_out": Ending(_("A task that ran out of time is not paid."), _NOTHING, _NOTHING),
}

_ASK = _("If you are paid for this, whoever sent you the link settles it.")
PERSONAL: Endings = dict.fromkeys(LINK, Ending(_ASK, _NOTHING, _NOTHING))
