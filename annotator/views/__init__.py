"""A participant's pages: one action, one view. None of them reads or sets a cookie."""

from annotator.panels.views import panel_hook
from annotator.views.advance import advance, finish_now, visit
from annotator.views.answer_revision import answer_revision, answer_revision_draft
from annotator.views.back import back
from annotator.views.comments import comments
from annotator.views.draft import draft
from annotator.views.entry import entry
from annotator.views.item import item
from annotator.views.page import page
from annotator.views.problem import problem
from annotator.views.revise import revise
from annotator.views.rounds import rounds
from annotator.views.skip import skip
from annotator.views.submit import submit
from annotator.views.unskip import unskip
from annotator.views.withdraw import withdraw

__all__ = [
    "advance",
    "answer_revision",
    "answer_revision_draft",
    "back",
    "comments",
    "draft",
    "entry",
    "finish_now",
    "item",
    "page",
    "panel_hook",
    "problem",
    "revise",
    "rounds",
    "skip",
    "submit",
    "unskip",
    "visit",
    "withdraw",
]
