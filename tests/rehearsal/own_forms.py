"""Two designs that no protocol was made for: summaries of a document, and conversations compared turn by turn."""

from tests.evaluation.dumps import build

ASPECTS = {
    "coherence": "Does it hang together from its first sentence to its last?",
    "consistency": "Does it say only what the document says?",
    "fluency": "Is each sentence well formed?",
    "relevance": "Does it pick what matters in the document?",
}
SUMMARIES = {"query": False, "least": 2, "most": 4, "document": "News article"}
PAIRS = {"query": True, "least": 2, "most": 2, "document": ""}


def aspect_rows():
    """The questions of the summaries, as a file has them."""
    return [
        {
            "key": key,
            "kind": "scale",
            "prompt": key.capitalize(),
            "help": help,
            "options": {"1": "Poor", "5": "Excellent", "form": {"over": "response", "low": 1, "high": 5}},
        }
        for key, help in ASPECTS.items()
    ]


def turn_rows():
    """The questions of the conversations: a vote per turn, one over the whole, and what is wrong with a reply."""
    return [
        {
            "key": "vote",
            "kind": "preference",
            "prompt": "Which reply is better?",
            "options": {"form": {"over": "turn"}},
        },
        {
            "key": "flaw",
            "kind": "choice",
            "prompt": "What is wrong with it?",
            "required": False,
            "options": {
                "none": "Nothing",
                "wrong": "Wrong",
                "form": {"over": "turn.response", "choices": ["none", "wrong"]},
            },
        },
        {"key": "preference", "kind": "preference", "prompt": "Which conversation is better?"},
    ]


def claim_row():
    """A question of every claim that a response makes."""
    return {
        "key": "true",
        "kind": "checklist",
        "prompt": "Is it true?",
        "options": {"form": {"over": "claim"}},
    }


def fact_rows():
    """Two questions of every fact that a response states, and the shares that follow from them."""
    options = {"yes": "Yes", "no": "No", "unsure": "Can't say"}
    return [
        {
            "key": "relevant",
            "kind": "checklist",
            "prompt": "Is it relevant?",
            "options": {"form": {"over": "claim"}},
        },
        {
            "key": "correct",
            "kind": "choice",
            "prompt": "Is it correct?",
            "required": False,
            "options": options | {"form": {"over": "claim", "choices": list(options)}},
        },
    ]


PRECISION = {
    "key": "precision",
    "label": "Precision of relevant facts",
    "of": {"question": "correct", "values": ["yes"]},
    "among": {"question": "relevant", "values": ["yes"]},
}
SUPPORT = {
    "key": "support",
    "label": "Correct where somebody could say",
    "of": {"question": "correct", "values": ["yes"]},
    "among": {"question": "correct", "values": ["yes", "no"]},
}


def header(rows, needs, **changes):
    spec = {"protocol": "custom", "title": "Own", "questions": rows, "needs": needs, "arms": [build.ARM]}
    return {"assay": 1, "spec": spec | {"steps": {"consent": False}}, **changes}


def article(number, systems=("aspen", "birch"), document="", **changes):
    text = f"The council of town {number} met on **Tuesday**.\n\nIt voted for the bridge."
    return {
        "key": f"a{number}",
        "arm": "plain",
        "query": {
            "key": f"d{number}",
            "text": "",
            "document": document or text,
        },
        "responses": [
            {"system": system, "text": f"The council of town {number} voted. {'It met. ' * place}"}
            for place, system in enumerate(systems)
        ],
        **changes,
    }


def conversation(number, **changes):
    said = [f"How do I boil {number} eggs?", "And if I live on a mountain?"]
    return {
        "key": f"c{number}",
        "arm": "plain",
        "query": {
            "key": f"t{number}",
            "turns": [{"role": "user", "text": text} for text in said],
        },
        "responses": [
            {"system": "aspen", "turns": [f"Seven minutes for {number}.", "Longer."]},
            {"system": "birch", "turns": ["Ten minutes.", "Boil them for two minutes longer."]},
        ],
        **changes,
    }
