"""The judges' tables."""

from judging.models.anchor import AnchorSchedule
from judging.models.batch import BatchState, CallBatch
from judging.models.call import Call, CallState
from judging.models.endpoint import Endpoint, Trust
from judging.models.generation import GenerationUnit, PipelineRun, Product
from judging.models.judge import Judge, Orders, Rationale, SelfPreference, Verdict
from judging.models.judge_run import Half, JudgeRun, Purpose
from judging.models.jury import Combination, Jury
from judging.models.ledger import BudgetHold, LedgerEntry, ModelPrice, Spending, StudyBudget
from judging.models.run import ACTIVE, Run, RunGroup, RunState, WorkKind
from judging.models.validation import JudgeValidation

__all__ = [
    "ACTIVE",
    "AnchorSchedule",
    "BatchState",
    "BudgetHold",
    "Call",
    "CallBatch",
    "CallState",
    "Combination",
    "Endpoint",
    "GenerationUnit",
    "Half",
    "Judge",
    "JudgeRun",
    "JudgeValidation",
    "Jury",
    "LedgerEntry",
    "ModelPrice",
    "Orders",
    "PipelineRun",
    "Product",
    "Purpose",
    "Rationale",
    "Run",
    "RunGroup",
    "RunState",
    "SelfPreference",
    "Spending",
    "StudyBudget",
    "Trust",
    "Verdict",
    "WorkKind",
]
