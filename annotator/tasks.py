"""Background work of the crowd. A task loads by id and calls a service; it is queued on commit."""

from celery import shared_task
from django.db import transaction

from annotator.services.work.draft_rounds import abandon_round, work_on_round
from evaluation.operations.message_queue import send_message


def queue_round(round_id: int) -> None:
    """Have a model asked, on commit. Somebody waits: where no broker takes the message the round ends and says so."""

    def queue() -> None:
        if not send_message(ask_for_draft, round_id):
            abandon_round(round_id)

    transaction.on_commit(queue, robust=True)


@shared_task
def ask_for_draft(round_id: int) -> None:
    """Ask a model for a revised draft; a second message about the same round changes nothing."""
    work_on_round(round_id)
