"""Texts for participants that are not the study's own: notices, outcomes, and why a study is not open."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from annotator.models import ParticipantOutcome, Step

Words = str | Promise

# After a form that was refused: what is wrong stands with the questions, unless it has been put right meanwhile.
REFUSED = "refused"

NOTICES: dict[str, Words] = {
    "already": gettext_lazy("You have already done that item. Here is what comes next."),
    "check-failed": gettext_lazy(
        "One of the items was an attention check, and your answer to it was wrong. Please take your "
        "time with the next ones."
    ),
    "late": gettext_lazy(
        "The time for that item ran out, and somebody else has judged it. Your answers are saved and "
        "count towards your pay."
    ),
    "lost": gettext_lazy("That item is no longer reserved for you. Here is what comes next."),
    "more-time": gettext_lazy("You have more time for this item now."),
    "no-skip": gettext_lazy("This item can't be skipped."),
    "shown-again": gettext_lazy("These are your answers so far. Nothing has been submitted yet."),
    "skip-stands": gettext_lazy("That skip can no longer be undone. Here is what comes next."),
    "try-again": gettext_lazy(
        "You did not reach the pass mark. You can try once more: here are the items again, from the first."
    ),
    "too-large": gettext_lazy("Your answers were too long and could not be saved. Please shorten them."),
    REFUSED: gettext_lazy("Your answers were not submitted. Please check them and submit them again."),
    "report-enough": gettext_lazy(
        "Your report was not sent: the researchers have yet to look at five of your reports. Please "
        "write to them instead."
    ),
    "report-late": gettext_lazy(
        "Your report was not sent: you can only report the current item or the one you submitted last."
    ),
    "nothing-back": gettext_lazy("You have no answers that can be revised."),
    "revised": gettext_lazy("Your revised answers were saved. Here is what comes next."),
    "unsent": gettext_lazy(
        "This item had already been submitted, perhaps in another window. What you filled in here is "
        "shown below, but it does not count."
    ),
    "reported": gettext_lazy("Thank you. The researchers will look at the item."),
    "unskipped": gettext_lazy("Here is the item you skipped."),
    "round-asked": gettext_lazy(
        "The model is working on it. Continue with your own work and check again in a moment."
    ),
    "round-day_spent": gettext_lazy(
        "The model's limit for today has been reached. Your work is saved; please continue without it."
    ),
    "round-enough": gettext_lazy("You have used all your requests to the model for this item."),
    "round-no_instruction": gettext_lazy("Write what the model should change, then ask again."),
    "round-no_model": gettext_lazy("No model is available at the moment."),
    "round-spent": gettext_lazy("You have used all your requests to the model in this study."),
    "round-study_spent": gettext_lazy(
        "The model's limit for this study has been reached. Your work is saved; please continue without it."
    ),
    "round-too_long": gettext_lazy("That instruction is too long for the model. Please shorten it."),
    "round-waiting": gettext_lazy("The model is still working on your last request. Please wait."),
}

# What the bar says where there is nothing to count.
STEP_LABELS: dict[str, Words] = {
    Step.TRAINING: gettext_lazy("Practice"),
    Step.QUALIFICATION: gettext_lazy("Qualification"),
    Step.COMMENTS: gettext_lazy("Last page"),
}

# Title and text per outcome.
OUTCOMES: dict[str, tuple[Words, Words]] = {
    ParticipantOutcome.COMPLETED: (gettext_lazy("You are done"), ""),
    ParticipantOutcome.NO_CONSENT: (
        gettext_lazy("You chose not to take part"),
        gettext_lazy("Nothing about you was stored."),
    ),
    ParticipantOutcome.FAILED_QUALIFICATION: (
        gettext_lazy("You can't continue"),
        gettext_lazy(
            "Too few of your answers in the qualification matched the expected ones. Thank you for your time."
        ),
    ),
    ParticipantOutcome.FAILED_ATTENTION: (
        gettext_lazy("You can't continue"),
        gettext_lazy(
            "Some items check that you read carefully, and you did not follow the instructions in "
            "them. Thank you "
            "for your time."
        ),
    ),
    ParticipantOutcome.FULL: (
        gettext_lazy("All places are taken"),
        gettext_lazy(
            "Enough people have taken part, so there is nothing left to judge. Thank you for coming."
        ),
    ),
    ParticipantOutcome.WITHDRAWN: (
        gettext_lazy("You have left the study"),
        gettext_lazy("Thank you for your time."),
    ),
    ParticipantOutcome.RETURNED: (
        gettext_lazy("You have returned this study"),
        gettext_lazy("Thank you for your time."),
    ),
    ParticipantOutcome.TIMED_OUT: (
        gettext_lazy("Your time is up"),
        gettext_lazy("Your time for this study ran out. Your answers are saved."),
    ),
}

# Title and text for those whom the study does not take in, by the reason (`annotator.panels.platforms.endings.AWAY`).
AWAY: dict[str, tuple[Words, Words]] = {
    "paused": (
        gettext_lazy("This study is paused"),
        gettext_lazy("Nobody can start at the moment. The link stays the same."),
    ),
    "closed": (
        gettext_lazy("This study is over"),
        gettext_lazy("Nobody can take part any more. Thank you for your interest."),
    ),
    # On a list that keeps them out, or not on the one that lets people in.
    "not_admitted": (
        gettext_lazy("You can't take part in this study"),
        gettext_lazy(
            "It is open only to some people, depending on the other studies that they took part in. "
            "Nothing about you was stored."
        ),
    ),
    # A further visit after their way had ended: of those who completed it, and of everybody else.
    "done_before": (
        gettext_lazy("You have already done this study"),
        gettext_lazy(
            "You completed it on an earlier visit, and your answers are saved. It can be done only "
            "once, so there "
            "is no code for this visit."
        ),
    ),
    "over_before": (
        gettext_lazy("You can't take part again"),
        gettext_lazy(
            "Your participation ended on an earlier visit, and your answers are saved. There is no "
            "code for this "
            "visit."
        ),
    ),
}
# The same for who completed a study that one person can do several times.
NO_VISIT_LEFT: tuple[Words, Words] = (
    AWAY["done_before"][0],
    gettext_lazy(
        "Your answers from earlier visits are saved. There is no further visit for you, so there is no code for "
        "this one."
    ),
)
# For who comes again after the text of the consent became another one, and for who does not agree to it.
CONSENT_CHANGED: Words = gettext_lazy("This text has changed since your last visit. Please read it again.")
KEPT_FROM_EARLIER: Words = gettext_lazy(
    "Nothing was stored of this visit. Your answers from earlier visits are kept."
)
# Title and text for who opens a personal link that was revoked.
LINK_REVOKED: tuple[Words, Words] = (
    gettext_lazy("This link no longer works"),
    gettext_lazy("The researchers have revoked it. What you submitted before is kept."),
)
# And on the page of somebody who was at it when it was revoked; it may have been given back since.
LINK_STOPPED: tuple[Words, Words] = (
    gettext_lazy("Your link was revoked"),
    gettext_lazy(
        "What you submitted before is kept. If the researchers restore your link, open it again and "
        "continue where you stopped."
    ),
)
# What to do then.
LINK_TODO: Words = gettext_lazy("If you did not expect this, ask whoever sent you the link.")
# Title and text for who comes without the id that the study's platform gives everybody.
NO_ID: tuple[Words, Words] = (
    gettext_lazy("This link is incomplete"),
    gettext_lazy("It does not say who you are, so you could not be paid or credited."),
)
# And with what the platform was to replace by it.
PLACEHOLDER: tuple[Words, Words] = (
    gettext_lazy("This link does not say who you are"),
    gettext_lazy(
        "In the place of your id it holds a placeholder, which was never filled in, so you could not be paid or "
        "credited."
    ),
)
NO_ID_TODO: Words = gettext_lazy("Please open the study again from where you found it.")
