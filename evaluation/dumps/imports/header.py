"""The study's line: its spec with the protocol's defaults filled in, its rules and its systems."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError

from evaluation.dumps.exports.jsonl import AMOUNTS
from evaluation.dumps.imports.items import query_row
from evaluation.dumps.problems import LineInvalid
from evaluation.dumps.schemas import schema_problems
from evaluation.models import ArmPer, OncePer, Study
from evaluation.protocols import PROTOCOLS
from evaluation.protocols.answers.measures import Measure, conflict_in, declared_measures
from evaluation.services.imports import OPTIONAL_FIELDS, SPEC_FIELDS, RaterFacts, StudyInput
from evaluation.services.studies.compilation import FORMAT
from evaluation.services.studies.creation import first_asker, first_attributes, first_questions, first_texts
from evaluation.stopping import NO_STOPPING_WITH_SAMPLE

QUESTION_DEFAULTS = {"help": "", "required": True, "shown": "always", "options": {}}


@dataclass(frozen=True)
class Header:
    """Line 1, ready to be written and to check the items against."""

    study: StudyInput
    status: str | None = None
    study_hash: str = ""
    # Facts of the line itself, not of its items.
    simulated: bool = False
    # True: raters stand in their order, and every judgment has its place.
    in_order: bool = False
    raters: Mapping[str, RaterFacts] = field(default_factory=dict)
    # By the rater that declares them.
    measures: Mapping[str, Sequence[Measure]] = field(default_factory=dict)


def read_header(value: Mapping[str, Any], *, slug: str, protocol: str, title: str) -> Header:
    """The study's line, or LineInvalid. `protocol` and `title` may be empty: then the line says them."""
    if "assay" not in value:
        raise LineInvalid("not the line of a study: it has no 'assay'")
    if problems := schema_problems("study", value):
        raise LineInvalid(*problems)
    key = _protocol_key(value["spec"], protocol)
    spec = _complete_spec(value["spec"], key, title or value["spec"].get("title") or slug)
    later = [
        _complete_spec({**spec, **each}, key, each.get("title", spec["title"])) for each in _later(value)
    ]
    study = StudyInput(
        slug=slug,
        specs=[spec, *later],
        rules=_rules(value.get("rules", {})),
        systems=value.get("systems", []),
        queries=[query_row(each) for each in value.get("queries", [])],
        origin=value.get("origin", {}),
        sealed=value.get("sealed", {}),
    )
    _check(study)
    raters = _raters(value.get("raters", []))
    return Header(
        study,
        value.get("status"),
        value.get("study_hash", ""),
        value.get("simulated", False),
        value.get("in_order", False),
        raters,
        _measures(raters),
    )


def _measures(raters: Mapping[str, RaterFacts]) -> dict[str, Sequence[Measure]]:
    found: dict[str, Sequence[Measure]] = {}
    problems = []
    for name, facts in raters.items():
        try:
            found[name] = declared_measures(facts.about)
        except ValueError as wrong:
            problems.append(f"rater {name!r}: {wrong}")
    if not problems and (name := conflict_in(each for measures in found.values() for each in measures)):
        problems.append(f"raters: the measure {name!r} is declared in two ways")
    if problems:
        raise LineInvalid(*problems)
    return {name: measures for name, measures in found.items() if measures}


def _raters(records: Sequence[Mapping[str, Any]]) -> dict[str, RaterFacts]:
    if twice := _twice("rater", [record["rater"] for record in records]):
        raise LineInvalid(*twice)
    return {
        record["rater"]: RaterFacts(
            record.get("in_figures", True), record.get("group", ""), record.get("about", {})
        )
        for record in records
    }


def _later(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    later: list[dict[str, Any]] = value.get("later_specs", [])
    return later


def _protocol_key(spec: Mapping[str, Any], wanted: str) -> str:
    key = str(wanted or spec.get("protocol", ""))
    if not key:
        raise LineInvalid("neither the line nor --protocol names the protocol")
    if spec.get("protocol", key) != key:
        raise LineInvalid(f"the line's protocol is {spec['protocol']!r} and not {key!r}")
    if key not in PROTOCOLS:
        raise LineInvalid(f"no protocol {key!r}; there are: {', '.join(sorted(PROTOCOLS))}")
    return key


def _complete_spec(given: Mapping[str, Any], key: str, title: str) -> dict[str, Any]:
    """The spec as `compile_spec` will make it from the rows; what is given stays exactly as it is."""
    blank = Study()
    protocol = PROTOCOLS[key]
    spec = {name: given.get(name, getattr(blank, name)) for name in SPEC_FIELDS}
    language = str(given.get("language", blank.language))
    if "asker" not in given:
        spec["asker"] = first_asker(language)
    questions = given.get("questions") or first_questions(protocol, language)
    complete = {
        **spec,
        "format": FORMAT,
        "protocol": key,
        "title": title,
        "arms": [{"label": arm["key"], **arm} for arm in given["arms"]],
        "questions": [{**QUESTION_DEFAULTS, **question} for question in questions],
        "texts": given.get("texts", first_texts(protocol, language)),
    }
    # A spec that names its format was compiled, and one without attributes is of a study that has none.
    default = [] if "format" in given else first_attributes(protocol, language)
    attributes = given.get("attributes", default)
    optional = {
        name: given[name]
        for name in OPTIONAL_FIELDS
        if given.get(name, getattr(blank, name)) != getattr(blank, name)
    }
    return complete | optional | ({"attributes": attributes} if attributes else {})


def _rules(given: Mapping[str, Any]) -> dict[str, Any]:
    amounts = {name: Decimal(str(given[name])) for name in AMOUNTS if given.get(name) is not None}
    return {**given, **amounts}


def _check(study: StudyInput) -> None:
    problems = [
        sentence
        for spec in study.specs
        for sentence in (*_duplicates(spec), *map(str, PROTOCOLS[spec["protocol"]].spec_problems(spec)))
    ]
    problems += _twice("system", [system["key"] for system in study.systems])
    problems += _twice(
        "setting of a system",
        [f"{each['base']}, {each['setting']}" for each in study.systems if "setting" in each],
    )
    problems += _twice("query", [query.key for query in study.queries])
    row = study.unsaved()
    try:
        row.clean_fields()
    except ValidationError as invalid:
        problems += [f"{name}: {' '.join(messages)}" for name, messages in invalid.message_dict.items()]
    if not problems and row.lease_minutes < row.paid_minutes:
        problems.append("rules: lease_minutes must not be below paid_minutes")
    if row.arm_per == ArmPer.ITEM and row.once_per != OncePer.QUERY:
        problems.append(
            "spec: arm_per 'item' needs once_per 'query', or a query would be met again in another arm"
        )
    if row.stopping and not row.compares_pairs:
        problems.append("spec: stopping is for studies that compare pairs of responses")
    if row.stopping and row.human_sample is not None:
        problems.append(f"spec: {NO_STOPPING_WITH_SAMPLE}")
    if problems:
        raise LineInvalid(*problems)


def _duplicates(spec: Mapping[str, Any]) -> list[str]:
    return [
        *_twice("arm", [arm["key"] for arm in spec["arms"]]),
        *_twice("question", [question["key"] for question in spec["questions"]]),
    ]


def _twice(what: str, keys: list[str]) -> list[str]:
    return [f"{what} {key!r} appears twice" for key, times in Counter(keys).items() if times > 1]
