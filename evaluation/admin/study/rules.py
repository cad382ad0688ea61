"""Form fields for rules that a study stores as JSON: steps, skips and completion codes."""

from collections.abc import Mapping
from typing import Any

from django import forms

from evaluation.extension import extensions
from evaluation.models import Study
from evaluation.models.study import default_skips, default_steps

ON_OFF = ("consent", "instructions", "training", "comments")
# Outcomes of a participant's way, each of which a panel may have a code for.
CODES = {
    "completed": "Completed",
    "no_consent": "No consent",
    "failed_qualification": "Failed qualification",
    "failed_attention": "Failed attention checks",
    "full": "Study full",
    "withdrawn": "Withdrawn",
    "returned": "Returned",
    "timed_out": "Timed out",
}


def codes_lock_reason(study: Study) -> str:
    """The reason why the study's codes can no longer be changed, from whoever already uses them; usually empty."""
    return next((why for each in extensions() if (why := each.codes_lock_reason(study))), "")


def _number(label: str, help_text: str, low: int) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, help_text=help_text, min_value=low, max_value=10_000, required=False
    )


def _tick(label: str, help_text: str) -> forms.BooleanField:
    return forms.BooleanField(label=label, help_text=help_text, required=False)


class StepsForm(forms.Form):
    """The steps of a participant's way and the rules of skipping: `initial_steps` in, `steps_of` and `skips_of` out."""

    step_consent = _tick("Consent", "Participants read the consent text and agree before anything else.")
    step_instructions = _tick("Instructions", "A page with the instructions and the guideline.")
    step_training = _tick("Training", "The study's training items, each with feedback from its gold answers.")
    step_comments = _tick("Comments", "A field for comments at the end.")
    qualification_pass_mark = _number(
        "Qualification: pass mark",
        "The number of qualification items to get right to continue. Empty: no qualification.",
        1,
    )
    qualification_attempts = _number(
        "Qualification: attempts",
        "The number of attempts, each with all items. Empty: one. Panels ask for two at a comprehension "
        "check.",
        1,
    )
    attention_checks = _number(
        "Attention checks", "The number of checks mixed into each participant's items. Empty: none.", 1
    )
    attention_allowed_failures = _number(
        "Allowed attention failures",
        "More failed checks than this end the visit. Empty: they never do.",
        0,
    )
    attention_warn = _tick(
        "Warn after a failed check", "Participants are told about a failed check and asked to read carefully."
    )
    skips_per_participant = _number(
        "Skips per participant", "The number of items that a participant may skip.", 0
    )
    skips_flag_after = _number(
        "Flag an item after (skips)",
        "Items skipped this often are flagged for you to review. Empty: never.",
        0,
    )

    STEP_FIELDS = (
        *(f"step_{name}" for name in ON_OFF),
        ("qualification_pass_mark", "qualification_attempts"),
        ("attention_checks", "attention_allowed_failures"),
        "attention_warn",
    )
    SKIP_FIELDS = (("skips_per_participant", "skips_flag_after"),)

    @staticmethod
    def initial_steps(steps: Mapping[str, Any], skips: Mapping[str, Any]) -> dict[str, Any]:
        qualification, attention = steps.get("qualification") or {}, steps.get("attention") or {}
        return {
            **{f"step_{name}": bool(steps.get(name)) for name in ON_OFF},
            "qualification_pass_mark": qualification.get("pass_mark"),
            "qualification_attempts": qualification.get("attempts"),
            "attention_warn": bool(attention.get("warn")),
            "attention_checks": attention.get("checks", 1) if attention else None,
            "attention_allowed_failures": attention.get("allowed_failures"),
            "skips_per_participant": skips.get("per_participant", 0),
            "skips_flag_after": skips.get("flag_after"),
        }

    @staticmethod
    def steps_of(data: Mapping[str, Any]) -> dict[str, Any]:
        mark, checks = data.get("qualification_pass_mark"), data.get("attention_checks")
        # What is left at its default is left out: so steps are the same as those that were written before it was there.
        attempts = {"attempts": data["qualification_attempts"]} if data.get("qualification_attempts") else {}
        warn = {"warn": True} if data.get("attention_warn") else {}
        allowed = data.get("attention_allowed_failures")
        return {
            **default_steps(),
            **{name: bool(data.get(f"step_{name}")) for name in ON_OFF},
            "qualification": {"pass_mark": mark, **attempts} if mark else None,
            "attention": {"checks": checks, "allowed_failures": allowed, **warn} if checks else None,
        }

    @staticmethod
    def skips_of(data: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **default_skips(),
            "per_participant": data.get("skips_per_participant") or 0,
            "flag_after": data.get("skips_flag_after"),
        }


class CodesForm(forms.Form):
    """One code per outcome."""

    code_completed = forms.CharField(label=CODES["completed"], max_length=40, required=False)
    code_no_consent = forms.CharField(label=CODES["no_consent"], max_length=40, required=False)
    code_failed_qualification = forms.CharField(
        label=CODES["failed_qualification"], max_length=40, required=False
    )
    code_failed_attention = forms.CharField(label=CODES["failed_attention"], max_length=40, required=False)
    code_full = forms.CharField(label=CODES["full"], max_length=40, required=False)
    code_withdrawn = forms.CharField(label=CODES["withdrawn"], max_length=40, required=False)
    code_returned = forms.CharField(label=CODES["returned"], max_length=40, required=False)
    code_timed_out = forms.CharField(label=CODES["timed_out"], max_length=40, required=False)

    def clean(self) -> dict[str, Any]:
        """Check that each outcome has its own code, by which the panel pays; locked codes stay as they are."""
        data: dict[str, Any] = super().clean() or {}
        first: dict[str, str] = {}
        for outcome, label in CODES.items():
            name = f"code_{outcome}"
            code = (data.get(name) or "").strip()
            if not code or self.fields[name].disabled:
                continue
            if code in first:
                self.add_error(name, f"This is the code of “{first[code]}” too; each outcome needs its own.")
            first.setdefault(code, label)
        return data

    @staticmethod
    def initial_codes(codes: Mapping[str, Any]) -> dict[str, Any]:
        return {f"code_{name}": codes.get(name, "") for name in CODES}

    @staticmethod
    def codes_of(data: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        """Codes of other outcomes stay as they are."""
        kept = {name: code for name, code in before.items() if name not in CODES}
        given = {name: (data.get(f"code_{name}") or "").strip() for name in CODES}
        return kept | {name: code for name, code in given.items() if code}


CODE_FIELDS = (
    ("code_completed", "code_full"),
    ("code_no_consent", "code_withdrawn"),
    ("code_failed_qualification", "code_failed_attention"),
    ("code_returned", "code_timed_out"),
)
