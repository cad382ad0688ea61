"""Changes of a study's design, given as in a dump: of a draft all of its spec and rules, of a running study the rules
that may change at any time. They are checked as a whole line of a dump is."""

import re
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from evaluation.dumps.exports.jsonl import AMOUNTS, PROMISES, RULES, amounts_of
from evaluation.dumps.imports.header import read_header
from evaluation.dumps.problems import LineInvalid
from evaluation.models import Arm, Study
from evaluation.protocols.attributes import attributes_of
from evaluation.refusals import FieldsRefused, WrongState
from evaluation.services.history import log_action
from evaluation.services.imports import OPTIONAL_FIELDS, SPEC_FIELDS
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import write_attributes, write_questions_and_texts
from evaluation.services.studies.retention import retention_text
from evaluation.stopping import StoppingRule

# Codes are the panel's, and set on its page.
DESIGN_RULES = (
    *(name for name in RULES if name != "completion_codes"),
    *PROMISES,
    "visits",
    "practice_each_visit",
    *AMOUNTS,
)
# What a launch fixes, and `change_redundancy` changes.
FIXED_BY_LAUNCH = ("redundancy",)
# The part of the line, or of its spec, that a sentence begins with.
PATH = re.compile(r"((?:spec|rules|questions|attributes|shares|needs)[^\s:]*): (.+)", re.DOTALL)
Design = dict[str, dict[str, Any]]


def design_as_dumped(study: Study) -> Design:
    """The spec and the rules of a study as a dump's line has them; of a launched one, the latest revision's."""
    latest = study.revisions.order_by("-number").values_list("spec", flat=True).first()
    rules = {name: getattr(study, name) for name in DESIGN_RULES}
    return {
        "spec": latest or compile_spec(study),
        "rules": {**rules, **amounts_of(study)},
    }


def change_design(
    study: Study, *, spec: Mapping[str, Any], rules: Mapping[str, Any], by: Any = None
) -> list[str]:
    """Change these parts, and return the names of those that differ now; the others stay.

    Texts are merged by their keys; questions, arms and attributes replace those that there are; None takes back what a
    spec need not have. FieldsRefused says by path what can't be, WrongState what a launch has fixed.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        _refuse_fixed(locked, spec, rules)
        before = design_as_dumped(locked)
        header = _checked(locked, before, spec, rules)
        if not locked.is_frozen:
            _write_spec(locked, header.spec)
        for name, value in header.rules.items():
            setattr(locked, name, value)
        locked.save(update_fields=list(header.rules))
        after = design_as_dumped(locked)
        changed = [
            name
            for part in before
            for name in sorted(before[part].keys() | after[part].keys())
            if before[part].get(name) != after[part].get(name)
        ]
        if changed:
            log_action(study=locked, by=by, message=f"Changed the design: {', '.join(changed)}.")
    study.refresh_from_db()
    return changed


def _refuse_fixed(study: Study, spec: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
    unknown = [name for name in rules if name not in DESIGN_RULES]
    if unknown:
        raise FieldsRefused({f"rules.{name}": ["There is no such rule here."] for name in unknown})
    fixed = [*spec, *(name for name in rules if name in FIXED_BY_LAUNCH)]
    if study.is_frozen and fixed:
        raise WrongState(
            f"{study.title} is {study.get_status_display()} or being launched: {', '.join(fixed)} can't be changed "
            "here any more."
        )


def _checked(study: Study, before: Design, spec: Mapping[str, Any], rules: Mapping[str, Any]) -> Any:
    wanted = {**before["spec"], **spec}
    if isinstance(spec.get("texts"), Mapping):
        wanted["texts"] = {**before["spec"]["texts"], **spec["texts"]}
    line = {
        "assay": 1,
        "spec": {name: value for name, value in wanted.items() if value is not None},
        "rules": {**before["rules"], **rules},
    }
    try:
        found = read_header(line, slug=study.slug, protocol=study.protocol, title="").study
    except LineInvalid as invalid:
        raise FieldsRefused(_by_path(invalid.problems)) from None
    if problems := _problems_of_study(study, found.spec, found.rules):
        raise FieldsRefused(problems)
    return found


def _by_path(problems: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for problem in problems:
        match = PATH.fullmatch(problem)
        path, fault = (match[1], match[2]) if match else ("", problem)
        whole = path if path.startswith(("spec", "rules")) or not path else f"spec.{path}"
        found.setdefault(whole, []).append(fault)
    return found


def _problems_of_study(
    study: Study, spec: Mapping[str, Any], rules: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Problems that only show beside the study's systems and items."""
    problems: dict[str, list[str]] = {}
    baseline = spec["baseline"]
    if baseline and not study.systems.filter(key=baseline).exists():
        problems["spec.baseline"] = [f"The study has no system {baseline!r}."]
    rule = StoppingRule.of(spec.get("stopping", {}))
    if rule is not None and rule.figure == "agreement" and rules["redundancy"] < 2:
        problems["spec.stopping"] = ["Agreement needs at least two judgments of an item."]
    if rules["exact_times"] and study.ids_deleted_at is not None:
        problems["rules.exact_times"] = [retention_text(study)]
    kept = {arm["key"] for arm in spec["arms"]}
    used = study.arms.exclude(key__in=kept).filter(items__isnull=False).distinct()
    if gone := sorted(used.values_list("key", flat=True)):
        problems["spec.arms"] = [f"Items are in the arm {key!r}: it can't be taken away." for key in gone]
    return problems


def _write_spec(study: Study, spec: dict[str, Any]) -> None:
    blank = Study()
    study.title = spec["title"]
    for name in SPEC_FIELDS:
        setattr(study, name, spec[name])
    for name in OPTIONAL_FIELDS:
        setattr(study, name, spec.get(name, getattr(blank, name)))
    study.save()
    _write_arms(study, spec["arms"])
    write_questions_and_texts(study, spec)
    write_attributes(study, attributes_of(spec))


def _write_arms(study: Study, arms: list[dict[str, Any]]) -> None:
    study.arms.exclude(key__in=[arm["key"] for arm in arms]).delete()
    for position, arm in enumerate(arms):
        Arm.objects.update_or_create(study=study, key=arm["key"], defaults={**arm, "position": position})
