"""Judges: made, edited, copied. One that has run is immutable, so an edit of it is a new version."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Max

from evaluation.models import Item, Role, Study, System
from evaluation.protocols import QuestionSpec
from evaluation.protocols.base import Spec, Stimulus
from evaluation.refusals import FieldsRefused
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.rehearsals import refuse_in_rehearsal
from judging.asking import asking_of
from judging.asking.base import possible_earlier
from judging.asking.scores.entry_scores import ENTRY_SCORES
from judging.asking.scores.response_asking import ResponseAsking
from judging.backends import BACKENDS
from judging.backends.base import Derived, Heuristic, Request, StopRun
from judging.backends.options import OptionsRefused, clean_options
from judging.models import Judge, JudgeRun, JudgeValidation, Jury, Orders
from judging.parsing.wrappers import READER
from judging.prompting.item_call import ItemCall
from judging.prompting.settings import Settings
from judging.services.condition_settings import systems_without_conditions
from judging.services.demonstrations import stimulus_of, with_examples
from judging.services.derived import derivation_of
from judging.services.endpoints.access import endpoint_refusals, grant_access
from judging.services.endpoints.targets import (
    asks_by_system,
    capabilities_of,
    mapping_problems,
    targets_of,
)
from judging.services.references import referenced, uses_reference

# Fields that a researcher sets; the rest is bookkeeping.
NO_JUDGES = "judges don't work on it."
FIELDS = (
    "name", "backend", "endpoint", "model", "temperature", "max_tokens", "extra", "questions", "verdict", "rationale",
    "with_reference", "reference_from", "one_call_per_question", "template", "orders", "samples", "self_preference",
    "own_system", "own_family", "price_prompt", "price_completion", "options",
)  # fmt: skip
Problems = dict[str, list[str]]


def create_judge(study: Study, *, user: Any = None, **fields: Any) -> Judge:
    """A new judge in a study, version 1. `user` is the member who asks, None whoever runs the server."""
    with transaction.atomic():
        judge = new_judge(study, user=user, **fields)
        log_action(study=study, by=user or server_account(), message=f"Created judge {judge}.")
    return judge


def new_judge(study: Study, *, user: Any = None, jury: Jury | None = None, **fields: Any) -> Judge:
    """The judge alone, for acts that make several."""
    refuse_in_rehearsal(study, NO_JUDGES)
    judge = Judge(study=study, created_by=user, jury=jury, **_known(fields))
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if Judge.objects.filter(study=study, name=judge.name).exists():
            raise FieldsRefused({"name": [f"The study already has a judge {judge.name}; edit that one."]})
        return _save(judge, user)


def edit_judge(judge: Judge, *, user: Any = None, **changes: Any) -> Judge:
    """The judge with these settings: the same row while it has not run, otherwise a new version."""
    given = changes.get("options", {})
    changes = {name: value for name, value in _known(changes).items() if not _is_same(judge, name, value)}
    if "backend" in changes:
        changes["options"] = given  # those of the kind that it was are none of the new one
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=judge.study_id)
        if not changes:
            return judge
        others = Judge.objects.filter(study=judge.study_id).exclude(name=judge.name)
        if "name" in changes and others.filter(name=changes["name"]).exists():
            raise FieldsRefused({"name": [f"The study already has a judge {changes['name']}."]})
        if not judge.judge_runs.exists():
            edited = Judge.objects.get(pk=judge.pk)
        else:
            if "name" in changes:
                raise FieldsRefused(
                    {"name": ["A judge that has run keeps its name; an edit creates a new version."]}
                )
            edited = _twin(judge, judge.study, user)
        for name, value in changes.items():
            setattr(edited, name, value)
        saved = _save(edited, user)
        said = f"Edited judge {judge.name}: now {saved}."
        log_action(study=judge.study, by=user or server_account(), message=said)
        return saved


def read_anew(judge: Judge, *, user: Any = None) -> Judge:
    """The judge as it may run: itself, or its next version where its runs were read by another reader than today's.

    What reads replies is part of a version as its settings are. A judge whose test is open, or was made, stays the one
    that was frozen for it; its run notes the reader. The caller holds the study's row.
    """
    if not judge.asks_model or judge.is_repeatable or JudgeValidation.objects.filter(judge=judge).exists():
        return judge
    others = JudgeRun.objects.exclude(rater__about__reader=READER)
    if not others.filter(judge=judge).exists():
        return judge
    later = Judge.objects.filter(study=judge.study_id, name=judge.name, version__gt=judge.version)
    for each in later.order_by("-version"):
        is_same = all(getattr(each, name) == getattr(judge, name) for name in FIELDS)
        if is_same and not others.filter(judge=each).exists():
            return each
    saved = _save(_twin(judge, judge.study, user), user)
    said = f"Replies are read otherwise since {judge} ran (reader {READER} now): {saved} judges in its place."
    log_action(study=judge.study, by=user or server_account(), message=said)
    return saved


def copy_judge(judge: Judge, study: Study, *, user: Any = None) -> Judge:
    """The same settings in another study; what does not fit there is refused."""
    refuse_in_rehearsal(study, NO_JUDGES)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        return _save(_twin(judge, study, user), user)


def heuristic_judge(study: Study, kind: str, *, user: Any = None) -> Judge:
    """The study's judge of that heuristic, which bears its name; made where it is not there yet."""
    if not isinstance(BACKENDS.get(kind), Heuristic):
        raise FieldsRefused({"backend": [f"There is no heuristic {kind!r}."]})
    existing = Judge.objects.filter(study=study, name=kind).order_by("-version").first()
    if existing is None:
        return new_judge(study, user=user, name=kind, backend=kind)
    if existing.backend != kind:
        raise FieldsRefused({"name": [f"The study's judge {kind} is not a heuristic."]})
    return existing


