"""A new revision of a study that is under way: other words, other steps, the same measurement.

Judgments of all revisions are pooled, so whatever decides what a judgment means stays as it was launched.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from evaluation.canonical import canonical_hash
from evaluation.models import Question, Revision, Status, Study, Text
from evaluation.models.study import default_skips, default_steps
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action, server_account
from evaluation.services.seals import seal_changed
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import write_questions_and_texts
from evaluation.services.studies.freeze import compute_study_hash
from evaluation.services.studies.launch import pass_mark_problems

# What decides which items there are, in which order and form they are shown, and how figures are made of them.
FIXED = (
    "format", "protocol", "arms", "seed", "once_per", "render_as", "baseline", "show_references", "attributes",
    "arm_per", "needs", "shares", "single_dollars", "written_formulas", "show_images", "language", "texts_language",
    "epsilon", "stopping", "human_sample",
)  # fmt: skip
# Fields of the study, and of a question, that are words or rules for those who enter from now on.
OF_STUDY = {"title": str, "asker": str, "steps": dict, "skips": dict}
OF_QUESTION = {"prompt": str, "help": str, "required": bool, "options": dict}
# What a judgment's answers are.
FIXED_OF_QUESTION = ("kind", "shown")
# Parts of a spec that are merged key by key with what was there.
MERGED = ("texts", "steps", "skips")

Spec = dict[str, Any]
Changes = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One value of the spec that becomes another; `old` is None where there was none."""

    where: str
    old: Any
    new: Any


@dataclass(frozen=True)
class RevisionPlan:
    """A planned revision, before it is written."""

    number: int
    spec: Spec
    changes: tuple[Change, ...]

    @property
    def spec_hash(self) -> str:
        return canonical_hash(self.spec)


def plan_revision(study: Study, changes: Changes) -> RevisionPlan:
    """The study's next revision: its latest spec with these parts changed. Raises WrongState or Refused.

    Texts, steps, skip rules and questions are merged by their keys, so that only what changes need be given.
    """
    if study.status not in (Status.LIVE, Status.PAUSED):
        raise WrongState(f"Only a live or paused study can be revised; this one is {study.status}.")
    latest = study.revisions.order_by("-number")[0]
    _refuse(_shape_problems(changes))
    spec = _merged(latest.spec, changes)
    _refuse([*_fixed_problems(latest.spec, spec), *_question_problems(latest.spec, spec)])
    _refuse([*_step_problems(spec), *_skip_problems(spec["skips"]), *_row_problems(study, spec)])
    _refuse(pass_mark_problems(study, spec["steps"]))
    found = tuple(_changes(latest.spec, spec))
    _refuse([] if found else ["nothing would change"])
    return RevisionPlan(latest.number + 1, spec, found)


def revise_study(*, study: Study, changes: Changes, by: Any = None, reason: str = "") -> Revision:
    """Create the revision that `plan_revision` describes: participants at work finish in theirs, new ones get this one.

    `by` is the member who asks, refused like everywhere without the right to write; None is whoever runs the server.
    """
    if by is not None:
        get_study_for(by, study.slug, right="write")
    with transaction.atomic():
        # Nobody enters meanwhile, so everybody agreed to the text of the revision that they are in.
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        plan = plan_revision(locked, changes)
        revision = Revision.objects.create(
            study=locked, number=plan.number, spec=plan.spec, spec_hash=plan.spec_hash
        )
        _keep_rows_in_step(locked, plan.spec)
        locked.study_hash = compute_study_hash(locked)
        locked.save(update_fields=["study_hash"])
        seal_changed(locked, [locked])
        said = f"Revision {revision.number} is what new participants get from now on."
        log_action(study=locked, by=by or server_account(), message=said, reason=reason)
    study.refresh_from_db()
    return revision


def _keep_rows_in_step(study: Study, spec: Spec) -> None:
    """Update the rows to the latest revision, as after an import: the next revision starts from there."""
    for name in OF_STUDY:
        setattr(study, name, spec[name])
    study.save(update_fields=list(OF_STUDY))
    write_questions_and_texts(study, spec)
    if canonical_hash(compile_spec(study)) != canonical_hash(spec):
        raise RuntimeError("the rows of this study do not compile to the spec that they were made from")


def _refuse(problems: Iterable[str]) -> None:
    if found := list(problems):
        raise Refused(*found)


def _shape_problems(changes: Changes) -> Iterable[str]:
    """Problems that keep the changes from being merged at all."""
    known = (*FIXED, *OF_STUDY, "questions", "texts")
    yield from (f"{name}: a spec has no such part" for name in changes if name not in known)
    yield from (
        f"{name}: must be an object" for name in MERGED if not isinstance(changes.get(name, {}), Mapping)
    )
    questions = changes.get("questions", [])
    if not isinstance(questions, list) or not all(
        isinstance(each, Mapping) and isinstance(each.get("key"), str) for each in questions
    ):
        yield "questions: must be a list of objects, each with the key of a question"
        return
    times = Counter(each["key"] for each in questions)
    yield from (f"questions: {key!r} appears twice" for key, n in times.items() if n > 1)


def _merged(old: Spec, changes: Changes) -> Spec:
    spec = {**old, **changes}
    for name in MERGED:
        spec[name] = {**old[name], **changes.get(name, {})}
    spec["questions"] = _by_key(old["questions"], changes.get("questions", []))
    return spec


