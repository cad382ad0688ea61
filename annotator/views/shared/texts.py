"""Texts for participants that are not the study's own: notices, outcomes, and why a study is not open."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from annotator.models import ParticipantOutcome, Step

Words = str | Promise

# After a form that was refused: what is wrong stands with the questions, unless it has been put right meanwhile.
REFUSED = "refused"

NOTICES: dict[str, Words] = {
    "already": gettext_lazy("You had already done that item. This is what comes next."),
    "check-failed": gettext_lazy(
        "One of the items was there to see whether you read with care, and its answer was not right. Please take your "
        "time for the next ones."
    ),
    "late": gettext_lazy(
        "The time for that item had run out and somebody else has judged it. "
        "Your answers are kept and count for your pay."
    ),
    "lost": gettext_lazy("That item is no longer yours to work on. This is what comes next."),
    "more-time": gettext_lazy("You have more time for this item now."),
    "no-skip": gettext_lazy("This item can't be skipped."),
    "shown-again": gettext_lazy("This is what you have filled in so far. Nothing is handed in yet."),
    "skip-stands": gettext_lazy("That skip can't be undone any more. This is what comes next."),
    "try-again": gettext_lazy(
        "That was not quite enough to go on. You can try once more: here are the items again, from the first."
    ),
    "too-large": gettext_lazy(
        "What you filled in was too long, so none of it was kept. Please make it shorter."
    ),
    REFUSED: gettext_lazy(
        "Your answers were not handed in. This is what you have filled in so far; please check it and submit it."
    ),
    "report-enough": gettext_lazy(
        "Your report was not sent: the researchers have five of yours to look at. Please write to them instead."
    ),
    "report-late": gettext_lazy(
        "Your report was not sent: it can only be about the item before you or the one that you submitted last."
    ),
    "nothing-back": gettext_lazy("There is no answer that you can revise."),
    "revised": gettext_lazy("Your answers were revised. This is what comes next."),
    "unsent": gettext_lazy(
        "This item had been submitted already, perhaps in another window. What you filled in here is shown below; it "
        "does not count."
    ),
    "reported": gettext_lazy("Thank you. The researchers will look at the item."),
    "unskipped": gettext_lazy("Here is the item that you had skipped."),
    "round-asked": gettext_lazy(
        "The model is at it. Go on with your own work, and look again in a little while."
    ),
    "round-day_spent": gettext_lazy(
        "The model has been asked as often as it may be today. Your work is kept; go on without it."
    ),
    "round-enough": gettext_lazy("You have asked the model as often as you can for this item."),
    "round-no_instruction": gettext_lazy("Say what the model should do before you ask it."),
    "round-no_model": gettext_lazy("There is no model to ask at the moment."),
    "round-spent": gettext_lazy("You have asked the model as often as you can in this study."),
    "round-study_spent": gettext_lazy(
        "The model has been asked as often as it may be in this study. Your work is kept; go on without it."
    ),
    "round-too_long": gettext_lazy(
        "That instruction is too long for the model. Please say it in fewer words."
    ),
    "round-waiting": gettext_lazy("The model has not answered the last time yet. Please wait for it."),
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
            "Some items check that they are read carefully, and you did not follow the instructions in them. Thank you "
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
        gettext_lazy("Your time for this study ran out. What you did is kept."),
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
            "Whether you can depends on the other studies that you took part in. Nothing about you was stored."
        ),
    ),
    # A further visit after their way had ended: of those who completed it, and of everybody else.
    "done_before": (
        gettext_lazy("You have already done this study"),
        gettext_lazy(
            "You completed it on an earlier visit, and what you did then is kept. It can be done only once, so there "
            "is no code for this visit."
        ),
    ),
    "over_before": (
        gettext_lazy("You can't take part again"),
        gettext_lazy(
            "Your participation ended on an earlier visit, and what you did then is kept. There is no code for this "
            "visit."
        ),
    ),
}
# Title and text for who opens a personal link that was revoked.
LINK_REVOKED: tuple[Words, Words] = (
    gettext_lazy("This link no longer works"),
    gettext_lazy("The researchers have revoked it. What you handed in before is kept."),
)
# And on the page of somebody who was at it when it was revoked; it may have been given back since.
LINK_STOPPED: tuple[Words, Words] = (
    gettext_lazy("Your link was revoked"),
    gettext_lazy(
        "What you handed in before is kept. If the researchers restore your link, open it again, and continue where "
        "you stopped."
    ),
)
# What to do then.
LINK_TODO: Words = gettext_lazy("If you did not expect this, ask whoever sent you the link.")
# Title and text for who comes without the id that the study's platform gives everybody.
NO_ID: tuple[Words, Words] = (
    gettext_lazy("This link is incomplete"),
    gettext_lazy("It does not say who you are, so you could not be paid or credited."),
)
NO_ID_TODO: Words = gettext_lazy("Please open the study again from where you found it.")
