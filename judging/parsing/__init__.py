"""Strict reading of a judge's reply: whatever is not clearly a verdict is a counted failure, never a verdict.

A reply is read in the very form that was asked for, and in no other: all values, each once, nothing beside them but
the rationale where one was wanted. Words such as "Response 1" in a rationale are words.
"""

from judging.parsing.answers import read_cells
from judging.parsing.labels import read_masses
from judging.parsing.rejection import ReplyRejected, require_answer
from judging.parsing.reply import Reading, read_reply
from judging.parsing.revision import read_revision

__all__ = [
    "Reading",
    "ReplyRejected",
    "read_cells",
    "read_masses",
    "read_reply",
    "read_revision",
    "require_answer",
]
