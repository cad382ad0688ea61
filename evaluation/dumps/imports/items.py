"""An item's line as unsaved rows and a checked stimulus, without the database."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from evaluation.canonical import canonical_hash
from evaluation.dumps.imports.judgments import Declared, prepare_judgments
from evaluation.dumps.imports.notes import prepare_notes
from evaluation.dumps.problems import LineInvalid
from evaluation.models import Context, Item, Query, Response, Role, System
from evaluation.protocols import get_protocol
from evaluation.protocols.attributes import attributes_of, find_unknown
from evaluation.protocols.base import Spec
from evaluation.protocols.entries.sets import clean_entries, write_set
from evaluation.rendering.rules import EARLIER, RENDERER, RenderRules
from evaluation.services.imports import ImportedItem, ImportedJudgment
from evaluation.services.studies.compilation import Markdown, ResponseRenderer, compile_stimulus
from evaluation.turns import transcript, written_turns

MAX_KEY = 120
# What stands between the turns of a response where its text is all of them.
BETWEEN_TURNS = "\n\n"
Record = Mapping[str, Any]
# What is of one item, and so on no line that stands for several.
OF_ONE_ITEM = ("context", "gold", "judgments", "notes", "origin", "start_order", "stimulus_hash")


def default_response_key(system: str, context: str | None) -> str:
    """A response's key where the line gives none: one per system, and one more per context it was given."""
    return system if context is None else f"{system}@{context}"


def default_response_context(arm: Mapping[str, Any], context: Any) -> Any:
    """The context that a response was given, where the line does not say."""
    return context if arm["context_at_generation"] else None


# What leaves open which parts there are, so that nothing more can be said of gold and judgments.
PARTS_UNKNOWN = {"responses", "context_missing"}


@dataclass(frozen=True)
class ItemCheck:
    """An item as far as its line allows, with all its problems."""

    item: ImportedItem
    problems: list[str]
    # Whether the item itself is good, its gold and judgments aside: only then its stimulus is what was meant.
    stands: bool


def expand_items(record: Record) -> list[Record]:
    """The items that a line stands for: itself, or where it lists attributes, one for each of them.

    Each then asks of that attribute alone, without a chosen value, and its key is the line's and the attribute's.
    """
    if "attributes" not in record:
        return [record]
    problems = [f"attributes: {key!r} appears twice" for key in _twice(record["attributes"])]
    problems += [f"{name}: can't stand beside attributes" for name in OF_ONE_ITEM if name in record]
    shared = {name: value for name, value in record.items() if name != "attributes"}
    records: list[Record] = [
        {
            **shared,
            "key": f"{record['key']}-{key}",
            "context": {"key": key, "follow_ups": [{"attribute": key}]},
        }
        for key in record["attributes"]
    ]
    problems += [
        f"key: {each['key']!r} is longer than {MAX_KEY}" for each in records if len(each["key"]) > MAX_KEY
    ]
    if problems:
        raise LineInvalid(*problems)
    return records


def _twice(keys: Sequence[str]) -> list[str]:
    return [key for key, times in Counter(keys).items() if times > 1]


