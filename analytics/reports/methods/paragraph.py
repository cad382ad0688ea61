"""The methods of a study as one paragraph of prose, for a paper; the list of sentences on figures stands beside it.

What the study, its judgments and this software know is said here; what the crowd knows comes from its extension.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Q

from analytics.figures.document import ReportRecord
from analytics.figures.report_view import joined
from analytics.reports.code_version import SOFTWARE_VERSION
from evaluation.extension import PASSAGES, extensions
from evaluation.filters import Filters, view_in_words
from evaluation.models import Rater, Role, Study
from evaluation.protocols import PROTOCOLS, Kind, QuestionSpec
from evaluation.protocols.base import Shown
from evaluation.services.answers import answered_questions

# The form of a preference among more than two responses.
PICK = "picks"
HEURISTIC, DERIVED, MEASURING = "heuristic", "derived", "measuring"
# How a sentence names the questions of a kind.
OTHER_KIND = ("an answer", "answers")
ASKED: dict[str, tuple[str, str]] = {
    Kind.PREFERENCE: ("a preference", "preferences"),
    PICK: ("the best response", "best responses"),
    Kind.SCALE: ("a rating", "ratings"),
    Kind.CHECKLIST: ("a yes/no checklist", "yes/no checklists"),
    Kind.RANKING: ("a ranking", "rankings"),
    Kind.CHOICE: ("a choice", "choices"),
    Kind.TEXT: ("a free text", "free texts"),
    Kind.ENTRIES: ("a set of entries", "sets of entries"),
}
# How many systems, and questions of a kind, are named.
MOST_NAMED = 8
# The same of judges, each with its model.
MOST_JUDGES = 5
# The predicates of judgments that are not in the report.
REASONS = {
    "excluded": "{be} excluded individually or with their rater",
    "skipped": "{be} skipped",
    "surplus": "came late, on items that had enough",
    "withdrawn item": "{be} on withdrawn items",
    "unparsed": "by judges could not be read",
    "refused": "{be} refused by judges",
    "truncated": "by judges {be} cut off",
    "failed": "by judges failed",
    "excluded_self": "{be} left out to avoid self-preference",
    "run not in figures": "{be} of judges' runs that are trials, anchors, unfinished or superseded",
}


def methods_paragraph(study: Study, report: ReportRecord, spec: Mapping[str, Any]) -> str:
    """The paragraph, from the task to the software; sentences whose facts are not known are left out."""
    passages, kinds = passages_of(study), _kinds_of_judges(study, report)
    sentences = [
        _study(study, report),
        _view(report),
        _questions(study, report, spec),
        *(passages[place] for place in PASSAGES if place in passages),
        _raters(study, report, kinds),
        _judges(report, kinds),
        *_exclusions(report),
        _revisions(report),
        _software(report),
    ]
    return " ".join(filter(None, sentences))


def passages_of(study: Study) -> dict[str, str]:
    """The other apps' sentences by place."""
    return {place: said for each in extensions() for place, said in each.methods_passages(study).items()}


def _study(study: Study, report: ReportRecord) -> str:
    counts, protocol = report["counts"], PROTOCOLS.get(study.protocol)
    name = protocol.label if protocol else study.protocol
    systems = [each["label"] for each in report["study"]["systems"]]
    of = f" of {_n(len(systems), 'system', 'systems')}" if systems else ""
    of += f" ({joined(systems)})" if 0 < len(systems) <= MOST_NAMED else ""
    arms = [arm["label"] for arm in report["study"]["arms"]]
    settings = f", in {_n(len(arms), 'setting', 'settings')} ({joined(arms)})" if len(arms) > 1 else ""
    baseline = next(
        (each["label"] for each in report["study"]["systems"] if each["key"] == study.baseline), ""
    )
    against = f" The baseline was {baseline}." if baseline else ""
    what = "Responses" if systems else "Items"
    return (
        f"{what}{of} to {_n(counts['queries'], 'query', 'queries')} were judged under the protocol “{name}” as "
        f"{_n(counts['items'], 'item', 'items')}{settings}.{against}"
    )


def _view(report: ReportRecord) -> str:
    """The part of the study that the report is of; what other apps say is of all of it."""
    view = report["parameters"].get("view")
    if not view or not Filters.of(view).is_partial:
        return ""
    return (
        f"This is a part of the study: {view_in_words(view)}. Sentences on recruitment, on how items were dealt and on "
        "judges' runs are of the whole study."
    )


def _questions(study: Study, report: ReportRecord, spec: Mapping[str, Any]) -> str:
    """The questions that somebody answered, and those that people were asked here."""
    forms = {each["key"].partition(".")[0]: each["form"] for each in report["questions"] if each["groups"]}
    asked: dict[str, list[str]] = {}
    shown, answered = _shown_to_people(study, spec), answered_questions(study)
    for each in map(QuestionSpec.from_json, spec["questions"]):
        if not (each.key in forms or each.shown in shown or each.key in answered):
            continue
        kind = PICK if forms.get(each.key) == PICK else str(each.kind)
        asked.setdefault(kind, []).append(each.prompt)
    parts = []
    for kind, prompts in asked.items():
        # A kind that an installation adds has no words here.
        one, several = ASKED.get(kind, OTHER_KIND)
        quoted = f" ({joined([f'“{prompt}”' for prompt in prompts])})" if len(prompts) <= MOST_NAMED else ""
        parts.append(f"{one if len(prompts) == 1 else f'{len(prompts)} {several}'}{quoted}")
    return f"Raters were asked for {joined(parts)}." if parts else ""


