"""Judges: made, edited, copied. One that has run is immutable, so an edit of it is a new version."""

from collections.abc import Mapping
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from evaluation.models import Item, Study, System
from evaluation.protocols import QuestionSpec
from evaluation.protocols.attributes import attributes_of
from evaluation.protocols.base import Spec
from evaluation.refusals import FieldsRefused
from evaluation.services.studies.compilation import compile_spec, compile_stimulus
from judging import prompting
from judging.backends import BACKENDS, Heuristic
from judging.backends.base import Request
from judging.models import Judge
from judging.services.endpoints.access import endpoint_refusals, grant_access

# Fields that a researcher sets; the rest is bookkeeping.
FIELDS = (
    "name", "backend", "endpoint", "model", "temperature", "max_tokens", "extra", "questions", "verdict", "rationale",
    "with_reference", "one_call_per_question", "template", "orders", "samples", "self_preference", "own_system",
    "own_family", "price_prompt", "price_completion",
)  # fmt: skip
Problems = dict[str, list[str]]


def create_judge(study: Study, *, user: Any = None, **fields: Any) -> Judge:
    """A new judge in a study, version 1."""
    judge = Judge(study=study, created_by=user, **_known(fields))
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if Judge.objects.filter(study=study, name=judge.name).exists():
            raise FieldsRefused({"name": [f"The study already has a judge {judge.name}; edit that one."]})
        return _save(judge, user)


def edit_judge(judge: Judge, *, user: Any = None, **changes: Any) -> Judge:
    """The judge with these settings: the same row while it has not run, otherwise a new version."""
    changes = {name: value for name, value in _known(changes).items() if getattr(judge, name) != value}
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=judge.study_id)
        if not changes:
            return judge
        others = Judge.objects.filter(study=judge.study_id).exclude(name=judge.name)
        if "name" in changes and others.filter(name=changes["name"]).exists():
            raise FieldsRefused({"name": [f"The study already has a judge {changes['name']}."]})
        if not judge.runs.exists():
            edited = Judge.objects.get(pk=judge.pk)
        else:
            if "name" in changes:
                raise FieldsRefused(
                    {"name": ["A judge that has run keeps its name; an edit creates a new version."]}
                )
            edited = _twin(judge, judge.study, user)
        for name, value in changes.items():
            setattr(edited, name, value)
        return _save(edited, user)


def copy_judge(judge: Judge, study: Study, *, user: Any = None) -> Judge:
    """The same settings in another study; what does not fit there is refused."""
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        return _save(_twin(judge, study, user), user)


def heuristic_judge(study: Study, kind: str, *, user: Any = None) -> Judge:
    """The study's judge of that heuristic, which bears its name; made where it is not there yet."""
    if not isinstance(BACKENDS.get(kind), Heuristic):
        raise FieldsRefused({"backend": [f"There is no heuristic {kind!r}."]})
    existing = Judge.objects.filter(study=study, name=kind).order_by("-version").first()
    if existing is None:
        return create_judge(study, user=user, name=kind, backend=kind)
    if existing.backend != kind:
        raise FieldsRefused({"name": [f"The study's judge {kind} is not a heuristic."]})
    return existing


def judge_settings(judge: Judge) -> prompting.Settings:
    """The pure form of a judge: how it is asked."""
    return prompting.Settings(
        model=judge.model,
        temperature=judge.temperature,
        max_tokens=judge.max_tokens,
        extra=judge.extra,
        questions=tuple(judge.questions),
        verdict=cast(Any, str(judge.verdict)),
        rationale=cast(Any, str(judge.rationale)),
        with_reference=judge.with_reference,
        one_call_per_question=judge.one_call_per_question,
        template=judge.template,
    )


def answered_questions(judge: Judge, spec: Spec) -> list[str]:
    """Keys of the questions that a heuristic answers, in the order of the form."""
    heuristic = BACKENDS[judge.backend]
    assert isinstance(heuristic, Heuristic)
    questions = [QuestionSpec.from_json(each) for each in spec["questions"]]
    return [
        question.key
        for question in questions
        if heuristic.answers(question) and (not judge.questions or question.key in judge.questions)
    ]


def current_spec(study: Study) -> Spec:
    """The newest frozen spec; of a draft, what launch would freeze."""
    newest = study.revisions.order_by("-number").first()
    return cast(Spec, newest.spec if newest else compile_spec(study))


