"""Four prompt conditions of one judge: with and without the guideline, with and without worked examples.

Of the prompts that HREF compares (section 5.2, Table 6) they are A, the guideline with its examples, and C, the
guideline alone; B and D have examples and a prompt of AlpacaEval's, and are judges of their own.
"""

from typing import Any

from django.db import transaction

from evaluation.refusals import FieldsRefused
from evaluation.services.history import log_action, server_account
from judging.backends import CHAT
from judging.models import Judge
from judging.services.judges import FIELDS, new_judge

# {what the judge's name gets: (with the guideline, with examples)}
CONDITIONS = {
    "basic": (False, False),
    "examples": (False, True),
    "guideline": (True, False),
    "guideline-examples": (True, True),
}


def has_conditions(judge: Judge) -> bool:
    """True of judges whose prompt has a guideline and worked examples."""
    return judge.backend == CHAT.key


def create_conditions(judge: Judge, *, demonstrations: int, user: Any = None) -> list[Judge]:
    """Four judges with the settings of one, NAME-basic to NAME-guideline-examples, all or none.

    `user` is the member who asks, None whoever runs the server.
    """
    if not has_conditions(judge):
        raise FieldsRefused({"backend": ["Prompt conditions are of judges by chat completions."]})
    if demonstrations < 1:
        raise FieldsRefused({"options.demonstrations": ["Conditions with examples need at least one."]})
    fields = {name: getattr(judge, name) for name in FIELDS if name not in ("name", "options")}
    with transaction.atomic():
        made = [
            new_judge(
                judge.study,
                user=user,
                name=f"{judge.name}-{condition}",
                options={
                    **judge.options,
                    "without_guideline": not guideline,
                    "demonstrations": demonstrations if examples else 0,
                },
                **fields,
            )
            for condition, (guideline, examples) in CONDITIONS.items()
        ]
        said = f"Created the prompt conditions of {judge}: {', '.join(map(str, made))}."
        log_action(study=judge.study, by=user or server_account(), message=said)
    return made
