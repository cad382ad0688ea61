"""A study as Prolific takes it."""

from collections.abc import Mapping
from typing import Any

from annotator.panels.platforms.api import CompletionCode, StudyDraft

OTHER = "OTHER"
# What Prolific calls the code of each outcome.
CODE_TYPES: Mapping[str, str] = {
    "completed": "COMPLETED",
    "no_consent": "NO_CONSENT",
    "failed_qualification": "SCREENED_OUT",
    "failed_attention": "FAILED_ATTENTION_CHECK",
}


def study_fields(draft: StudyDraft) -> dict[str, Any]:
    """The draft's fields. The reward is in hundredths; the account there has its own currency."""
    fields = {
        "name": draft.name,
        "internal_name": draft.internal_name,
        "description": draft.settings.get("description") or draft.description,
        "external_study_url": draft.address,
        "prolific_id_option": "url_parameters",
        "completion_codes": [_code_field(each) for each in draft.codes],
        "total_available_places": draft.places,
        "estimated_completion_time": draft.minutes,
        "reward": int(draft.pay * 100),
        **(draft.filters.fields if draft.filters is not None else {}),
    }
    if draft.visits > 1:
        fields["submissions_config"] = {"max_submissions_per_participant": draft.visits}
    project = draft.settings.get("project")
    return {**fields, "project": project} if project else fields


def _code_field(code: CompletionCode) -> dict[str, Any]:
    reason = code.return_reason
    action = (
        {"action": "REQUEST_RETURN", "return_reason": reason} if reason else {"action": "MANUALLY_REVIEW"}
    )
    return {
        "code": code.code,
        "code_type": CODE_TYPES.get(code.outcome, OTHER),
        "actions": [action],
        "actor": "participant",
    }
