"""Filters that make a view of a study: the part of its items and judgments that a report is of, and whether judges are
also taken together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Self

from django.db.models import Q, QuerySet
from django.db.models.functions import Left
from django.utils.text import Truncator

from evaluation.canonical import canonical_hash
from evaluation.models import Item, ItemResponse, Query, Rater, Study
from evaluation.refusals import FieldsRefused

# Of what there is instead, a refusal names no more than so many.
MOST_NAMED = 20
# The split of queries without one, which has no name of its own.
NO_SPLIT = "none"
VIEW_LETTERS = 12
# The name of each filter, as commands, pages, the API and reports have it, and the field that holds it.
NAMES = {
    "query": "queries",
    "category": "categories",
    "source": "sources",
    "split": "splits",
    "arm": "arms",
    "system": "systems",
    "group": "groups",
    "rater": "raters",
    "without_rater": "without_raters",
    "revision": "revision",
    "from": "first_day",
    "to": "last_day",
    "judges": "judges",
}
# The one value of `judges`.
TOGETHER = "together"
# The name of a saved view, which stands for its filters and beside no other.
SAVED = "view"
SEVERAL = ("query", "category", "source", "split", "arm", "system", "group", "rater", "without_rater")
# More queries than this are not offered as a list to choose from; their keys can be named all the same.
MOST_OFFERED = 1_000
# Letters of a query's text beside its key.
LONGEST_TEXT = 60


@dataclass(frozen=True)
class Filters:
    """Items of these queries (keys), categories, sources, splits and arms, with a response of one of these systems;
    judgments of people of these groups beside those of all judges, of these raters (pseudonyms) and not of those, of
    one revision, made from the first day to the last (UTC). What is empty filters nothing. With `judges` several judges
    are also one group, which they otherwise are only where nobody else has judged."""

    queries: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    without_raters: tuple[str, ...] = ()
    revision: int | None = None
    first_day: date | None = None
    last_day: date | None = None
    judges: str | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) not in ((), None) for field in fields(self))

    @property
    def is_partial(self) -> bool:
        """False where the view is of the whole study."""
        return bool(replace(self, judges=None))

    @classmethod
    def parse(cls, study: Study, given: Mapping[str, Sequence[str]]) -> Self:
        """The filters of their names' values, or those of the saved view that SAVED names; empty texts are left out.
        FieldsRefused says for each that doesn't fit what there is."""
        if saved := [name for name in given.get(SAVED, ()) if name]:
            if others := [name for name in NAMES if any(given.get(name, ()))]:
                raise FieldsRefused(
                    {SAVED: [f"A saved view has its own filters: leave out {', '.join(others)}."]}
                )
            return cls.of(_saved(study, saved))
        wanted = {
            name: sorted({value for value in given.get(name, ()) if value})
            for name in NAMES
            if given.get(name)
        }
        problems: dict[str, list[str]] = {}
        for name in SEVERAL:
            if wanted.get(name):
                problems[name] = list(_unknown(name, wanted[name], _known(study, name)))
        single: dict[str, Any] = {}
        for name in ("revision", "from", "to", "judges"):
            values = wanted.get(name) or []
            try:
                single[name] = _single(study, name, values)
            except ValueError as error:
                problems[name] = [str(error)]
        first, last = single.get("from"), single.get("to")
        if first and last and first > last:
            problems["to"] = [f"The view ends on {last}, before it begins on {first}."]
        both = set(wanted.get("rater", ())) & set(wanted.get("without_rater", ()))
        if both:
            problems.setdefault("without_rater", []).append(
                f"The view asks for and leaves out the same rater: {', '.join(sorted(both))}."
            )
        if any(problems.values()):
            raise FieldsRefused({name: found for name, found in problems.items() if found})
        splits = ["" if each == NO_SPLIT else each for each in wanted.get("split", ())]
        return cls(
            queries=tuple(wanted.get("query", ())),
            categories=tuple(wanted.get("category", ())),
            sources=tuple(wanted.get("source", ())),
            splits=tuple(splits),
            arms=tuple(wanted.get("arm", ())),
            systems=tuple(wanted.get("system", ())),
            groups=tuple(wanted.get("group", ())),
            raters=tuple(wanted.get("rater", ())),
            without_raters=tuple(wanted.get("without_rater", ())),
            revision=single["revision"],
            first_day=first,
            last_day=last,
            judges=single["judges"],
        )

    @classmethod
    def of(cls, view: Mapping[str, Any]) -> Self:
        """The filters of a canonical form, which were parsed before."""
        found: dict[str, Any] = {NAMES[name]: value for name, value in view.items()}
        for name, value in found.items():
            if name in ("first_day", "last_day"):
                found[name] = date.fromisoformat(value)
            elif name not in ("revision", "judges"):
                found[name] = tuple(value)
        if "splits" in found:
            found["splits"] = tuple("" if each == NO_SPLIT else each for each in found["splits"])
        return cls(**found)

    def canonical(self) -> dict[str, Any]:
        """The same for the same view, however it was asked for: what filters, by its name; nothing for everything."""
        found: dict[str, Any] = {}
        for name, field in NAMES.items():
            value = getattr(self, field)
            if value in ((), None):
                continue
            if name == "split":
                value = tuple(each or NO_SPLIT for each in value)
            found[name] = list(value) if isinstance(value, tuple) else value
            if isinstance(value, date):
                found[name] = value.isoformat()
        return found

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Name and value of each, as an address has them."""
        return [
            (name, str(each))
            for name, value in self.canonical().items()
            for each in (value if isinstance(value, list) else [value])
        ]

    @property
    def digest(self) -> str:
        """A hash of the canonical form; empty for everything."""
        return canonical_hash(self.canonical()) if self else ""

    def admits(self, rater: str, group: str | None) -> bool:
        """True if the judgments of the rater of that pseudonym may be in the view; `group` is None for a judge."""
        if self.groups and group is not None and group not in self.groups:
            return False
        return (not self.raters or rater in self.raters) and rater not in self.without_raters

    @property
    def choose_items(self) -> bool:
        of_query = self.queries or self.categories or self.sources or self.splits
        return bool(of_query or self.arms or self.systems)

    @property
    def choose_judgments(self) -> bool:
        """True where of one item some judgments are in the view and others are not."""
        chosen = (self.revision, self.first_day, self.last_day)
        return bool(self.raters or self.without_raters) or any(each is not None for each in chosen)

    def items(self, study: Study) -> QuerySet[Item]:
        """The study's items that are in the view, whoever judged them."""
        found = Item.objects.filter(study=study)
        chosen = {
            "query__key": self.queries,
            "query__category": self.categories,
            "query__source": self.sources,
            "query__split": self.splits,
            "arm__key": self.arms,
        }
        found = found.filter(**{f"{path}__in": values for path, values in chosen.items() if values})
        if self.systems:
            shown = ItemResponse.objects.filter(
                response__system__study=study, response__system__key__in=self.systems
            )
            found = found.filter(pk__in=shown.values("item"))
        return found

    def items_q(self, study: Study, path: str = "pk") -> Q:
        """The same as a condition; `path` leads from the rows that are filtered to their item."""
        return Q(**{f"{path}__in": self.items(study).values("pk")}) if self.choose_items else Q()

    def raters_q(self, study: Study, path: str = "rater") -> Q:
        """Rows of raters in the view; `path` leads to the rater."""
        found, raters = Q(), Rater.objects.filter(study=study)
        if self.groups:
            # A group is one of people: judges and those who settle stand beside each.
            apart = (Rater.Kind.JUDGE, Rater.Kind.SETTLED)
            others = raters.exclude(kind__in=apart).exclude(group__in=self.groups)
            found &= ~Q(**{f"{path}__in": others.values("pk")})
        if self.raters:
            found &= Q(**{f"{path}__in": raters.filter(pseudonym__in=self.raters).values("pk")})
        if self.without_raters:
            found &= ~Q(**{f"{path}__in": raters.filter(pseudonym__in=self.without_raters).values("pk")})
        return found

    def judgments(self, study: Study, path: str = "") -> Q:
        """The judgments in the view; `path` leads from the rows that are filtered to their judgment."""
        found = self.items_q(study, f"{path}item") & self.raters_q(study, f"{path}rater")
        if self.revision is not None:
            revisions = study.revisions.filter(number=self.revision)
            found &= Q(**{f"{path}revision__in": revisions.values("pk")})
        if self.first_day:
            found &= Q(**{f"{path}judged_at__gte": _midnight(self.first_day)})
        if self.last_day:
            found &= Q(**{f"{path}judged_at__lt": _midnight(self.last_day + timedelta(days=1))})
        return found