class ItemPreparer:
    """Preparation of a study's items, one line at a time; the same for checking and for writing."""

    def __init__(
        self, specs: Sequence[Spec], markdown: Markdown | None, measures: Declared | None = None
    ) -> None:
        """`markdown` makes responses HTML; None leaves it out, where only the check counts. `measures` are those that
        raters declare, by their names."""
        self.specs = specs
        self.measures = measures or {}
        self.spec = specs[-1]
        self.protocol = get_protocol(self.spec["protocol"])
        self.attributes = attributes_of(self.spec)
        self.arms = {arm["key"]: arm for arm in self.spec["arms"]}
        self._markdown = markdown or _unrendered
        self._renderers: dict[str, ResponseRenderer] = {}
        self._systems: dict[str, System] = {}

    def prepare(self, record: Record, *, keep_stimulus: bool = True) -> ImportedItem:
        """The item of a line that fits the schema; LineInvalid with every reason against it."""
        examined = self.examine(record, keep_stimulus=keep_stimulus)
        if examined.problems:
            raise LineInvalid(*examined.problems)
        return examined.item

    def examine(self, record: Record, *, keep_stimulus: bool = True) -> ItemCheck:
        """Prepare a line that may have any number of faults; none hides another."""
        arm = self.arms.get(record["arm"])
        query, context = query_row(record["query"]), _context(record.get("context"))
        responses, problems = self._responses(record["responses"], arm, context)
        misnamed = self._misnamed(record.get("context"))
        problems += misnamed
        if record.get("revision", 1) > len(self.specs):
            problems.append(f"revision: the study has {len(self.specs)}")
        stimulus: dict[str, Any] | None = None
        judgments: list[ImportedJudgment] = []
        further: list[str] = []
        if arm is None:
            problems.insert(0, f"the study has no arm {record['arm']!r}; it has {', '.join(self.arms)}")
        else:
            stimulus = self._stimulus(record, query, context, responses)
            # Of an attribute that is not known there is nothing to check.
            found = [] if misnamed else self.protocol.check_item(self.spec, stimulus)
            problems += map(str, found)
            if not misnamed and not PARTS_UNKNOWN & {problem.code for problem in found}:
                judgments, further = self._about_parts(record, stimulus)
        notes, wrong = prepare_notes(record.get("notes", ()))
        problems += wrong
        item = ImportedItem(
            arm=record["arm"],
            item=_item(record),
            query=query,
            context=context,
            responses=responses,
            stimulus=stimulus if keep_stimulus else None,
            judgments=judgments,
            notes=notes,
        )
        return ItemCheck(item, [*problems, *further], stands=not problems)

    def _stimulus(
        self, record: Record, query: Query, context: Context | None, responses: list[Response]
    ) -> dict[str, Any]:
        return compile_stimulus(
            arm=record["arm"],
            query=query,
            context=context,
            clarifying_question=record.get("clarifying_question", ""),
            responses=responses,
            attributes=self.attributes,
            render=self._renderer(record),
        )

    def _renderer(self, record: Record) -> ResponseRenderer:
        """The version that the line was frozen with. Those that were written before lines said so are of the earlier
        one; what was never frozen is rendered as of today."""
        version = record.get("renderer", EARLIER if "stimulus_hash" in record else RENDERER)
        if version not in self._renderers:
            self._renderers[version] = ResponseRenderer(self.spec, self._markdown, version)
        return self._renderers[version]

    def _misnamed(self, context: Record | None) -> list[str]:
        """Problems with the attributes that the context names."""
        follow_ups = context["follow_ups"] if context else []
        both = [
            f"context: follow-up question {number} names an attribute and brings {name} of its own"
            for number, each in enumerate(follow_ups, 1)
            if "attribute" in each
            for name in ("question", "answers")
            if name in each
        ]
        return [*map(str, find_unknown(follow_ups, self.attributes)), *both]

    def _about_parts(
        self, record: Record, stimulus: dict[str, Any]
    ) -> tuple[list[ImportedJudgment], list[str]]:
        """The valid judgments, and the problems of the gold and of the others."""
        gold = record.get("gold")
        problems = [] if gold is None else self.protocol.gold_problems(self.spec, stimulus, gold)
        judgments, wrong = prepare_judgments(
            self.specs, self.protocol, stimulus, record.get("judgments", ()), self.measures
        )
        return judgments, [*map(str, problems), *wrong]

    def _responses(
        self, records: list[Record], arm: Mapping[str, Any] | None, context: Context | None
    ) -> tuple[list[Response], list[str]]:
        responses: list[Response] = []
        keys: list[str] = []
        problems: list[str] = []
        for record in records:
            own = record.get("context")
            problems += self._misnamed(own if isinstance(own, Mapping) else None)
            try:
                given = _given_context(record, arm, context)
            except LineInvalid as invalid:
                problems += invalid.problems
                given = None
            else:
                # What the default key is depends on the arm; without one only what is certain counts.
                if arm is not None or "key" in record:
                    keys.append(_key(record, given))
            try:
                text = self._text(record)
            except LineInvalid as invalid:
                problems += invalid.problems
                text = record.get("text", write_set([]) if "entries" in record else "")
            responses.append(self._response(record, text, given))
        problems += [
            f"responses: the key {key!r} is longer than {MAX_KEY}" for key in keys if len(key) > MAX_KEY
        ]
        problems += [f"responses: {key!r} appears twice" for key in _twice(keys)]
        return responses, problems

    def _text(self, record: Record) -> str:
        """A response's text: of a conversation all its turns, of a drafted set its entries in their one spelling."""
        if "turns" in record:
            if "text" in record or "entries" in record:
                raise LineInvalid(
                    f"responses: {record['system']!r} has turns and beside them a text or entries"
                )
            return BETWEEN_TURNS.join(record["turns"])
        if "entries" not in record:
            text: str = record["text"]
            return text
        whose = f"responses: {record['system']!r}"
        if not self.protocol.drafts_entries:
            raise LineInvalid(f"{whose} has entries, and responses of {self.protocol.key} are texts")
        if "text" in record:
            raise LineInvalid(f"{whose} has both text and entries")
        entries, problems = clean_entries(record["entries"], None, "entries")
        if problems:
            raise LineInvalid(*(f"{whose}: {problem}" for problem in problems))
        return write_set(entries)

    def _response(self, record: Record, text: str, given: Context | None) -> Response:
        name = record["system"]
        if name not in self._systems:
            self._systems[name] = System(key=name)
        return Response(
            key=_key(record, given),
            system=self._systems[name],
            text=text,
            context=given,
            turns=record.get("turns", []),
            claims=record.get("claims", []),
        )