def judge_settings(judge: Judge) -> Settings:
    """The pure form of a judge: how it is asked."""
    settings = Settings(
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
        options=judge.options,
    )
    if judge.backend == ENTRY_SCORES.key:
        settings = replace(settings, without_conditions=systems_without_conditions(judge.study))
    if not settings.demonstrations:
        return settings
    return with_examples(judge.study, current_spec(judge.study), settings)


def configured_heuristic(judge: Judge) -> Heuristic:
    """The heuristic that judges, with the judge's options; StopRun where it can't judge with them."""
    heuristic = BACKENDS[judge.backend]
    assert isinstance(heuristic, Heuristic)
    return heuristic.configured(heuristic, judge.options)


def answered_questions(judge: Judge, spec: Spec) -> list[str]:
    """Keys of the questions that a judge without a model answers, in the order of the form."""
    if derivation := derivation_of(judge):
        return derivation.questions(judge, spec)
    heuristic = BACKENDS[judge.backend]
    assert isinstance(heuristic, Heuristic)
    questions = [QuestionSpec.from_json(each) for each in spec["questions"]]
    return [question.key for question in questions if heuristic.answers_among(question, judge.questions)]


def current_spec(study: Study) -> Spec:
    """The newest frozen spec; of a draft, what launch would freeze."""
    newest = study.revisions.order_by("-number").first()
    return cast(Spec, newest.spec if newest else compile_spec(study))


def preview_stimulus(judge: Judge, item: Item) -> Stimulus:
    """The item as the judge is told it, with the references that it compares with; of a draft, as at launch."""
    stimulus = stimulus_of(item, current_spec(judge.study))
    return referenced(judge, {item.pk: stimulus})[item.pk]


def preview_request(judge: Judge, item: Item, *, order: str | None = None, step: str = "") -> Request:
    """The exact request that this judge would be sent for this item, frozen or not; canonical if no order is given."""
    stimulus = preview_stimulus(judge, item)
    return compose_request(judge, current_spec(judge.study), stimulus, order=order, step=step)


def compose_request(
    judge: Judge, spec: Spec, stimulus: Stimulus, *, order: str | None = None, step: str = ""
) -> Request:
    """The request that this judge would be sent for a stimulus, neither of which need be stored."""
    if order is None:
        order = ",".join(response["part"] for response in stimulus["responses"])
    call = ItemCall(
        judge.study.protocol_object,
        spec,
        stimulus,
        judge_settings(judge),
        order=order,
        step=step,
        capabilities=capabilities_of(judge, targets_of(judge)),
    )
    asking = asking_of(judge.backend)
    return asking.request(possible_earlier(asking, call), {})


# --- validation -------------------------------------------------------------------------------------------------------


def judge_problems(judge: Judge) -> Problems:
    """Sentences that say why these settings can't be; by field, '' for the judge as a whole."""
    problems: Problems = {}
    try:
        judge.full_clean(validate_constraints=False, validate_unique=False, exclude=["study", "endpoint"])
    except ValidationError as invalid:
        problems.update(invalid.message_dict)
    problems |= _shape_problems(judge)
    if not problems:
        # With their defaults, so that a version goes on meaning the same.
        judge.options = clean_options(BACKENDS[judge.backend].options, judge.options)
    for field, sentences in (
        ("endpoint", _endpoint_problems(judge)),
        ("model", _model_problems(judge)),
        ("", [] if problems else _asking_problems(judge, current_spec(judge.study))),
        ("own_system", _unknown_system(judge, judge.own_system)),
        ("reference_from", _reference_problems(judge)),
        ("samples", _repetition_problems(judge)),
        ("orders", _order_problems(judge)),
        ("price_prompt", _price_problems(judge.price_prompt)),
        ("price_completion", _price_problems(judge.price_completion)),
    ):
        if sentences:
            problems.setdefault(field, []).extend(sentences)
    return problems


