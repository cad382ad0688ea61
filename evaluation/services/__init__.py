"""Writes. Every change of the domain's data goes through here; reads live in `selectors`."""

from evaluation.services.answers import load_answers
from evaluation.services.exclusions import AlreadyExcluded, exclude, restore
from evaluation.services.judgments import JudgmentInput, record_judgments, revise_judgment
from evaluation.services.studies.creation import PAPER_ARMS, add_arms, create_study
from evaluation.services.studies.duplication import duplicate_study
from evaluation.services.studies.freeze import (
    assign_orders,
    compute_study_hash,
    freeze_item,
    freeze_items,
    freeze_spec,
    set_stimulus,
)
from evaluation.services.studies.items import open_items, withdraw_item
from evaluation.services.studies.launch import (
    close_study,
    launch_advice,
    launch_cautions,
    launch_problems,
    launch_study,
    pause_study,
    resume_study,
)
from evaluation.services.studies.revision import Change, RevisionPlan, plan_revision, revise_study
from evaluation.services.studies.verification import verify_study

__all__ = [
    "PAPER_ARMS",
    "AlreadyExcluded",
    "Change",
    "JudgmentInput",
    "RevisionPlan",
    "add_arms",
    "assign_orders",
    "close_study",
    "compute_study_hash",
    "create_study",
    "duplicate_study",
    "exclude",
    "freeze_item",
    "freeze_items",
    "freeze_spec",
    "launch_advice",
    "launch_cautions",
    "launch_problems",
    "launch_study",
    "load_answers",
    "open_items",
    "pause_study",
    "plan_revision",
    "record_judgments",
    "restore",
    "resume_study",
    "revise_judgment",
    "revise_study",
    "set_stimulus",
    "verify_study",
    "withdraw_item",
]