def _by_key(old: list[Spec], changes: list[Changes]) -> list[Spec]:
    changed = {each["key"]: each for each in changes}
    kept = [{**question, **changed.pop(question["key"], {})} for question in old]
    return [*kept, *(dict(each) for each in changed.values())]


def _fixed_problems(old: Spec, new: Spec) -> Iterable[str]:
    for name in FIXED:
        # Not every study has attributes, or an arm per item; one that has none can't be given any, not even as null.
        if (name in new) != (name in old) or new.get(name) != old.get(name):
            yield f"{name}: can't change in a study that is under way; judgments could not be pooled"


def _question_problems(old: Spec, new: Spec) -> Iterable[str]:
    before = {question["key"]: question for question in old["questions"]}
    for question in new["questions"]:
        where, was = f"questions.{question['key']}", before.get(question["key"])
        if was is None:
            yield f"{where}: there is no such question, and a revision can't add one"
            continue
        yield from (f"{where}.{name}: a question has no such part" for name in question if name not in was)
        for name in FIXED_OF_QUESTION:
            if question[name] != was[name]:
                yield f"{where}.{name}: can't change from {was[name]!r}; judgments could not be pooled"
        for name, kind in OF_QUESTION.items():
            if type(question[name]) is not kind:
                yield f"{where}.{name}: must be of type {kind.__name__}"
        if isinstance(question["options"], dict) and not _only_labels_differ(
            was["options"], question["options"]
        ):
            yield f"{where}.options: only labels can change; judgments could not be pooled"


def _only_labels_differ(old: Spec, new: Spec) -> bool:
    """Options are stored values with their labels; a scale's limits and the like are no labels."""
    return old.keys() == new.keys() and all(
        value == old[name] or (isinstance(value, str) and isinstance(old[name], str))
        for name, value in new.items()
    )


def _step_problems(spec: Spec) -> Iterable[str]:
    for name, value in spec["steps"].items():
        if name not in default_steps():
            yield f"steps.{name}: there is no such step"
        elif name == "qualification":
            rule = {"attempts": 1, **value} if isinstance(value, dict) else value
            if value and not _is_rule(rule, pass_mark=1, attempts=1):
                yield 'steps.qualification: must be null or {"pass_mark": a number from 1, "attempts": from 1}'
        elif name == "attention":
            rule = {"allowed_failures": None, **value} if isinstance(value, dict) else value
            warn = rule.pop("warn", False) if isinstance(rule, dict) else False
            if value and not (_is_rule(rule, checks=1, allowed_failures=None) and isinstance(warn, bool)):
                yield (
                    'steps.attention: must be null or {"checks": a number from 1, "allowed_failures": from 0 or null, '
                    '"warn": true or false}'
                )
        elif value is not None and not isinstance(value, bool):
            yield f"steps.{name}: must be true or false"


def _skip_problems(skips: Spec) -> Iterable[str]:
    yield from (f"skips.{name}: there is no such rule" for name in skips if name not in default_skips())
    known = {name: skips.get(name, default) for name, default in default_skips().items()}
    if not _is_rule(known, per_participant=0, flag_after=None):
        yield "skips: per_participant must be a number from 0, flag_after one or null"


def _is_rule(value: Any, **lowest: int | None) -> bool:
    """True for an object of integers, none below its minimum; where the minimum is None, null is allowed, too."""
    if not isinstance(value, dict) or not value.keys() <= lowest.keys():
        return False
    for name, low in lowest.items():
        number = value.get(name)
        if number is None and low is None:
            continue
        if type(number) is not int or number < (low or 0):
            return False
    return True


def _row_problems(study: Study, spec: Spec) -> Iterable[str]:
    """Problems with values that the study's rows could not hold."""
    for name, kind in OF_STUDY.items():
        if type(spec[name]) is not kind:
            yield f"{name}: must be of type {kind.__name__}"
    yield from _invalid("", Study(**{name: spec[name] for name in OF_STUDY}), *OF_STUDY)
    for key, body in spec["texts"].items():
        if not isinstance(body, str):
            yield f"texts.{key}: must be text"
        yield from _invalid(f"texts.{key}.", Text(study=study, key=key, body=body), "key", "body")
    for question in spec["questions"]:
        row = Question(study=study, **question)
        yield from _invalid(f"questions.{question['key']}.", row, "prompt", "help")


def _invalid(where: str, row: models.Model, *fields: str) -> list[str]:
    try:
        row.clean_fields(exclude={field.name for field in row._meta.fields} - set(fields))
    except ValidationError as invalid:
        return [f"{where}{name}: {' '.join(messages)}" for name, messages in invalid.message_dict.items()]
    return []


def _changes(old: Spec, new: Spec) -> Iterable[Change]:
    before = _flat(old)
    for where, value in _flat(new).items():
        if value != before.get(where):
            yield Change(where, before.get(where), value)


def _flat(spec: Spec) -> dict[str, Any]:
    """The values that may change, by path."""
    flat = {"title": spec["title"], "asker": spec["asker"]}
    flat |= {f"{part}.{key}": value for part in MERGED for key, value in spec[part].items()}
    return flat | {
        f"questions.{question['key']}.{name}": question[name]
        for question in spec["questions"]
        for name in OF_QUESTION
    }