def _endpoint_problems(judge: Judge) -> list[str]:
    if not judge.asks_model:
        kind = "derived judge" if isinstance(BACKENDS[judge.backend], Derived) else "heuristic"
        return [f"A {kind} needs no endpoint."] if judge.endpoint_id else []
    if judge.endpoint is None:
        return [f"A judge by {judge.get_backend_display()} needs an endpoint."]
    endpoints = {judge.endpoint.pk: judge.endpoint}
    if not _shape_problems(judge):
        endpoints |= {target.endpoint.pk: target.endpoint for target in targets_of(judge)}
    return [each for endpoint in endpoints.values() for each in endpoint_refusals(endpoint, judge.study)]


def _model_problems(judge: Judge) -> list[str]:
    if asks_by_system(judge):
        return ["Its models are those behind the systems: leave this empty."] if judge.model else []
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
    try:
        clean_options(BACKENDS[judge.backend].options, judge.options)
    except OptionsRefused as refused:
        for key, sentences in refused.by_key.items():
            problems[f"options.{key}" if key else "options"] = list(sentences)
    return problems


def _asking_problems(judge: Judge, spec: Spec) -> list[str]:
    """Problems of the questions it is asked, by themselves and in this study."""
    if judge.asks_model:
        asking = asking_of(judge.backend)
        problems = asking.problems(judge.study.protocol_object, spec, judge_settings(judge))
        return [*problems, *mapping_problems(judge)]
    keys = {question["key"] for question in spec["questions"]}
    problems = [f"The study has no question {key!r}." for key in judge.questions if key not in keys]
    if derivation := derivation_of(judge):
        if judge.samples != 1 or judge.orders == Orders.BOTH:
            problems.append("A derived judge gives one judgment of an item: one sample, not both orders.")
        return [*problems, *derivation.problems(judge, spec)]
    try:
        gives_measures = bool(configured_heuristic(judge).measures)
    except StopRun as reason:
        return [*problems, str(reason)]
    if not problems and not answered_questions(judge, spec) and (judge.questions or not gives_measures):
        problems.append(f"A judge {judge.backend!r} can't answer any of the questions here.")
    return problems


def _unknown_system(judge: Judge, key: str) -> list[str]:
    if key and not System.objects.filter(study=judge.study, key=key).exists():
        return [f"The study has no system {key!r}."]
    return []


def _reference_problems(judge: Judge) -> list[str]:
    problems = _unknown_system(judge, judge.reference_from)
    if judge.reference_from and not uses_reference(judge):
        problems.append("This judge is shown no reference: let it see one, or leave the source empty.")
    return problems


def _repetition_problems(judge: Judge) -> list[str]:
    """Repetitions that would be paid for and bring the same again."""
    if not judge.is_repeatable or (judge.samples == 1 and judge.orders != Orders.BOTH):
        return []
    return ["This judge gives the same numbers each time and in each order: choose one sample in one order."]


def _order_problems(judge: Judge) -> list[str]:
    """Both orders where there is but one."""
    if judge.orders != Orders.BOTH or judge.is_repeatable:
        return []
    if judge.asks_model and isinstance(asking_of(judge.backend), ResponseAsking):
        alone = "This judge is asked about one response at a time"
    elif _shows_single_responses(judge.study):
        alone = "The study's items show one response at most"
    else:
        return []
    return [f"{alone}, which has no other order: both orders would ask the same twice. Choose one order."]


def _shows_single_responses(study: Study) -> bool:
    """True if the study has items and none of them has responses that could be shown in another order."""
    items = study.items.filter(role=Role.MAIN, withdrawn_at=None)
    several = items.annotate(n=Count("item_responses")).filter(n__gt=1)
    return items.exists() and not several.exists()


def _price_problems(price: Any) -> list[str]:
    return ["A price can't be negative."] if price is not None and price < 0 else []


# --- saving -----------------------------------------------------------------------------------------------------------


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise FieldsRefused({"": [f"A judge has no setting {name!r}." for name in unknown]})
    return fields


def _is_same(judge: Judge, name: str, value: Any) -> bool:
    """True if the setting has this value; a judge from before an option was there means the option's default."""
    before = getattr(judge, name)
    if name != "options" or before == value:
        return bool(before == value)
    options = BACKENDS[judge.backend].options
    try:
        return clean_options(options, before) == clean_options(options, value)
    except OptionsRefused:
        return False


def _twin(judge: Judge, study: Study, user: Any) -> Judge:
    """The same settings as the next version of its name in a study (unsaved)."""
    fields = {name: getattr(judge, name) for name in FIELDS}
    last = Judge.objects.filter(study=study, name=judge.name).aggregate(last=Max("version"))["last"] or 0
    # A jury is of one study.
    jury = judge.jury if judge.study_id == study.pk else None
    return Judge(study=study, version=last + 1, created_by=user, jury=jury, **fields)


def _save(judge: Judge, user: Any) -> Judge:
    """Validate and save. A user who may open the endpoint to the study does so by choosing it."""
    _fill_in_own_system(judge)
    if judge.endpoint is not None:
        endpoints = {judge.endpoint}
        if not _shape_problems(judge):
            endpoints |= {target.endpoint for target in targets_of(judge)}
        for endpoint in endpoints:
            grant_access(endpoint, judge.study, user)
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
