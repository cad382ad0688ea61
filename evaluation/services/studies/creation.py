"""Creation of a study, with its owner."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.admin.models import ADDITION
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import translation

from evaluation.models import Arm, Attribute, Language, Question, Study, StudyMember, Text
from evaluation.protocols import Protocol, QuestionSpec, get_protocol
from evaluation.protocols.attributes import Attributes
from evaluation.protocols.texts import Translate, translate_question
from evaluation.refusals import FieldsRefused
from evaluation.services.history import log_action

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

# The arms that a blank study can begin with, by name: a label, and the arms.
ARMS: dict[str, tuple[str, Any]] = {
    "plain": ("One arm, without context", PAPER_ARMS[:1]),
    "contrast": ("Context contrast: three arms", PAPER_ARMS),
    "context": ("One arm, with context throughout", PAPER_ARMS[2:]),
}


def begin_study(
    *, slug: str, title: str, protocol: str, by: Any, language: str = Language.ENGLISH, arms: str = "plain"
) -> Study:
    """A blank draft of a member's own, with arms; FieldsRefused says by field what can't be."""
    try:
        with transaction.atomic():
            study = create_study(slug=slug, title=title, protocol=protocol, owner=by, language=language)
            add_arms(study, ARMS[arms][1])
            log_action(study=study, by=by, message="Created as a draft.", flag=ADDITION)
    except ValidationError as invalid:
        raise FieldsRefused(invalid.message_dict) from None
    return study


def create_study(*, slug: str, title: str, protocol: str, owner: Any = None, **fields: Any) -> Study:
    """A draft with the protocol's questions and texts, ready to be edited; arms are added by who fills it."""
    described = get_protocol(protocol)
    with transaction.atomic():
        study = Study(slug=slug, title=title, protocol=protocol, **fields)
        if "asker" not in fields:
            study.asker = first_asker(study.language)
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
        write_attributes(study, first_attributes(described, study.language))
        if owner is not None:
            StudyMember.objects.create(study=study, user=owner, role=StudyMember.Role.OWNER)
    return study


def words_in(language: str) -> Translate:
    """Our sentences in that language; what its catalogue lacks stays in English."""

    def say(text: str) -> str:
        with translation.override(language):
            return translation.gettext(text)

    return say


def questions_in(language: str, questions: Iterable[QuestionSpec]) -> list[dict[str, Any]]:
    return [translate_question(question, words_in(language)).as_json() for question in questions]


def texts_in(language: str, texts: Mapping[str, str]) -> dict[str, str]:
    say = words_in(language)
    return {key: body and say(body) for key, body in texts.items()}


def first_questions(protocol: Protocol, language: str) -> list[dict[str, Any]]:
    """The questions that a study of this language begins with."""
    return questions_in(language, protocol.default_questions())


def first_texts(protocol: Protocol, language: str) -> dict[str, str]:
    return texts_in(language, protocol.default_texts())


def first_attributes(protocol: Protocol, language: str) -> list[dict[str, Any]]:
    say = words_in(language)
    return [attribute.translated(say).as_json() for attribute in protocol.default_attributes()]


def first_asker(language: str) -> str:
    """The name that screens give to whoever asked, until the study has its own."""
    return words_in(language)(Study().asker)


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
