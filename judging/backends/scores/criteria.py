"""Criteria that responses can be scored by, and the ranges of the scores."""

# {key: (label, text)}.
CRITERIA = {
    "helpfulness": (
        "helpfulness",
        "How well the response serves the person who asked: it does what was asked for, at a depth and in a form that "
        "they can use.",
    ),
    "accuracy": (
        "accuracy",
        "How correct the response is in what it states. A false statement weighs more the more depends on it. Where "
        "references or documents are given, they decide; what they don't mention is not wrong for that.",
    ),
    "completeness": (
        "completeness",
        "How fully the response covers what was asked for: every part of the request, and whatever the person would "
        "otherwise have to ask next.",
    ),
    "relevance": (
        "relevance",
        "How closely the response keeps to what was asked for. Digressions, padding and repetition lower it, however "
        "true they are.",
    ),
    "clarity": (
        "clarity",
        "How easy the response is to follow: well ordered, consistent in itself, in plain words, with nothing vague "
        "or ambiguous.",
    ),
}
OWN = "own"
# {key: the scores that can be given}.
RANGES = {
    "1-5": ("1", "2", "3", "4", "5"),
    "0-1": ("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"),
}
