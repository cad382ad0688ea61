"""Juries: judges of several personas or models, made in one act with the same settings otherwise."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from evaluation.counting import counted
from evaluation.models import Study
from evaluation.refusals import FieldsRefused
from evaluation.services.history import log_action, server_account
from judging.backends import CHAT
from judging.models import Combination, Judge, Jury
from judging.services.endpoints.access import offered_endpoints
from judging.services.judges import FIELDS, new_judge


@dataclass(frozen=True)
class Persona:
    """One member of a jury: how it differs from the others."""

    name: str
    temperature: float
    text: str
    # A model of its own, and the name of the endpoint where it is asked; '' for the jury's.
    model: str = ""
    endpoint: str = ""


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
# What belongs to the model of a judge, and to no other.
OF_MODEL = {"own_system": "", "own_family": "", "price_prompt": None, "price_completion": None}


# A model's name may have a colon in it, but no space; a text stands after a colon.
MEMBER = re.compile(
    r"(?P<name>[^=]*)=\s*(?P<temperature>[^\s:]+)"
    r"(?:\s+by\s+(?P<model>\S+?)(?:\s*@\s*(?P<endpoint>[\w-]+)(?=\s*$|\s*:)|(?=\s*$|:\s|\s+:)))?"
    r"\s*(?::(?P<text>.*))?"
)
FORM = "NAME=TEMPERATURE, and if need be by MODEL @ ENDPOINT, and :TEXT"


def read_persona(line: str) -> Persona:
    """A member from NAME=TEMPERATURE [by MODEL [@ ENDPOINT]][:TEXT]; without a text it is that of the usual one so
    named."""
    found = MEMBER.fullmatch(line.strip())
    known = {each.name: each.text for each in PERSONAS}
    try:
        if found is None:
            raise ValueError
        name, temperature = found["name"].strip(), float(found["temperature"])
    except ValueError:
        raise ValueError(f"{line}: a member is {FORM}.") from None
    text = (found["text"] or "").strip() or known.get(name, "")
    return Persona(name, temperature, text, found["model"] or "", found["endpoint"] or "")


def jury_like(
    judge: Judge, *, name: str, user: Any = None, combination: str, personas: Sequence[Persona]
) -> Jury:
    """A jury whose members have the settings of a judge."""
    fields = {field: getattr(judge, field) for field in FIELDS if field not in ("name", "temperature")}
    return create_jury(
        judge.study, name=name, user=user, combination=combination, personas=personas, **fields
    )


def create_jury(study: Study, *, user: Any = None, **fields: Any) -> Jury:
    """A jury as `new_jury` makes it. `user` is the member who asks, None whoever runs the server."""
    with transaction.atomic():
        jury = new_jury(study, user=user, **fields)
        said = f"Created {jury} of {counted(jury.judges.count(), 'judge')}."
        log_action(study=study, by=user or server_account(), message=said)
    return jury


def new_jury(
    study: Study,
    *,
    name: str,
    user: Any = None,
    combination: str = Combination.MAJORITY,
    personas: Sequence[Persona] = PERSONAS,
    **fields: Any,
) -> Jury:
    """A jury with a judge of each persona, NAME-PERSONA; `fields` are those of the judges, the same for all but what a
    persona has of its own."""
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
    own, unknown = _own_models(study, personas, user)
    if unknown:
        problems.setdefault("personas", []).extend(unknown)
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
            new_judge(
                study, user=user, jury=jury, name=f"{name}-{persona.name}",
                **{**fields, **own[persona.name], "temperature": persona.temperature,
                   "options": {**fields.get("options", {}), "persona": persona.text}},
            )  # fmt: skip
    return jury


def _own_models(
    study: Study, personas: Sequence[Persona], user: Any
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """By persona, the settings of a model of its own, and why some can't be, as sentences."""
    offered = {each.name: each for each in offered_endpoints(study, user)}
    found: dict[str, dict[str, Any]] = {}
    problems = []
    for each in personas:
        found[each.name] = {**OF_MODEL, "model": each.model} if each.model else {}
        if each.endpoint in offered:
            found[each.name]["endpoint"] = offered[each.endpoint]
        elif each.endpoint:
            problems.append(f"{each.name}: there is no endpoint {each.endpoint!r} for this study.")
    return found, problems
