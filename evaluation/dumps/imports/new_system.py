"""A further system in a study of pairs: from its responses alone, the pairs of each with those that are there."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.counting import counted
from evaluation.dumps.item_parts import context_record, given_context
from evaluation.dumps.lines import Source, SourceLine
from evaluation.models import ItemResponse, Role, Study
from evaluation.refusals import Refused
from evaluation.services.studies.compilation import query_content

AGAINST = ("baseline", "all")
# A line of the file: the query's key, the text, and the key of the context that the response was given.
FIELDS = {"query": True, "text": True, "context": False}
MAX_KEY = 120


@dataclass
class QueryOpponents:
    """A query in an arm and a context, with the responses of other systems that are judged there."""

    row: Any
    opponents: dict[int, Any] = field(default_factory=dict)


class NewSystemSource:
    """Items as `add_items` reads them, made of a file of one system's responses."""

    format = "responses-jsonl-1"
    unit = "line"

    def __init__(
        self, source: Source, study: Study, *, system: str, against: str, label: str = "", family: str = ""
    ) -> None:
        self.source, self.study = source, study
        self.name = source.name
        self.system, self.label, self.family = system, label, family
        self.against = against
        self.without = 0
        # Whether some responses are to be those that were given no context.
        self.has_plain_arm = study.arms.filter(context_at_generation=False).exists()
        self._check()

    def _check(self) -> None:
        known = set(self.study.systems.values_list("key", flat=True))
        problems = []
        if not self.study.protocol_object.compares_pairs:
            problems.append(f"The items of {self.study.title} are no pairs.")
        if self.system in known:
            problems.append(f"The study has a system {self.system!r} already.")
        if not 0 < len(self.system) <= MAX_KEY:
            problems.append(f"A system's name has between 1 and {MAX_KEY} characters.")
        if self.against not in AGAINST:
            problems.append(f"Against is {' or '.join(AGAINST)}, not {self.against!r}.")
        elif self.against == "baseline" and self.study.baseline not in known:
            problems.append("The study names no baseline system; compare with all systems.")
        if problems:
            raise Refused(*problems)

    @property
    def total(self) -> int:
        return self.source.total

    def fingerprint(self) -> str:
        return self.source.fingerprint()

    def notes(self) -> dict[str, Any]:
        if not self.without:
            return {}
        queries = counted(self.without, "query", "queries")
        left = f"{queries}, by arm and context, without a response of {self.system} in the file."
        return {"sentences": [f"Not compared: {left}"]}

    def lines(self) -> Iterator[SourceLine]:
        self.without = 0
        system = {"key": self.system, "label": self.label, "family": self.family}
        yield SourceLine(0, 0, 0, {"assay": 1, "spec": {"arms": []}, "systems": [system]})
        places = self._places()
        queries = {place.row.item.query.key for place in places}
        given: dict[tuple[str, str], str] = {}
        number = done = 0
        for line in self.source.lines():
            number, done = line.number, line.done
            problems = line.problems or tuple(self._problems(line.value, queries, given))
            if problems:
                yield SourceLine(line.number, 0, line.done, problems=problems)
            else:
                given[line.value["query"], line.value.get("context") or ""] = line.value["text"]
        keys: set[str] = set(self.study.items.values_list("key", flat=True))
        for place in places:
            for record in self._pairs(place, given, keys):
                yield SourceLine(number, 0, done, record)

    def _problems(
        self, value: Mapping[str, Any], queries: Collection[str], given: Collection[Any]
    ) -> Iterator[str]:
        yield from (f"{name}: a response has no such field" for name in value if name not in FIELDS)
        for name, required in FIELDS.items():
            each = value.get(name)
            if each is None and required:
                yield f"{name}: is missing"
            elif each is not None and not isinstance(each, str):
                yield f"{name}: must be text"
                return
        if "query" in value and value["query"] not in queries:
            yield f"query: no item of the study is about {value['query']!r}"
        if (value.get("query"), value.get("context") or "") in given:
            yield f"a second response to {value['query']!r} in the same context"

    def _places(self) -> list[QueryOpponents]:
        """In the order of the study's items, with each opponent once."""
        rows = ItemResponse.objects.filter(
            item__study=self.study, item__role=Role.MAIN, item__withdrawn_at=None
        ).select_related("item__arm", "item__query", "item__context", "response__system", "response__context")
        if self.against == "baseline":
            rows = rows.filter(response__system__key=self.study.baseline)
        found: dict[Any, QueryOpponents] = {}
        for row in rows.order_by("item__position", "item", "response"):
            item = row.item
            asked = (item.clarifying_question, item.clarifying_source)
            where = (item.arm_id, item.query_id, item.context_id, *asked)
            found.setdefault(where, QueryOpponents(row)).opponents.setdefault(row.response_id, row.response)
        return list(found.values())

    def _pairs(
        self, place: QueryOpponents, given: Mapping[tuple[str, str], str], keys: set[str]
    ) -> Iterator[dict[str, Any]]:
        item = place.row.item
        context = item.context
        told = context.key if context is not None and item.arm.context_at_generation else None
        text = self._text(item.query.key, told, given)
        if text is None:
            self.without += 1
            return
        for opponent in place.opponents.values():
            yield {
                "key": _free_key(f"{item.query.key}-{item.arm.key}-{self.system}-{opponent.key}", keys),
                "arm": item.arm.key,
                "query": query_content(item.query),
                "context": context_record(context),
                "clarifying_question": item.clarifying_question,
                "clarifying_source": item.clarifying_source,
                "responses": [
                    {"system": self.system, "text": text, "context": told},
                    {
                        "system": opponent.system.key,
                        "key": opponent.key,
                        "text": opponent.text,
                        "context": given_context(opponent.context, context),
                    },
                ],
            }

    def _text(self, query: str, told: str | None, given: Mapping[tuple[str, str], str]) -> str | None:
        """The response that was given this context. Where every arm's was, a line need not name it."""
        found = given.get((query, told or ""))
        if found is None and told is not None and not self.has_plain_arm:
            found = given.get((query, ""))
        return found


def _free_key(wanted: str, keys: set[str]) -> str:
    """The key, shortened or with a number behind it where it is taken."""
    key, n = wanted[:MAX_KEY], 1
    while key in keys:
        n += 1
        key = f"{wanted[: MAX_KEY - 6]}-{n}"
    keys.add(key)
    return key
