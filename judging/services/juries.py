"""Juries: judges of several personas, made in one act with the same settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from evaluation.models import Study
from evaluation.refusals import FieldsRefused
from judging.backends import CHAT
from judging.models import Combination, Judge, Jury
from judging.services.judges import FIELDS, create_judge


@dataclass(frozen=True)
class Persona:
    """One member of a jury: how it differs from the others."""

    name: str
    temperature: float
    text: str


PERSONAS = (
    Persona(
        "conservative",
        0.2,
        "You are strict. You keep to what the guideline says, give credit only for what is plainly there, and choose "
        "the lower of two answers where you are in doubt.",
    ),
    Persona(
        "balanced",
        0.5,
        "You are even-handed. You weigh what speaks for and against as most people would, and use the whole range of "
        "answers.",
    ),
    Persona(
        "creative",
        0.7,
        "You are open-minded. You look for what could be of use to somebody, also where it is unusual, and choose the "
        "higher of two answers where you are in doubt.",
    ),
)
FEWEST = 2


def read_persona(line: str) -> Persona:
    """A persona from NAME=TEMPERATURE or NAME=TEMPERATURE:TEXT; without a text it is that of the usual one so named."""
    name, _, rest = line.partition("=")
    temperature, _, text = rest.partition(":")
    known = {each.name: each.text for each in PERSONAS}
    try:
        return Persona(name.strip(), float(temperature), text.strip() or known.get(name.strip(), ""))
    except ValueError:
        raise ValueError(f"{line}: a member is NAME=TEMPERATURE or NAME=TEMPERATURE:TEXT.") from None


def jury_like(
    judge: Judge, *, name: str, user: Any = None, combination: str, personas: Sequence[Persona]
) -> Jury:
    """A jury whose members have the settings of a judge."""
    fields = {field: getattr(judge, field) for field in FIELDS if field not in ("name", "temperature")}
    return create_jury(
        judge.study, name=name, user=user, combination=combination, personas=personas, **fields
    )


def create_jury(
    study: Study,
    *,
    name: str,
    user: Any = None,
    combination: str = Combination.MAJORITY,
    personas: Sequence[Persona] = PERSONAS,
    **fields: Any,
) -> Jury:
    """A jury with a judge of each persona, NAME-PERSONA; `fields` are those of the judges, the same for all."""
    problems: dict[str, list[str]] = {}
    names = [persona.name for persona in personas]
    if len(personas) < FEWEST:
        problems["personas"] = ["A jury has at least two members."]
    if len(set(names)) < len(names):
        problems.setdefault("personas", []).append("Each member of a jury has a name of its own.")
    problems |= {
        field: [f"The members' {field} comes from their personas."]
        for field in ("name", "temperature")
        if field in fields
    }
    if fields.get("backend", CHAT.key) != CHAT.key:
        problems["backend"] = ["Personas are judges by chat completions."]
    jury = Jury(study=study, name=name, combination=combination)
    try:
        jury.full_clean(validate_constraints=False, validate_unique=False, exclude=["study"])
    except ValidationError as invalid:
        problems |= invalid.message_dict
    if problems:
        raise FieldsRefused(problems)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if Jury.objects.filter(study=study, name=name).exists():
            raise FieldsRefused({"name": [f"The study already has a jury {name}."]})
        jury.save()
        for persona in personas:
            create_judge(
                study, user=user, jury=jury, name=f"{name}-{persona.name}",
                **{**fields, "temperature": persona.temperature,
                   "options": {**fields.get("options", {}), "persona": persona.text}},
            )  # fmt: skip
    return jury
