"""The form of a question by the words it begins with.

Source: AGENT-CQ (section 4.1, appendix D.1) matches the question word first, then the words behind it; its list is not
published. The forms here are told by the first word of the last sentence that ends with a question mark or, where a
text has no mark that ends a sentence, as in ClariQ, of the text.
"""

from __future__ import annotations

import re

from analytics.statistics.texts.readability import WORD

# Begun at sentences alone: from every letter it would take the square of the time.
QUESTION = re.compile(r"(?:^|(?<=[.!?]))[^.!?]*\?")
END = re.compile(r"[.!?]")
FORMS: dict[str, tuple[str, ...]] = {
    "what": ("what", "what's"),
    "which": ("which",),
    "how": ("how",),
    "who, where, when": ("who", "whom", "whose", "where", "when"),
    "why": ("why",),
    "are you, is it": ("are", "is", "was", "were", "am"),
    "do you, have you": ("do", "does", "did", "have", "has", "had"),
    "would you, can you": ("would", "could", "can", "should", "will", "may", "might", "shall", "must"),
}
OTHER, NO_QUESTION = "another beginning", "no question"
OPENINGS = (*FORMS, OTHER, NO_QUESTION)
BY_WORD = {word: form for form, words in FORMS.items() for word in words}


def opening_of(text: str) -> str:
    """One of OPENINGS; of several questions the last one's, which mostly is the one that is asked.

    Where the question begins otherwise, as in "For your trip, which ...", the first question word after a comma counts.
    A text without full stops, question or exclamation marks is a question if it begins as one does.
    """
    questions = QUESTION.findall(text)
    if not questions and END.search(text):
        return NO_QUESTION
    asked, otherwise = (questions[-1], OTHER) if questions else (text, NO_QUESTION)
    parts = [WORD.findall(part.lower()) for part in asked.split(",")]
    first = [words[0].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for words in parts if words]
    return next((BY_WORD[word] for word in first if word in BY_WORD), otherwise)
