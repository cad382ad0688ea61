"""Presets: the judges of a paper, made by one choice of models. Until they have run, every field can be edited."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from evaluation.models import Item, Query, Role, Study
from evaluation.protocols import Kind
from evaluation.protocols.base import Spec
from evaluation.refusals import FieldsRefused, Refused
from evaluation.registry import Registry
from evaluation.services.history import log_action, server_account
from judging.models import Combination, Endpoint, Judge, Orders, Rationale, SelfPreference
from judging.services.judges import current_spec, heuristic_judge, new_judge
from judging.services.juries import Persona, new_jury

LONGEST_NAME = 80


@dataclass(frozen=True)
class ModelChoice:
    """A model at an endpoint."""

    endpoint: Endpoint
    model: str

    @property
    def slug(self) -> str:
        """The part of a judge's name that says which model it asks."""
        return slugify(self.model.replace(".", "-").replace("/", "-"))[:40] or "model"


# {field of a judge: value}, its name among them.
Fields = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class JudgePreset:
    """The judges of a paper. `judges` gives those of one model, or its jury if it is `as_jury`; `heuristics` are the
    backends of those beside them."""

    key: str
    label: str
    about: str
    judges: Callable[[Study, Spec, ModelChoice], Iterator[Fields]]
    as_jury: bool = False
    heuristics: tuple[str, ...] = ()
    # Why the study is not one for it, as sentences.
    problems: Callable[[Study, Spec], list[str]]
    # Models that the paper has; another number may be chosen.
    models: int = 1


def make_judges(
    study: Study, preset: JudgePreset, models: Sequence[ModelChoice], *, jury: str = "", user: Any = None
) -> list[Judge]:
    """All judges of a preset, or none; Refused says which can't be. With the name of a `jury` the models are its
    members, and count as one rater. `user` is the member who asks, None whoever runs the server."""
    spec = current_spec(study)
    problems = list(preset.problems(study, spec))
    if not models:
        problems.append(f"Choose the models that judge; {preset.label} has {preset.models}.")
    twice = [each for number, each in enumerate(models) if each in models[:number]]
    problems += [f"{each.model} at {each.endpoint} is chosen twice." for each in twice]
    if problems:
        raise Refused(*problems)
    wanted = [fields for choice in models for fields in preset.judges(study, spec, choice)]
    if jury and (preset.as_jury or len(wanted) != len(models)):
        raise Refused(f"The models of {preset.label} are no jury: it has more than one judge of each.")
    made: list[Judge] = []
    with transaction.atomic():
        for fields in [_as_jury(jury, wanted)] if jury else _named_apart(wanted):
            try:
                if jury or preset.as_jury:
                    made += new_jury(study, user=user, **fields).judges.order_by("pk")
                else:
                    made.append(new_judge(study, user=user, **fields))
            except FieldsRefused as refused:
                problems += [
                    f"{fields['name']}: {sentence}" for each in refused.by_field.values() for sentence in each
                ]
        if problems:
            raise Refused(*problems)
        made += [heuristic_judge(study, backend, user=user) for backend in preset.heuristics]
        said = f"Created the judges of {preset.label}: {', '.join(map(str, made))}."
        log_action(study=study, by=user or server_account(), message=said)
    return made


def _named_apart(wanted: Sequence[Fields]) -> Iterator[Fields]:
    """The same model at two endpoints gives two judges of one name: the later ones get a number."""
    times: dict[str, int] = {}
    for fields in wanted:
        name = fields["name"][:LONGEST_NAME]
        times[name] = times.get(name, 0) + 1
        suffix = "" if times[name] == 1 else f"-{times[name]}"
        yield {**fields, "name": name[: LONGEST_NAME - len(suffix)] + suffix}


def _as_jury(name: str, wanted: Sequence[Fields]) -> Fields:
    """The fields of one jury, of which each of these judges is a member."""
    members = [
        Persona(each["name"], each["temperature"], "", each["model"], each["endpoint"].name)
        for each in _named_apart(wanted)
    ]
    shared = {field: value for field, value in wanted[0].items() if field != "temperature"}
    return {**shared, "name": name, "personas": members}


def _of_model(choice: ModelChoice, name: str, **fields: Any) -> Fields:
    return {"name": name, "endpoint": choice.endpoint, "model": choice.model, **fields}


def _has(spec: Spec, kind: str) -> list[str]:
    return [question["key"] for question in spec["questions"] if question["kind"] == kind]


def _preferences_only(study: Study, spec: Spec) -> list[str]:
    return [] if _has(spec, Kind.PREFERENCE) else ["It is for pairs: the study asks for no preference."]


# --- HREF -------------------------------------------------------------------------------------------------------------


def _href_problems(study: Study, spec: Spec) -> list[str]:
    problems = _preferences_only(study, spec)
    if not problems and not Query.objects.filter(study=study).exclude(references=[]).exists():
        problems.append("No query of the study has a human-written reference.")
    return problems


