"""The states of submissions and acts, by what they mean for pay and places."""

from annotator.models import PanelAct, PanelStatus, ParticipantOutcome

Kind, State = PanelAct.Kind, PanelAct.State
# An act that stands: it will be sent, is being sent or was done. One with an unknown outcome may have been done.
STANDING = (State.INTENDED, State.SENDING, State.DONE, State.UNKNOWN)
# Nobody knows yet how it ends.
UNSETTLED_ACTS = (State.INTENDED, State.SENDING, State.UNKNOWN)
# The panel has yet to decide on the submission, or says something of it that is not understood here.
UNDECIDED = (PanelStatus.RESERVED, PanelStatus.ACTIVE, PanelStatus.AWAITING_REVIEW, PanelStatus.UNKNOWN)
# The panel says that the person is done, whatever it has decided since.
COMPLETE_THERE = (
    PanelStatus.AWAITING_REVIEW,
    PanelStatus.APPROVED,
    PanelStatus.PARTIALLY_APPROVED,
    PanelStatus.REJECTED,
)
PAID = (PanelStatus.APPROVED, PanelStatus.PARTIALLY_APPROVED)
GONE = (PanelStatus.RETURNED, PanelStatus.TIMED_OUT, PanelStatus.SCREENED_OUT)
# The panel gives the place of such a submission to somebody else.
FREED = (*GONE, PanelStatus.REJECTED)
FAILED = (ParticipantOutcome.FAILED_ATTENTION, ParticipantOutcome.FAILED_QUALIFICATION)