def preview_request(judge: Judge, item: Item, *, order: str | None = None, step: str = "") -> Request:
    """The exact request that this judge would be sent for this item, frozen or not; canonical if no order is given."""
    study = judge.study
    spec = current_spec(study)
    stimulus = item.stimulus or compile_stimulus(
        arm=item.arm.key,
        query=item.query,
        context=item.context,
        clarifying_question=item.clarifying_question,
        responses=list(item.responses.select_related("system")),
        attributes=attributes_of(spec),
        render=lambda text: "",
    )
    if order is None:
        order = ",".join(response["part"] for response in stimulus["responses"])
    return prompting.build_request(
        study.protocol_object,
        spec,
        stimulus,
        judge_settings(judge),
        order=order,
        step=step,
        capabilities=judge.endpoint.capabilities if judge.endpoint else {},
    )


# --- validation -------------------------------------------------------------------------------------------------------


def judge_problems(judge: Judge) -> Problems:
    """Sentences that say why these settings can't be; by field, '' for the judge as a whole."""
    problems: Problems = {}
    try:
        judge.full_clean(validate_constraints=False, validate_unique=False, exclude=["study", "endpoint"])
    except ValidationError as invalid:
        problems.update(invalid.message_dict)
    problems |= _shape_problems(judge)
    for field, sentences in (
        ("endpoint", _endpoint_problems(judge)),
        ("model", _model_problems(judge)),
        ("", [] if problems else _asking_problems(judge, current_spec(judge.study))),
        ("own_system", _own_system_problems(judge)),
        ("price_prompt", _price_problems(judge.price_prompt)),
        ("price_completion", _price_problems(judge.price_completion)),
    ):
        if sentences:
            problems.setdefault(field, []).extend(sentences)
    return problems


def _endpoint_problems(judge: Judge) -> list[str]:
    if not judge.asks_model:
        return ["A heuristic needs no endpoint."] if judge.endpoint_id else []
    if judge.endpoint is None:
        return [f"A judge by {judge.get_backend_display()} needs an endpoint."]
    return endpoint_refusals(judge.endpoint, judge.study)


def _model_problems(judge: Judge) -> list[str]:
    if judge.asks_model and not judge.model.strip():
        return [f"A judge by {judge.get_backend_display()} needs the name of a model."]
    return []


def _shape_problems(judge: Judge) -> Problems:
    """JSON that is not of the shape that it is read in."""
    problems: Problems = {}
    if not isinstance(judge.extra, Mapping):
        problems["extra"] = ["Further parameters must be an object of names and values."]
    if not isinstance(judge.questions, list) or not all(isinstance(key, str) for key in judge.questions):
        problems["questions"] = ["The questions to ask must be a list of keys."]
    return problems


def _asking_problems(judge: Judge, spec: Spec) -> list[str]:
    """Problems of the questions it is asked, by themselves and in this study."""
    if judge.asks_model:
        return prompting.settings_problems(judge.study.protocol_object, spec, judge_settings(judge))
    keys = {question["key"] for question in spec["questions"]}
    problems = [f"The study has no question {key!r}." for key in judge.questions if key not in keys]
    if not problems and not answered_questions(judge, spec):
        problems.append(f"A judge {judge.backend!r} can't answer any of the questions here.")
    return problems


def _own_system_problems(judge: Judge) -> list[str]:
    if judge.own_system and not System.objects.filter(study=judge.study, key=judge.own_system).exists():
        return [f"The study has no system {judge.own_system!r}."]
    return []


def _price_problems(price: Any) -> list[str]:
    return ["A price can't be negative."] if price < 0 else []


# --- saving -----------------------------------------------------------------------------------------------------------


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise FieldsRefused({"": [f"A judge has no setting {name!r}." for name in unknown]})
    return fields


def _twin(judge: Judge, study: Study, user: Any) -> Judge:
    """The same settings as the next version of its name in a study (unsaved)."""
    fields = {name: getattr(judge, name) for name in FIELDS}
    last = Judge.objects.filter(study=study, name=judge.name).aggregate(last=Max("version"))["last"] or 0
    return Judge(study=study, version=last + 1, created_by=user, **fields)


def _save(judge: Judge, user: Any) -> Judge:
    """Validate and save. A user who may open the endpoint to the study does so by choosing it."""
    _fill_in_own_system(judge)
    if judge.endpoint is not None:
        grant_access(judge.endpoint, judge.study, user)
    problems = judge_problems(judge)
    if problems:
        raise FieldsRefused(problems)
    judge.save()
    return judge


def _fill_in_own_system(judge: Judge) -> None:
    """A system that bears the model's name is the judge's own, and its family too, unless the researcher said so."""
    key = judge.own_system or judge.model
    own = System.objects.filter(study=judge.study, key=key).first() if key else None
    if own is not None:
        judge.own_system = own.key
        judge.own_family = judge.own_family or own.family