def _href(study: Study, spec: Spec, choice: ModelChoice) -> Iterator[Fields]:
    """HREF sections 2.2 and 4.2: both orders, greedy, without a reason, its own responses judged too."""
    common = {
        "temperature": 0.0,
        "orders": Orders.BOTH,
        "rationale": Rationale.NONE,
        "self_preference": SelfPreference.NONE,
        "questions": _has(spec, Kind.PREFERENCE)[:1],
    }
    yield _of_model(choice, choice.slug, **common)
    yield _of_model(choice, f"{choice.slug}-reference", with_reference=True, **common)


# --- ContextEval ------------------------------------------------------------------------------------------------------


def _contexteval(study: Study, spec: Spec, choice: ModelChoice) -> Iterator[Fields]:
    """ContextEval section 4.4: the form as people fill it in, verdict first; no model judges its own responses."""
    yield _of_model(
        choice,
        choice.slug,
        temperature=0.0,
        orders=Orders.RANDOM,
        rationale=Rationale.AFTER,
        self_preference=SelfPreference.SYSTEM,
    )


# --- AGENT-CQ ---------------------------------------------------------------------------------------------------------

LAST = "overall"


def _agent_cq_problems(study: Study, spec: Spec) -> list[str]:
    scales = _has(spec, Kind.SCALE)
    if LAST in scales and len(scales) > 1:
        return []
    return [f"It is for the quality of questions: the study needs a scale {LAST!r} and others beside it."]


def _agent_cq(study: Study, spec: Spec, choice: ModelChoice) -> Iterator[Fields]:
    """AGENT-CQ section 2.2: each metric in a call of its own, overall last and from the juror's own other ratings."""
    yield _of_model(
        choice,
        f"{choice.slug}-jury",
        combination=Combination.MEAN,
        one_call_per_question=True,
        questions=_has(spec, Kind.SCALE),
        options={"last_question": LAST},
    )


# --- LFQA -------------------------------------------------------------------------------------------------------------

OVERALL = "acceptability"


def _lfqa_problems(study: Study, spec: Spec) -> list[str]:
    scales = _has(spec, Kind.SCALE)
    if OVERALL in scales and len(scales) > 1:
        return []
    return [f"It is for ratings by aspect: the study needs a scale {OVERALL!r} and others beside it."]


def _lfqa(study: Study, spec: Spec, choice: ModelChoice) -> Iterator[Fields]:
    """LFQA section 5: all ratings in one call, and each aspect in a call of its own; a fifth of the queries thrice."""
    examples = Item.objects.filter(study=study, role=Role.TRAINING, gold__isnull=False).exists()
    common = {
        "temperature": 0.0,
        "orders": Orders.RANDOM,
        "questions": _has(spec, Kind.SCALE),
        "samples": 3,
        "options": {"repeated_share": 20, "demonstrations": int(examples)},
    }
    yield _of_model(choice, f"{choice.slug}-whole", **common)
    yield _of_model(choice, f"{choice.slug}-by-aspect", one_call_per_question=True, **common)


# --- CondAmbigQA ------------------------------------------------------------------------------------------------------


def _condambigqa_problems(study: Study, spec: Spec) -> list[str]:
    if study.protocol_object.drafts_entries:
        return []
    return ["It is for sets of entries: the study's responses are none."]


def _condambigqa(study: Study, spec: Spec, choice: ModelChoice) -> Iterator[Fields]:
    """CondAmbigQA section 4.1: condition and answer scores of a system's set, by a model of another system."""
    yield _of_model(
        choice,
        f"{choice.slug}-entries",
        backend="entry_scores",
        temperature=0.0,
        orders=Orders.FIXED,
        self_preference=SelfPreference.SYSTEM,
    )


PRESETS: Registry[JudgePreset] = Registry(
    "preset",
    {"key": "its name in commands", "label": "its name on the page", "about": "a sentence on what it makes"},
    (
        JudgePreset(
            key="href",
            label="HREF",
            about="Each model with and without the human-written reference, in both orders, and the heuristics beside "
            "them. Nothing is left out to avoid self-preference.",
            judges=_href,
            heuristics=("random", "shorter", "longer", "rouge_l"),
            problems=_href_problems,
        ),
        JudgePreset(
            key="contexteval",
            label="ContextEval",
            about="Each model fills in the form of every arm: the verdict, then its reasons. Items with a response of "
            "its own are left out. The paper has five.",
            judges=_contexteval,
            problems=_preferences_only,
            models=5,
        ),
        JudgePreset(
            key="agent_cq",
            label="AGENT-CQ (CrowdLLM)",
            about="A jury of three of each model, conservative, balanced and creative: every scale in its own call, "
            "overall last and from the juror's own other ratings.",
            judges=_agent_cq,
            as_jury=True,
            problems=_agent_cq_problems,
        ),
        JudgePreset(
            key="lfqa",
            label="LFQA",
            about="Each model rates all aspects in one call, and each aspect in a call of its own, after one worked "
            "example if the study has training items; a fifth of the queries three times.",
            judges=_lfqa,
            problems=_lfqa_problems,
        ),
        JudgePreset(
            key="condambigqa",
            label="CondAmbigQA",
            about="Each model scores the conditions and answers of every set of entries against the reference set; "
            "citation recall and the number of answers need no model.",
            judges=_condambigqa,
            heuristics=("entry_overlap",),
            problems=_condambigqa_problems,
        ),
    ),
)
