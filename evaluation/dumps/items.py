"""From an item's line to unsaved rows and a checked stimulus, without the database."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils import timezone

from evaluation.canonical import canonical_hash
from evaluation.dumps.judgments import prepare_judgments
from evaluation.dumps.problems import LineInvalid
from evaluation.models import Context, Item, Query, Response, Role, System
from evaluation.protocols import Problem, get_protocol
from evaluation.protocols.base import Spec
from evaluation.services.compiling import compile_stimulus
from evaluation.services.importing import ImportedItem

MAX_KEY = 120
Record = Mapping[str, Any]


def default_response_key(system: str, context: str | None) -> str:
    """A response's key where the line gives none: one per system, and one more per context it was given."""
    return system if context is None else f"{system}@{context}"


def default_response_context(arm: Mapping[str, Any], context: Any) -> Any:
    """The context that a response was given, where the line does not say."""
    return context if arm["context_at_generation"] else None


class Preparer:
    """Prepares a study's items, one line at a time; the same for checking and for writing."""

    def __init__(self, specs: Sequence[Spec], render: Callable[[str], str] | None) -> None:
        """`render` makes responses HTML; None leaves it out, where only the check counts."""
        self.specs = specs
        self.spec = specs[-1]
        self.protocol = get_protocol(self.spec["protocol"])
        self.arms = {arm["key"]: arm for arm in self.spec["arms"]}
        self.render = render
        self._systems: dict[str, System] = {}

    def prepare(self, record: Record, *, keep_stimulus: bool = True) -> ImportedItem:
        """The item of a line that fits the schema; LineInvalid with every reason against it."""
        arm = self.arms.get(record["arm"])
        if arm is None:
            raise LineInvalid(f"the study has no arm {record['arm']!r}; it has {', '.join(self.arms)}")
        query, context = _query(record["query"]), _context(record.get("context"))
        responses = self._responses(record["responses"], arm, context)
        stimulus = compile_stimulus(
            arm=arm["key"],
            query=query,
            context=context,
            clarifying_question=record.get("clarifying_question", ""),
            responses=responses,
            render=self.render or _unrendered,
        )
        problems = [str(problem) for problem in self._item_problems(stimulus, record.get("gold"))]
        # The protocol has the last word on what a judgment may answer, so a broken item is reported first.
        if problems:
            raise LineInvalid(*problems)
        judgments = prepare_judgments(self.specs, self.protocol, stimulus, record.get("judgments", ()))
        return ImportedItem(
            arm=arm["key"],
            item=_item(record),
            query=query,
            context=context,
            responses=responses,
            stimulus=stimulus if keep_stimulus else None,
            judgments=judgments,
        )

    def _responses(
        self, records: list[Record], arm: Mapping[str, Any], context: Context | None
    ) -> list[Response]:
        responses = [self._response(record, arm, context) for record in records]
        keys = [response.key for response in responses]
        problems = [
            f"responses: the key {key!r} is longer than {MAX_KEY}" for key in keys if len(key) > MAX_KEY
        ]
        problems += [
            f"responses: {key!r} stands there twice" for key in sorted(set(keys)) if keys.count(key) > 1
        ]
        if problems:
            raise LineInvalid(*problems)
        return responses

    def _response(self, record: Record, arm: Mapping[str, Any], item_context: Context | None) -> Response:
        if "context" in record:
            given = _given_context(record["context"], item_context)
        else:
            given = default_response_context(arm, item_context)
        name = record["system"]
        key = record.get("key") or default_response_key(name, given.key if given else None)
        if name not in self._systems:
            self._systems[name] = System(key=name)
        return Response(key=key, system=self._systems[name], text=record["text"], context=given)

    def _item_problems(self, stimulus: dict[str, Any], gold: Any) -> list[Problem]:
        problems = self.protocol.check_item(self.spec, stimulus)
        if gold is not None and not problems:
            problems += self.protocol.gold_problems(self.spec, stimulus, gold)
        return problems


def hash_problem(what: str, given: str, computed: str) -> str:
    return (
        f"{what} is {computed[:12]}... and not {given[:12]}... as the file says: its content was changed, "
        "or it was frozen by another version"
    )


def stimulus_problems(record: Record, prepared: ImportedItem) -> list[str]:
    """Whether the stimulus is still the one that the line's hash was taken of."""
    given = record.get("stimulus_hash")
    if given is None:
        return []
    computed = canonical_hash(prepared.stimulus)
    return [] if computed == given else [hash_problem("stimulus_hash", given, computed)]


def _unrendered(text: str) -> str:
    return ""


def _item(record: Record) -> Item:
    return Item(
        key=record["key"],
        clarifying_question=record.get("clarifying_question", ""),
        role=record.get("role", Role.MAIN),
        gold=record.get("gold"),
        start_order=record.get("start_order"),
        withdrawn_at=timezone.now() if record.get("withdrawn") else None,
    )


def _query(record: Record) -> Query:
    return Query(
        key=record["key"],
        text=record["text"],
        category=record.get("category", ""),
        source=record.get("source", ""),
        split=record.get("split", ""),
        information_need=record.get("information_need", ""),
        references=record.get("references", []),
        documents=record.get("documents", []),
    )


def _context(record: Record | None) -> Context | None:
    if record is None:
        return None
    return Context(key=record["key"], follow_ups=complete_follow_ups(record["follow_ups"]))


def complete_follow_ups(records: list[Record]) -> list[dict[str, Any]]:
    """With every key, so that equal contexts are equal however sparsely they are written."""
    return [
        {"question": each["question"], "answers": each.get("answers", []), "answer": each.get("answer", "")}
        for each in records
    ]


def _given_context(given: Any, item_context: Context | None) -> Context | None:
    """A string names the item's own context; another one is given in full, so that a line needs no other line."""
    if not isinstance(given, str):
        return _context(given)
    if item_context is None or given != item_context.key:
        raise LineInvalid(f"responses: {given!r} is not the context of this item; give it in full here")
    return item_context
