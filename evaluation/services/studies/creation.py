"""Creation of a study, with its owner."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import translation

from evaluation.models import Arm, Attribute, Question, Study, StudyMember, Text
from evaluation.protocols import Protocol, get_protocol
from evaluation.protocols.attributes import Attributes

# ContextEval section 4.1.
PAPER_ARMS = (
    {"key": "NoCtxGen-NoCtxEval", "label": "No context"},
    {"key": "NoCtxGen-CtxEval", "label": "Context at judging", "context_at_judging": True},
    {
        "key": "CtxGen-CtxEval",
        "label": "Context throughout",
        "context_at_generation": True,
        "context_at_judging": True,
    },
)


def create_study(*, slug: str, title: str, protocol: str, owner: Any = None, **fields: Any) -> Study:
    """A draft with the protocol's questions and texts, ready to be edited; arms are added by who fills it."""
    described = get_protocol(protocol)
    with transaction.atomic():
        study = Study(slug=slug, title=title, protocol=protocol, **fields)
        study.full_clean()
        study.save()
        Question.objects.bulk_create(
            Question(study=study, position=position, **question)
            for position, question in enumerate(first_questions(described, study.language))
        )
        Text.objects.bulk_create(
            Text(study=study, key=key, body=body)
            for key, body in first_texts(described, study.language).items()
        )
        write_attributes(study, [attribute.as_json() for attribute in described.default_attributes()])
        if owner is not None:
            StudyMember.objects.create(study=study, user=owner, role=StudyMember.Role.OWNER)
    return study


def first_questions(protocol: Protocol, language: str) -> list[dict[str, Any]]:
    """The questions that a study of this language begins with; what the catalogues lack of them is in English."""
    with translation.override(language):
        return [_translated(question.as_json()) for question in protocol.default_questions()]


def first_texts(protocol: Protocol, language: str) -> dict[str, str]:
    with translation.override(language):
        return {key: translation.gettext(body) for key, body in protocol.default_texts().items()}


def _translated(question: dict[str, Any]) -> dict[str, Any]:
    words = {name: translation.gettext(question[name]) for name in ("prompt", "help") if question[name]}
    labels = {
        value: translation.gettext(label) if label and isinstance(label, str) else label
        for value, label in question["options"].items()
    }
    return question | words | {"options": labels}


def add_arms(study: Study, arms: Any = PAPER_ARMS) -> list[Arm]:
    return [Arm.objects.create(study=study, position=position, **arm) for position, arm in enumerate(arms)]


def write_questions_and_texts(study: Study, spec: Mapping[str, Any]) -> None:
    """Replace the study's questions and texts by those of a spec, in its order."""
    study.questions.all().delete()
    Question.objects.bulk_create(
        Question(study=study, position=n, **each) for n, each in enumerate(spec["questions"])
    )
    study.texts.all().delete()
    Text.objects.bulk_create(Text(study=study, key=key, body=body) for key, body in spec["texts"].items())


def write_attributes(study: Study, attributes: Attributes) -> None:
    """Replace the study's attributes by those of a spec, in its order."""
    study.attributes.all().delete()
    Attribute.objects.bulk_create(
        Attribute(study=study, position=n, **each) for n, each in enumerate(attributes)
    )