EVERYTHING = Filters()


def _saved(study: Study, names: Sequence[str]) -> Mapping[str, Any]:
    """The canonical form of the view of that name."""
    known = dict(study.saved_views.values_list("name", "filters"))
    if len(names) > 1:
        raise FieldsRefused(
            {SAVED: [f"One saved view can be asked for, not {len(names)}: {', '.join(names)}."]}
        )
    (name,) = names
    if name not in known:
        there = f"its saved views: {', '.join(known)}" if known else "it has no saved views"
        raise FieldsRefused({SAVED: [f"The study has no saved view {name!r} ({there})."]})
    found: Mapping[str, Any] = known[name]
    return found


def view_in_words(view: Mapping[str, Any], names: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """The canonical form as the end of a sentence; keys and pseudonyms stand as they are unless `names`, by filter and
    value, has a name."""

    def named(name: str) -> str:
        known = (names or {}).get(name, {})
        return ("; " if names else ", ").join(known.get(each, each) for each in view[name])

    found = [
        f"{_plural(one, view[name])} {named(name)}"
        for name, one in (
            ("query", "query"),
            ("category", "category"),
            ("source", "source"),
            ("split", "split"),
            ("arm", "setting"),
            ("system", "system"),
            ("rater", "rater"),
        )
        if name in view
    ]
    if "group" in view:
        found.append(f"of people those in {_plural('group', view['group'])} {named('group')}")
    if "without_rater" in view:
        found.append(f"without {_plural('rater', view['without_rater'])} {named('without_rater')}")
    if "revision" in view:
        found.append(f"revision {view['revision']}")
    first, last = view.get("from"), view.get("to")
    if first and last:
        found.append(f"judged from {first} to {last}")
    elif first or last:
        found.append(f"judged from {first} on" if first else f"judged up to {last}")
    if "judges" in view:
        found.append("judges also together")
    return "; ".join(found)


def choices_of(study: Study) -> dict[str, dict[str, str]]:
    """The values of each filter in a study, each with its name, of those filters that leave something to choose."""
    keys, facts = _queries_of(study)
    raters = list(study.raters.order_by("pseudonym"))
    judges = [rater for rater in raters if rater.kind == Rater.Kind.JUDGE]
    groups = {each.group for each in raters if each.group and each.kind != Rater.Kind.JUDGE}
    of_raters = {each.pseudonym: _rater_named(each) for each in raters}
    found = {
        "query": keys,
        **_choices_by_facts(study, facts, groups),
        "rater": of_raters,
        "without_rater": of_raters,
    }
    chosen = {name: values for name, values in found.items() if len(values) > 1}
    return chosen | ({"judges": {TOGETHER: TOGETHER}} if len(judges) > 1 else {})


def few_choices_of(study: Study) -> dict[str, dict[str, str]]:
    """The same without queries and raters, of which there may be many thousands."""
    facts = study.queries.order_by().distinct().values_list("category", "source", "split")
    found = _choices_by_facts(study, list(facts), set(_known(study, "group")))
    return {name: values for name, values in found.items() if len(values) > 1}


def _choices_by_facts(
    study: Study, facts: Iterable[tuple[str, str, str]], groups: Iterable[str]
) -> dict[str, dict[str, str]]:
    """The choices by the category, source and split that queries have, and what stands beside them."""
    categories, sources, splits = ({each[at] for each in facts} for at in range(3))
    named = {
        name: {value: value for value in sorted(values)}
        for name, values in (
            ("category", categories - {""}),
            ("source", sources - {""}),
            ("split", {split or NO_SPLIT for split in splits}),
            ("group", groups),
        )
    }
    return {
        **{name: named[name] for name in ("category", "source", "split")},
        "arm": dict(study.arms.values_list("key", "label")),
        "system": {key: label or key for key, label in study.systems.values_list("key", "label")},
        "group": named["group"],
    }


def _rater_named(rater: Rater) -> str:
    """A person with their group; a judge with its model, and what its run was for where that is no report."""
    about = rater.about
    model = str(about.get("model", ""))
    parts = [str(rater), rater.group if rater.kind != Rater.Kind.JUDGE else model]
    if rater.kind == Rater.Kind.SETTLED:
        parts.append(str(rater.get_kind_display()))
    elif not rater.in_figures:
        purpose = str(about.get("purpose", "main"))
        parts.append("not in the report" if purpose == "main" else f"{purpose} run, not in the report")
    return ", ".join(filter(None, parts))


def _queries_of(study: Study) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The study's queries, each key with the beginning of its text, none where they are too many to be offered; and the
    category, source and split that each has."""
    queries = Query.objects.filter(study=study)
    rows = queries.order_by("pk").annotate(begins=Left("text", LONGEST_TEXT + 1))
    found = list(rows.values_list("key", "begins", "category", "source", "split")[: MOST_OFFERED + 1])
    if len(found) > MOST_OFFERED:
        return {}, list(queries.order_by().distinct().values_list("category", "source", "split"))
    begins = {key: Truncator(" ".join(text.split())).chars(LONGEST_TEXT) for key, text, *_ in found}
    named = {key: f"{key}: {text}" if text else key for key, text in begins.items()}
    return named, [(category, source, split) for *_, category, source, split in found]


def _plural(noun: str, named: Sequence[Any]) -> str:
    if len(named) == 1:
        return noun
    return f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"


def _known(study: Study, name: str) -> list[str]:
    """The values of a filter that there are, in the study's order where it has one."""
    if name == "arm":
        return list(study.arms.values_list("key", flat=True))
    if name == "system":
        return list(study.systems.values_list("key", flat=True))
    if name == "group":
        grouped = study.raters.exclude(kind=Rater.Kind.JUDGE).exclude(group="")
        return list(grouped.order_by("group").values_list("group", flat=True).distinct())
    if name in ("rater", "without_rater"):
        return list(study.raters.order_by("pseudonym").values_list("pseudonym", flat=True))
    queries = Query.objects.filter(study=study)
    if name == "query":
        return list(queries.order_by("pk").values_list("key", flat=True))
    values = queries.order_by().distinct().values_list(name, flat=True)
    if name == "split":
        return sorted(each or NO_SPLIT for each in values)
    return sorted(each for each in values if each)


def _unknown(name: str, wanted: Iterable[str], known: Sequence[str]) -> Iterator[str]:
    noun = "rater" if name == "without_rater" else name
    several = "settings" if noun == "arm" else _plural(noun, ("", ""))
    quoted = ", ".join(known[:MOST_NAMED])
    more = f" and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
    there = f"its {several}: {quoted}{more}" if known else f"it has no {several}"
    for value in wanted:
        if value not in known:
            yield f"The study has no {'setting' if noun == 'arm' else noun} {value!r} ({there})."


def _single(study: Study, name: str, values: Sequence[str]) -> Any:
    """The one value of a filter that has one, None without any. ValueError says what is wrong with it."""
    if not values:
        return None
    if len(values) > 1:
        raise ValueError(f"A view has one value of {name}, not {len(values)}: {', '.join(values)}.")
    (value,) = values
    if name == "judges":
        if value != TOGETHER:
            raise ValueError(f"Judges are {TOGETHER!r} or, left out, each by itself; not {value!r}.")
        return value
    if name != "revision":
        try:
            found = date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{value!r} is no day: write it as 2026-01-31.") from None
        if not 1 < found.year < 9999:
            raise ValueError(f"No judgment is of the year {found.year}.")
        return found
    known = list(study.revisions.order_by("number").values_list("number", flat=True))
    if value not in map(str, known):
        there = f"its revisions: {', '.join(map(str, known))}" if known else "it has not been launched"
        raise ValueError(f"The study has no revision {value!r} ({there}).")
    return int(value)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
