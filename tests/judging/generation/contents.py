"""A content of a product of every step that the pipelines have, as its step makes it."""

FOLLOW_UP = {"question": "For how many people?", "answers": ["One", "Two"], "rank": 1, "generator": "aspen"}
ENTRIES = [
    {"condition": "The first\nbridge", "answers": ["1849", "In March"], "citations": [1, 3], "reason": ""},
    {"condition": "", "answers": [], "citations": [], "reason": "Said nowhere."},
]
CONTENTS = {
    ("adaptability", "filter"): {
        "attribute": "expertise",
        "important": True,
        "independent": False,
        "well_formed": True,
    },
    ("adaptability", "chosen"): {"attribute": "expertise"},
    ("adaptability", "default"): {"system": "aspen", "text": "A soup.\n\nOf leek."},
    ("adaptability", "adapted"): {
        "system": "aspen",
        "attribute": "expertise",
        "value": "Complete beginner",
        "text": "Boil water.",
    },
    ("clarifying_questions", "facets"): {"facet": "what is in the kitchen"},
    ("clarifying_questions", "facet_questions"): {"question": "What is in your kitchen?"},
    ("clarifying_questions", "varied_questions"): {"question": "What is in your kitchen?"},
    ("clarifying_questions", "baseline_questions"): {"question": "What is in your kitchen?"},
    ("clarifying_questions", "scores"): {
        "question": "Which?",
        "relevance": 7,
        "clarification": 8.5,
        "reason": "",
    },
    ("clarifying_questions", "filtered"): {
        "question": "Which?",
        "score": 7.75,
        "relevance": 7,
        "clarification": 8.5,
        "rank": 1,
    },
    ("condition_drafts", "screening"): {"readings": ["The old one"], "ambiguous": True, "reason": "Two."},
    ("condition_drafts", "fragments"): {
        "fragments": [
            {"number": 1, "title": "Bridge", "text": "Opened in 1849.", "source": ""},
            {"number": 2, "title": "", "text": "Opened in 1903.", "source": "https://example.org"},
        ]
    },
    ("condition_drafts", "drafts"): {"entries": ENTRIES},
    ("condition_drafts", "merged"): {"entries": []},
    ("condition_drafts", "answers"): {"system": "aspen-self", "setting": "self", "entries": ENTRIES[:1]},
    ("contexts", "need"): {"reason": "It leaves much open.", "needed": True, "generator": "aspen"},
    ("contexts", "follow_ups"): FOLLOW_UP,
    ("contexts", "drawn"): FOLLOW_UP,
    ("contexts", "validity"): {"important": {"1": True, "2": False}, "juror": "elm"},
    ("contexts", "kept"): {**FOLLOW_UP, "votes": "2 of 3"},
    ("contexts", "answers"): {**FOLLOW_UP, "answer": "Two"},
    ("query_types", "types"): {"types": ["ambiguous", "subjective"], "reason": "It depends."},
    ("question_categories", "categories"): {
        "question": "Which?",
        "system": "",
        "pattern": "which",
        "purpose": "facet",
        "response_type": "yes_no",
    },
    ("responses", "responses"): {"system": "aspen", "text": "A soup.\r\n\r\n  Of leek.  \n"},
    ("retrieval", "fragments"): {
        "number": 1,
        "id": "f1",
        "title": "Leek",
        "text": "A leek is long.",
        "source": "",
        "score": 3.25,
    },
    ("simulated_answers", "answers"): {"question": "For how many?", "answer": "Two of us."},
}