def _key(record: Record, given: Context | None) -> str:
    return record.get("key") or default_response_key(record["system"], given.key if given else None)


def hash_problem(what: str, given: str, computed: str) -> str:
    return (
        f"{what} is {computed[:12]}... and not {given[:12]}... as the file says: its content was changed, "
        "or it was frozen by another version"
    )


def stimulus_problems(record: Record, prepared: ImportedItem) -> list[str]:
    """Check the stimulus against the line's hash."""
    given = record.get("stimulus_hash")
    if given is None:
        return []
    computed = canonical_hash(prepared.stimulus)
    return [] if computed == given else [hash_problem("stimulus_hash", given, computed)]


def _unrendered(text: str, rules: RenderRules) -> str:
    return ""


def _item(record: Record) -> Item:
    return Item(
        key=record["key"],
        clarifying_question=record.get("clarifying_question", ""),
        clarifying_source=record.get("clarifying_source", ""),
        role=record.get("role", Role.MAIN),
        gold=record.get("gold"),
        start_order=record.get("start_order"),
        withdrawn_at=timezone.now() if record.get("withdrawn") else None,
        origin=record.get("origin", {}),
        revision_number=record.get("revision", 1),
    )


def query_row(record: Record) -> Query:
    """An unsaved query, complete however sparsely it is written."""
    turns = written_turns(record.get("turns", ()))
    return Query(
        key=record["key"],
        text=transcript(turns) if turns else record["text"],
        turns=turns,
        category=record.get("category", ""),
        source=record.get("source", ""),
        split=record.get("split", ""),
        information_need=record.get("information_need", ""),
        references=record.get("references", []),
        documents=record.get("documents", []),
        document=record.get("document", ""),
    )


def _context(record: Record | None) -> Context | None:
    if record is None:
        return None
    follow_ups = complete_follow_ups(record["follow_ups"])
    return Context(key=record["key"], follow_ups=follow_ups, source=record.get("source", ""))


def complete_follow_ups(records: list[Record]) -> list[dict[str, Any]]:
    """Fill in every key, so that equal contexts are equal however sparsely they are written."""
    return [
        {"attribute": each["attribute"], "answer": each.get("answer", "")}
        if "attribute" in each
        else {
            "question": each["question"],
            "answers": each.get("answers", []),
            "answer": each.get("answer", ""),
        }
        for each in records
    ]


def _given_context(
    record: Record, arm: Mapping[str, Any] | None, item_context: Context | None
) -> Context | None:
    """The context that a response was given. A string names the item's own; another is written in full, so that a line
    needs no other line."""
    if "context" not in record:
        return default_response_context(arm, item_context) if arm else None
    given = record["context"]
    if not isinstance(given, str):
        return _context(given)
    if item_context is None or given != item_context.key:
        raise LineInvalid(f"responses: {given!r} is not the context of this item; give it in full here")
    return item_context
