"""The answers that participants may revise, which a study under way can change without a revision."""

from typing import Any

from django.db import transaction

from evaluation.models import Study
from evaluation.services.history import log_action


def set_revisable(study: Study, chosen: str, *, by: Any) -> None:
    """Set it and say so in the history; nothing if it is so already."""
    with transaction.atomic():
        if Study.objects.filter(pk=study.pk).exclude(going_back=chosen).update(going_back=chosen):
            log_action(study=study, by=by, message=f"Revisable answers: {chosen}.")
    study.going_back = chosen
