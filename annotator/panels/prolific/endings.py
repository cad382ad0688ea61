"""Endings of visits in Prolific's words."""

from django.utils.translation import gettext_lazy as _

from annotator.panels.platforms.endings import Ending, Endings, away_endings

_RETURN = _("Please return your submission on Prolific, so that somebody else can take your place.")
_ASKED = _(
    "Go back to Prolific with the code below. Prolific then asks you to return your submission; please do so."
)
_REVIEWED = _("Go back to Prolific with the code below, so that the researchers can review your submission.")
ENDINGS: Endings = {
    "completed": Ending(
        _("You are paid on Prolific once your submission is approved."),
        _("Go back to Prolific with the code below to complete your submission."),
        _(
            "This study has no completion code. Do not return your submission: submit it on Prolific "
            "without a code and send the researchers a message there."
        ),
    ),
    "no_consent": Ending(_("There is no pay, since you did not take part."), _ASKED, _RETURN),
    "failed_qualification": Ending(_("This submission is not paid."), _ASKED, _RETURN),
    "failed_attention": Ending(
        _("The researchers decide about your pay when they review your submission on Prolific."),
        _REVIEWED,
        _(
            "This study has no code for this. Send the researchers a message on Prolific if you "
            "think that it is a "
            "mistake; otherwise please return your submission there."
        ),
    ),
    "full": Ending(
        _("There is no pay for this submission, since nothing was left to judge."), _ASKED, _RETURN
    ),
    "withdrawn": Ending(
        _(
            "You are not paid automatically if you stop early; the researchers can pay you for the "
            "part you did."
        ),
        _REVIEWED,
        _(
            "Please return your submission on Prolific. If you did part of the work, message the "
            "researchers there."
        ),
    ),
    "returned": Ending(
        _("A submission that was returned is not paid."),
        _("There is nothing left to do on Prolific."),
        _("There is nothing left to do on Prolific."),
    ),
    "timed_out": Ending(
        _("Prolific does not pay for a submission that ran out of time."),
        _("If you did part of the work, send the researchers a message on Prolific."),
        _("If you did part of the work, send the researchers a message on Prolific."),
    ),
}
AWAY = away_endings(
    _("Come back before your time on Prolific runs out, or return your submission there."), _RETURN
)
