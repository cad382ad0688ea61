"""An item of every protocol with long texts, in any language of participants."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from annotator.services.admission.entry import enter
from evaluation.services.studies.launch import launch_study
from tests import protocol_factories as make
from tests.browser import material
from tests.browser.test_screens import ITEMS_ONLY, PANEL
from tests.evaluation.dumps import build
from tests.rehearsal import own_forms

SENTENCES = (
    "Most of what is known of this comes from people who were watched for many years.",
    "What holds for a group need not hold for anybody in it.",
    "Whoever wants to be sure measures it at home, twice a day, and writes it down.",
    "In the second week the numbers fall; after a month they are what they were before.",
    "Doctors say so too, though not all of them, and not for everybody.",
)
PROMPT = (
    "I keep a list of what I drink, and a **small script** that adds it up:\n\n"
    "```python\ndef cups(day):\n    if day.weekend:\n        return 3\n    return 1\n```\n\n"
    "- It counts espresso as half a cup.\n- It leaves tea out.\n\n"
)


def long_text(about: str, length: int = 3_000) -> str:
    """Paragraphs of that many characters, one way or the other."""
    text, number = about, 0
    while len(text) < length:
        text += ("\n\n" if number % 6 == 5 else " ") + SENTENCES[number % len(SENTENCES)]
        number += 1
    return text[:length]


def pairwise(
    arm: dict[str, Any],
    *,
    grades: int = 0,
    asked: str = "Is coffee good for you?",
    texts: tuple[str, str] = (long_text("Coffee is fine."), long_text("Coffee is not fine.")),
    language: str = "en",
) -> str:
    study = material.make_draft(
        "long", arms=(arm,), steps=ITEMS_ONLY, items_per_participant=2, language=language
    )
    if grades:
        study.questions.filter(key="preference").update(options={"form": {"points": grades}})
    for n in range(2):
        material.add_item(study, study.arms.get(), f"long-{n}", asked, texts)
    return _entered(make.launch(study))


def _entered(study: Any) -> str:
    participant = enter(study, PANEL)
    return f"/p/{participant.token}/"


def _protocol(
    name: str,
    systems: tuple[str, ...],
    texts: tuple[str, ...],
    language: str,
    *,
    asked: str = "How do I start a garden?",
    **fields: Any,
) -> str:
    study = make.make_protocol_draft(name, "long", systems=systems, language=language)
    for n in range(2):
        make.add_protocol_item(study, f"long-{n}", asked, texts, **fields)
    return _entered(make.launch(study))


def aspects(language: str = "en", **fields: Any) -> str:
    texts = tuple(long_text(f"Answer {n} says so.") for n in range(1, 5))
    systems = ("aspen", "birch", "cedar", "dogwood")
    return _protocol("aspects", systems, texts, language, documents=make.DOCUMENTS, **fields)


def answer_pairs(language: str = "en") -> str:
    texts = (long_text("a raised bed"), long_text("I want a raised bed."))
    more = {
        "information_need": "How to build a raised bed.",
        "clarifying_question": "Which kind of bed do you mean?",
    }
    return _protocol("answer_pairs", ("people", "simulated"), texts, language, **more)


def relevance(language: str = "en") -> str:
    return _protocol(
        "relevance", ("aspen",), (long_text("Take a bed."),), language, follow_ups=make.ATTRIBUTES
    )


def relevance_of_one(language: str = "en") -> str:
    follow_ups = [make.ATTRIBUTES[0] | {"answer": "Nothing"}]
    return _protocol("relevance", ("aspen",), (long_text("Take a bed."),), language, follow_ups=follow_ups)


def question_quality(language: str = "en") -> str:
    return _protocol("question_quality", ("aspen",), (long_text("Which bed?"),), language)


def justification_coding(language: str = "en") -> str:
    return _protocol("justification_coding", ("people",), (long_text("It is better."),), language)


def ranking(language: str = "en") -> str:
    texts = tuple(long_text(f"Question {n}?") for n in range(3))
    return _protocol("ranking", ("aspen", "birch", "cedar"), texts, language)


def context_validation(language: str = "en") -> str:
    asked = [
        {"question": long_text("Which soil?"), "answers": ["Clay", "Sand", "Chalk"]},
        *make.COFFEE_QUESTIONS,
    ]
    return _protocol("context_validation", (), (), language, follow_ups=asked)


def condition_calibration(language: str = "en") -> str:
    participant = enter(make.make_condition_calibration_study(language=language), PANEL)
    return f"/p/{participant.token}/"


def _own(header: dict[str, Any], item: dict[str, Any], language: str) -> str:
    header = json.loads(json.dumps(header))
    header["spec"]["language"] = language
    with TemporaryDirectory() as folder:
        study = build.read_in(build.write(Path(folder) / "own.jsonl", header, item), slug="own")
    study.steps, study.items_per_participant = {"consent": False}, 1
    study.save()
    launch_study(study)
    return _entered(study)


def own_summaries(language: str = "en") -> str:
    """Summaries of a document, each with scales of its own."""
    item = own_forms.article(1, document=long_text("It rained in Hallow.", 6_000))
    for response in item["responses"]:
        response["text"] = long_text(response["text"])
    return _own(own_forms.header(own_forms.aspect_rows(), own_forms.SUMMARIES), item, language)


def own_turns(language: str = "en") -> str:
    """Two conversations side by side, with questions of every turn."""
    item = own_forms.conversation(1)
    for response in item["responses"]:
        response["turns"] = [long_text(text, 1_500) for text in response["turns"]]
    return _own(own_forms.header(own_forms.turn_rows(), own_forms.PAIRS), item, language)


# By its name: a function that makes an item of it, in a language, and says where its page is.
PROTOCOLS: dict[str, Callable[[str], str]] = {
    "pairwise": lambda language: pairwise(material.WITHOUT, language=language),
    "pairwise_long_prompt": lambda language: pairwise(
        material.WITHOUT, asked=long_text(PROMPT, 1_400), language=language
    ),
    "pairwise_with_context": lambda language: pairwise(material.WITH, language=language),
    "pairwise_graded": lambda language: pairwise(material.WITHOUT, grades=7, language=language),
    "aspects": aspects,
    "answer_pairs": answer_pairs,
    "relevance": relevance,
    "relevance_of_one": relevance_of_one,
    "question_quality": question_quality,
    "justification_coding": justification_coding,
    "context_validation": context_validation,
    "ranking": ranking,
    "condition_calibration": condition_calibration,
    "own_summaries": own_summaries,
    "own_turns": own_turns,
}