def _shown_to_people(study: Study, spec: Mapping[str, Any]) -> set[str]:
    """With and without a context, as items were judged by people who came to this installation."""
    people = study.raters.filter(source=Rater.Source.LIVE, kind=Rater.Kind.PERSON)
    if not people.exists():
        return set()
    arms = {arm["key"] for arm in spec["arms"] if arm["context_at_judging"]}
    items = study.items.filter(role=Role.MAIN).annotate(has_context=Q(context__isnull=False))
    seen = {arm in arms and has for arm, has in items.values_list("arm__key", "has_context").distinct()}
    return {
        Shown.ALWAYS,
        *(Shown.WITH_CONTEXT if with_context else Shown.WITHOUT_CONTEXT for with_context in seen),
    }


def _raters(study: Study, report: ReportRecord, kinds: Mapping[str, str]) -> str:
    """Judgments that count, by kind of rater; each rater stands in one kind."""
    names = {
        "person": ("person", "people"),
        "judge": ("LLM judge", "LLM judges"),
        DERIVED: ("judge derived from others", "judges derived from others"),
        MEASURING: ("automatic measure", "automatic measures"),
        HEURISTIC: ("heuristic", "heuristics"),
        "simulated": ("simulated rater", "simulated raters"),
    }
    imported = set(study.raters.filter(source=Rater.Source.IMPORTED).values_list("pseudonym", flat=True))
    parts = []
    for kind, (one, several) in names.items():
        found = [rater for rater in report["raters"] if kind == kinds.get(rater["rater"], rater["kind"])]
        if found:
            n = sum(rater["judgments"] for rater in found)
            brought = sum(rater["rater"] in imported for rater in found)
            how = ["imported" if brought == len(found) else f"{brought:,} imported"] if brought else []
            how += _groups(report, kind)
            noted = f" ({'; '.join(how)})" if how else ""
            parts.append(f"{_n(n, 'judgment', 'judgments')} by {_n(len(found), one, several)}{noted}")
    return f"The figures rest on {joined(parts)}." if parts else ""


def _kinds_of_judges(study: Study, report: ReportRecord) -> dict[str, str]:
    """Kinds of the judges that are no language models asked for their opinion."""
    found = {}
    answering = {each["group"] for question in report["questions"] for each in question["groups"]}
    for name, about in study.raters.filter(kind=Rater.Kind.JUDGE).values_list("pseudonym", "about"):
        if about.get("heuristic"):
            found[name] = HEURISTIC
        elif about.get("derived"):
            found[name] = DERIVED
        # Numbers from outside are of a judge without a version, which answers no question.
        elif about.get("writes") is False or (
            about.get("measures") and "version" not in about and name not in answering
        ):
            found[name] = MEASURING
    return found


def _judges(report: ReportRecord, kinds: Mapping[str, str]) -> str:
    """The LLM judges with their models, where there are few; a model is not told twice, nor where it is not known."""
    models = {each["rater"]: each["model"] for each in report["judges"] if each["rater"] not in kinds}
    found = [each for each in report["raters"] if each["rater"] in models]
    if not 0 < len(found) <= MOST_JUDGES:
        return ""
    named = []
    for each in found:
        model = models[each["rater"]]
        named.append(f"{each['label']} ({model})" if model not in ("", each["label"]) else each["label"])
    return f"The LLM {'judge was' if len(found) == 1 else 'judges were'} {joined(named)}."


def _groups(report: ReportRecord, whole: str) -> list[str]:
    """The groups that people, or simulated raters, are of; empty where they are told apart by none."""
    parts = [each for each in report["groups"] if each.get("within") == whole]
    return [f"{each['raters']:,} of the group {each['key'].removeprefix(f'{whole}-')}" for each in parts]


def _exclusions(report: ReportRecord) -> Iterator[str]:
    counts = report["counts"]
    parts = [
        f"{part['n']:,} {REASONS[part['reason']].format(be='was' if part['n'] == 1 else 'were')}"
        for part in counts["left_out"]
    ]
    if parts:
        yield f"Of the others, which are not in the report, {joined(parts)}."
    if n := counts["excluded_raters"]:
        yield f"{_n(n, 'rater was', 'raters were')} excluded."
    if not parts and not counts["excluded_raters"]:
        yield "No judgment was excluded."


def _revisions(report: ReportRecord) -> str:
    n = len(report["study"]["revisions"])
    view = report["parameters"].get("view") or {}
    if "revision" in view:
        return f"Only judgments made under revision {view['revision']} are in the figures."
    if n == 1:
        return "The items and questions were not revised after launch."
    return f"Judgments made under {n} revisions of the items and questions are pooled."


def _software(report: ReportRecord) -> str:
    parameters, digest = report["parameters"], report["study"]["study_hash"]
    return (
        f"The figures were computed with Assay {SOFTWARE_VERSION} (figures {parameters['version']}, seed "
        f"{parameters['seed']}); the hash "
        f"of the study's items and questions is {digest}."
    )


def _n(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"
