"""Pairwise studies that ask for several preferences: each is reported by itself, under its own name."""

from typing import Any

from evaluation.frames import asked_in_turns
from evaluation.protocols import Kind, Question

Record = dict[str, Any]


def preference_record(question: Question | None) -> Record | None:
    """What was asked; None where it is not known."""
    return {"key": question.key, "prompt": question.prompt} if question else None


def preferences_of(report: Record) -> list[Record]:
    """A report of each preference, in the shape of one that has no other.

    Reports that were computed before there could be several say of none.
    """
    return [report, *(_by_itself(report, further) for further in report.get("further_preferences") or [])]


def _by_itself(report: Record, further: Record) -> Record:
    inconsistent = {each["rater"]: each["inconsistent"] for each in further["inconsistent"]}
    return {
        **report,
        "preference": {"key": further["key"], "prompt": further["prompt"]},
        "groups": further["groups"],
        "judges": [{**judge, "inconsistent": inconsistent[judge["rater"]]} for judge in report["judges"]],
    }


def prompt_of(report: Record) -> str:
    """What a figure's name must say it is of; empty where the study asks for one preference."""
    return str(report["preference"]["prompt"]) if report.get("further_preferences") else ""


def named(finding: Record, report: Record) -> Record:
    """The finding with its question, in its heading too where there are several."""
    prompt = prompt_of(report)
    asked = {"question": report["preference"]["key"]} if report["preference"] else {}
    return {**finding, **asked, **({"heading": f"{finding['heading']}: {prompt}"} if prompt else {})}


def wordings(report: Record, spec: Record) -> list[str]:
    """What is to be said of several preferences, or of one in two wordings."""
    asked = [each for each in map(Question.from_json, spec["questions"]) if each.kind == Kind.PREFERENCE]
    if report["further_preferences"]:
        quoted = _and([f"“{each['preference']['prompt']}”" for each in preferences_of(report)])
        return [f"Each preference is reported by itself: {quoted}."]
    if len(asked) > 1 and asked_in_turns(asked):
        both = _and([f"“{question.prompt}”" for question in asked])
        return [f"The preference is asked for in two wordings, with the context and without it: {both}."]
    return []


def _and(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
