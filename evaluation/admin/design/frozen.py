"""A study's design in words: what a launch froze, revision by revision, or what it would freeze."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.admin.design.shares import said_share
from evaluation.admin.study.forms import SHOWN, TEXTS
from evaluation.admin.study.question_options import OVERS
from evaluation.admin.study.rules import StepsForm
from evaluation.forms.language import language_of, texts_language_of
from evaluation.models import ArmPer, Item, Language, OncePer, RenderAs, Role, Study
from evaluation.models.study import DEFAULT_EPSILON
from evaluation.protocols import Kind, Over, QuestionSpec, get_protocol
from evaluation.protocols.attributes import attributes_of
from evaluation.protocols.base import TIE, Spec, asked_questions, option_key
from evaluation.protocols.kinds import KINDS
from evaluation.protocols.requirements.needs import Needs, read_needs
from evaluation.rendering.markdown import render_markdown
from evaluation.rendering.mathematics import SPELLINGS
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.retention import retention_text
from evaluation.stopping import StoppingRule

STEPS = ("consent", "instructions", "training", "comments")
Facts = list[tuple[str, str]]


def design_context(study: Study, wanted: str) -> dict[str, Any]:
    """The variables of the page on which a design is read: the wanted revision, by default the latest."""
    revisions = list(study.revisions.order_by("number"))
    shown = next(
        (each for each in revisions if str(each.number) == wanted), revisions[-1] if revisions else None
    )
    return {
        "revisions": revisions,
        "revision": shown,
        "spec": describe_spec(shown.spec if shown else compile_spec(study)),
        "settings": _settings(study),
        "n_items": Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None).count(),
    }


def describe_spec(spec: Spec) -> dict[str, Any]:
    """A compiled spec as headings, sentences and tables."""
    return {
        "protocol": get_protocol(spec["protocol"]).label,
        "arms": [_arm(arm) for arm in spec["arms"]],
        "questions": [_question(QuestionSpec.from_json(each)) for each in asked_questions(spec)],
        "attributes": attributes_of(spec),
        "texts": list(_texts(spec["texts"])),
        "plain": len(spec["arms"]) == 1 and not any(_shows_context(arm) for arm in spec["arms"]),
        "rules": list(_rules(spec)),
        "further": list(_further_rules(spec)),
        "look": _look(spec),
    }


def _shows_context(arm: Mapping[str, Any]) -> bool:
    return bool(arm["context_at_generation"] or arm["context_at_judging"])


def _arm(arm: Mapping[str, Any]) -> dict[str, str]:
    return {
        "key": arm["key"],
        "label": arm["label"],
        "written": "with the context" if arm["context_at_generation"] else "without the context",
        "seen": "the context" if arm["context_at_judging"] else "no context",
    }


def _question(question: QuestionSpec) -> dict[str, Any]:
    return {
        "key": question.key,
        "prompt": question.prompt,
        "help": question.help,
        "answered": _answered(question),
        "about": OVERS[question.over],
        "asked": SHOWN[question.shown],
        "required": question.required,
        "values": list(_values(question)),
        "has_meanings": any(each["meaning"] for each in _values(question)),
    }


def _answered(question: QuestionSpec) -> str:
    """The manner in which the question is answered, in a few words."""
    match question.kind:
        case Kind.SCALE:
            return _scale(question)
        case Kind.PREFERENCE:
            tie = {(): ", without ties", (TIE,): ", or a tie"}.get(
                question.tie_values, ", both are good, or both are bad"
            )
            graded = f", by how much on {question.form['points']} points" if question.grades else ""
            return f"The best of the responses{tie}{graded}"
        case Kind.CHECKLIST if question.is_flag:
            return "One box to tick"
        case Kind.CHECKLIST if question.over == Over.CHOICE:
            return f"Any of {len(question.choices)} choices{', or none' if question.offers_none else ''}"
        case Kind.CHECKLIST:
            return "Yes or no"
        case Kind.RANKING:
            return "A rank for each response, ties allowed" if question.ties else "A rank for each response"
        case Kind.CHOICE:
            return f"One of {len(question.choices)} choices"
        case Kind.TEXT:
            return f"Text of at least {question.least} characters" if question.least else "Text"
        case Kind.ENTRIES:
            return "Condition-answer-citation entries"
    return str(question.kind).capitalize()


def _scale(question: QuestionSpec) -> str:
    low, high, step = (
        option_key(each) for each in (question.points[0], question.points[-1], _step(question))
    )
    steps = "" if step == "1" else f" in steps of {step}"
    best = (
        f"{option_key(question.ideal)} is ideal"
        if question.ideal is not None
        else f"{question.direction} is better"
    )
    return f"A number from {low} to {high}{steps}; {best}"


def _step(question: QuestionSpec) -> float:
    return float(question.form.get("step", 1))


def _values(question: QuestionSpec) -> Iterator[dict[str, Any]]:
    """The values that have a label or a meaning; of a scale its ends, too."""
    offered = [option_key(each) for each in KINDS[question.kind].offers(question)]
    named = [*offered, *(option_key(grade) for grade in question.grades if grade > 0)]
    ends = {offered[0], offered[-1]} if question.kind == Kind.SCALE else set()
    for value in named:
        label, meaning = question.label(value), question.about(value)
        if label or meaning or value in ends:
            yield {"value": value, "label": label, "meaning": meaning}


def _texts(texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    known = [key for key in TEXTS if key in texts]
    for key in [*known, *(key for key in texts if key not in TEXTS)]:
        if texts[key].strip():
            yield {"heading": TEXTS.get(key, (key, ""))[0], "html": render_markdown(texts[key])}


def _rules(spec: Spec) -> Iterator[tuple[str, str]]:
    said = StepsForm.initial_steps(spec["steps"], spec["skips"])
    steps = [name for name in STEPS if said[f"step_{name}"]]
    yield "Steps besides the items", ", ".join(steps) or "none"
    yield "Qualification", _qualification(said)
    yield "Attention checks", _attention(said)
    after = said["skips_flag_after"]
    flagged = f"; an item is flagged once it was skipped {after} times" if after else ""
    yield "Skips", f"{said['skips_per_participant']} per participant{flagged}"
    yield "Repetition", f"a participant sees each {OncePer(spec['once_per']).label} at most once"
    yield "Baseline", spec["baseline"] or "none"
    rule = StoppingRule.of(spec.get("stopping") or {})
    yield "Stopping early", str(rule) if rule else "never: all items are judged"
    sample = spec.get("human_sample")
    yield "Queries that people judge", "all of them" if sample is None else f"a random part of {sample:,}"
    for share in spec.get("shares", ()):
        yield f"Share “{share['label']}”", said_share(share)
    if get_protocol(spec["protocol"]).has_needs:
        yield "An item needs", _needs(read_needs(spec.get("needs") or {}))


def _further_rules(spec: Spec) -> Iterator[tuple[str, str]]:
    yield "Arm", f"drawn once per {ArmPer(spec.get('arm_per', ArmPer.PARTICIPANT)).label}"
    yield "Seed", str(spec["seed"])
    yield "Epsilon of judges", f"{spec.get('epsilon', DEFAULT_EPSILON):g}"


def _needs(needs: Needs) -> str:
    between = str(needs.least) if needs.least == needs.most else f"{needs.least} to {needs.most}"
    parts = ["a query"] if needs.query else []
    parts.append(f"{between} responses")
    if needs.document:
        parts.append(f"a document ({needs.document})")
    return ", ".join(parts)


def _qualification(said: Mapping[str, Any]) -> str:
    if not said["qualification_pass_mark"]:
        return "none"
    attempts = said["qualification_attempts"] or 1
    often = f", in up to {attempts} attempts" if attempts > 1 else ""
    return f"{said['qualification_pass_mark']} items to get right{often}"


def _attention(said: Mapping[str, Any]) -> str:
    if not said["attention_checks"]:
        return "none"
    allowed = said["attention_allowed_failures"]
    end = "" if allowed is None else f"; more than {allowed} failed end the visit"
    warned = ", with a warning after a failed one" if said["attention_warn"] else ""
    return f"{said['attention_checks']} per participant{warned}{end}"


def _look(spec: Spec) -> Facts:
    return [
        ("Title", spec["title"]),
        ("Language", Language(language_of(spec)).label),
        *([("Language of the texts", code)] if (code := texts_language_of(spec)) else []),
        ("Who asked", spec["asker"]),
        ("Responses", f"shown as {RenderAs(spec['render_as']).label}"),
        ("Mathematics", _mathematics(spec)),
        (
            "Images",
            "shown where they stand in a response as data" if spec.get("show_images") else "not shown",
        ),
        ("References", "can be opened" if spec["show_references"] else "not shown to participants"),
    ]


def _visits(study: Study) -> str:
    return f"up to {study.visits}{', each with practice' if study.practice_each_visit else ''}"


def _settings(study: Study) -> Facts:
    """The settings that may change while the study is live."""
    codes = [f"{key.replace('_', ' ')}: {code}" for key, code in sorted(study.completion_codes.items())]
    return [
        ("Judgments per item", str(study.redundancy)),
        ("Items per participant", str(study.items_per_participant)),
        *([("Paid visits per participant", _visits(study))] if study.visits > 1 else []),
        ("Minutes", f"{study.paid_minutes} paid; an item is reserved for {study.lease_minutes}"),
        ("Pay", "none entered" if study.pay is None else f"{study.pay} {study.currency}"),
        (
            "Budget for people",
            "none" if study.people_budget is None else f"{study.people_budget:,} {study.currency}",
        ),
        ("Revisable answers", study.get_going_back_display()),
        ("Data of who withdraws", "erased on request" if study.erases_withdrawn else "kept"),
        ("Groups of people", ", ".join(study.groups) or "none"),
        ("Contact", study.contact or "none entered"),
        ("Completion codes", "; ".join(codes) or "none"),
        ("Exported times", "exact" if study.exact_times else "the day"),
        ("Platform ids", retention_text(study) or "kept"),
    ]


def _mathematics(spec: Spec) -> str:
    typeset = [
        spelling.name for spelling in SPELLINGS.values() if bool(spec.get(spelling.rule)) is spelling.shows
    ]
    return f"typeset in {' and in '.join(typeset)}" if typeset else "as written"
