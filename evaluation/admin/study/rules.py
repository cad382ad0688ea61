"""Form fields for rules that a study stores as JSON: steps and skips."""

from collections.abc import Mapping
from typing import Any

from django import forms

from evaluation.models.study import default_skips, default_steps

ON_OFF = ("consent", "instructions", "training", "comments")


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
