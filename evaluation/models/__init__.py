"""The domain's tables."""

from evaluation.models.api import ApiRequest, ApiToken
from evaluation.models.erasure import Erasure
from evaluation.models.installation_key import InstallationKey
from evaluation.models.invitation import StudyInvitation
from evaluation.models.item import Context, Item, ItemResponse, Query, Response, Role, System
from evaluation.models.item_tally import ItemTally, StaleItem
from evaluation.models.job import Job
from evaluation.models.judgment import (
    Answer,
    AnswerLayout,
    AnswerText,
    Exclusion,
    ItemFlag,
    Judgment,
    Outcome,
    Rater,
    new_pseudonym,
)
from evaluation.models.leaderboard import PublishedLeaderboard
from evaluation.models.note import Note
from evaluation.models.progress import Progress
from evaluation.models.saved_table_map import SavedTableMap
from evaluation.models.saved_view import SavedView
from evaluation.models.study import (
    Arm,
    ArmPer,
    Attribute,
    CachedReport,
    GoingBack,
    Import,
    Language,
    OncePer,
    Question,
    RenderAs,
    Revision,
    Seal,
    Status,
    Study,
    StudyMember,
    Text,
)
from evaluation.models.upload import Upload
from evaluation.models.webhook import StudyWebhook

__all__ = [
    "Answer",
    "AnswerLayout",
    "AnswerText",
    "ApiRequest",
    "ApiToken",
    "Arm",
    "ArmPer",
    "Attribute",
    "CachedReport",
    "Context",
    "Erasure",
    "Exclusion",
    "GoingBack",
    "Import",
    "InstallationKey",
    "Item",
    "ItemFlag",
    "ItemResponse",
    "ItemTally",
    "Job",
    "Judgment",
    "Language",
    "Note",
    "OncePer",
    "Outcome",
    "Progress",
    "PublishedLeaderboard",
    "Query",
    "Question",
    "Rater",
    "RenderAs",
    "Response",
    "Revision",
    "Role",
    "SavedTableMap",
    "SavedView",
    "Seal",
    "StaleItem",
    "Status",
    "Study",
    "StudyInvitation",
    "StudyMember",
    "StudyWebhook",
    "System",
    "Text",
    "Upload",
    "new_pseudonym",
]
