"""Screening of queries, their fragments, the drafts of entries from these, and one set of several drafts.

CondAmbigQA section 3.3 and appendices B and C: ambiguous questions are sorted out, entries are drafted from numbered
fragments alone, blank where these are silent, and several drafts are merged.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from evaluation.protocols.condition_calibration import MAX_FRAGMENTS
from evaluation.protocols.entries.sets import MAX_ENTRIES
from judging.generation.conditions.entry_sets import (
    ANSWERS,
    SAID,
    TEXT,
    EntrySetStep,
    citations_schema,
    cited,
    entries_in,
    known_set,
    read_entries,
    strict_object,
    written_entry,
)
from judging.generation.fragments import fragment_of, fragments_for, written_fragments
from judging.generation.pipeline import (
    Cast,
    Content,
    ContentProblem,
    PipelineStep,
    Planned,
    ProductText,
    Prompt,
    QueryState,
    Record,
    SourceQuery,
    UnitFacts,
    reject,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import KEPT, LONG_TEXT, SHORT_TEXT, TEXTS, rows_of

SCREENING, FRAGMENTS, DRAFTS, MERGED = "screening", "fragments", "drafts", "merged"
DROP, MARK, NONE = "drop", "mark", "none"
KNOWN, DRAFTED = "known", "drafted"
MOST_READINGS = 8

SCREEN = """\
Somebody put a question to an assistant. Say whether it is ambiguous: whether there are several ways to understand \
it, each of which has another right answer.

- It is, where what it names may be several things, or where the answer hangs on a time, a place, a version, or a \
sense of a word that the question leaves open.
- It is not only because it is hard, because its answer is disputed, or because one could answer it at more or \
less length.
- Earlier answers to it, where they are given, are hints. They may be wrong, and they may have overlooked a \
reading.

Name the ways to understand it, each in a sentence that says which answer it leads to; a question that is not \
ambiguous has one. Give the reason for your decision in a sentence."""

DRAFT = """\
A question can be understood in several ways. Passages that bear on it were looked up; each is a numbered \
fragment. Draft the set of entries that answers it, an entry for each way to understand it.

- condition: what has to be the case for this entry's answers to be right. It says which reading of the question \
this is, so that somebody can tell it from the others, and does not answer the question itself.
- answers: what the question's answer then is. Several answers only where several hold at once under the \
condition.
- citations: the numbers of the fragments that say so, and no others.
- reason: how the answers follow from what is cited, and what was left blank because no fragment says it.

Use the fragments alone, nothing that you know besides, and guess nothing. What they don't say stays blank: an \
empty condition, an empty list of answers or citations. Where they contradict each other, give each view an entry. \
Two entries whose conditions can't be told apart are one. Put the likeliest reading first. If no fragment bears on \
the question, there are no entries."""

MERGE = """\
Several people drafted entries for the same question, each by themselves and from the same numbered fragments. An \
entry is a condition, which is one way to understand the question, the answers that hold under it, and the numbers \
of the fragments that say so. Merge the drafts into one set.

- Entries that mean the same reading become one: its condition says whatever theirs tell, once.
- Answers that say the same become one; others stand side by side.
- It cites the fragments that the merged entries cite, and no others.
- An entry that only one draft has stays.
- Add nothing: no reading, answer or fact that no draft has.
- Put the likeliest reading first."""

BRIDGE = SourceQuery(key="bridge", text="When was the bridge at Ulm opened?")
EXAMPLE_FRAGMENTS = [
    {"number": 1, "title": "Bridges of Ulm", "text": "The first bridge was opened in 1894.", "source": ""},
    {
        "number": 2,
        "title": "Traffic in Ulm",
        "text": "Cars have used a second bridge since 1967.",
        "source": "",
    },
]
EXAMPLE_ENTRIES: list[Record] = [
    {"condition": "The first bridge", "answers": ["In 1894"], "citations": [1], "reason": ""},
    {"condition": "The bridge for cars", "answers": ["In 1967"], "citations": [2], "reason": ""},
]


def is_ambiguous(state: QueryState) -> bool:
    """True for a query that goes on: that was found ambiguous, or that is kept whatever it was found to be."""
    found = state.products(SCREENING)
    return state.options["screening"] != DROP or any(each.content["ambiguous"] for each in found)


def is_settled(state: QueryState) -> bool:
    """True where people settled the query's entries, so that none are drafted."""
    return bool(state.query.settled) and state.options["conditions"] == KNOWN


def made_fragments(state: QueryState) -> list[Record]:
    """The numbered fragments that this run gave a query; [] where it has none."""
    return [fragment for each in state.products(FRAGMENTS) for fragment in each.content["fragments"]]


class Screening(PipelineStep):
    key, label, role = SCREENING, "Screening", "screener"
    fields: ClassVar[Mapping[str, type]] = {"ambiguous": bool}
    shapes: ClassVar = {"readings": TEXTS, "reason": LONG_TEXT}
    schema = strict_object(
        {
            "readings": {"type": "array", "minItems": 1, "maxItems": MOST_READINGS, "items": SAID},
            "ambiguous": {"type": "boolean"},
            "reason": TEXT,
        }
    )

    def plan(self, state: QueryState) -> Iterable[Planned]:
        if state.options["screening"] != NONE and not is_settled(state):
            yield Planned(model=state.models(self.role)[0])

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return 0 if options["screening"] == NONE else 1

    def prompt(self, asked: UnitFacts) -> Prompt:
        earlier = [each for each in asked.query.references if isinstance(each, str) and each.strip()]
        texts = [(f"Earlier answer {number}", text) for number, text in enumerate(earlier, 1)]
        return about_material(SCREEN, [("Question", asked.query.text), *texts], schema=self.schema)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [reply]

    def example(self) -> UnitFacts:
        return UnitFacts(BRIDGE, "", {}, {})

    def problems(self, content: Any) -> list[ContentProblem]:
        if isinstance(content, dict) and isinstance(content.get("ambiguous"), bool):
            return []
        said = "A screening is an object with ambiguous, which is true or false."
        return [ContentProblem(said, "ambiguous")]


class Fragments(PipelineStep):
    """One product, the list: drafts cite its fragments by their numbers, so none may be dropped by itself."""

    key, label = FRAGMENTS, "Fragments"
    fields: ClassVar[Mapping[str, type]] = {"fragments": list}
    shapes: ClassVar = {
        "fragments": rows_of({"number": KEPT, "title": SHORT_TEXT, "text": LONG_TEXT, "source": SHORT_TEXT})
    }

    def plan(self, state: QueryState) -> Iterable[Planned]:
        if not (is_settled(state) or is_ambiguous(state)):
            return
        documents = [fragment_of(each) for each in state.query.documents if isinstance(each, Mapping)]
        # What is known of a query cites its documents.
        known = bool(documents) and bool(known_set(state, documents)[0])
        found = (
            [{"number": number, **each} for number, each in enumerate(documents, 1)]
            if known
            else fragments_for(state, int(state.options["fragments"]))
        )
        if found:
            yield Planned(products=[{"fragments": found}])

    def shown(self, content: Content) -> ProductText:
        lines = [(f"{each['number']}. {each['title']}", each["text"]) for each in content["fragments"]]
        return ProductText(f"Fragments: {len(lines)}", lines)

    def problems(self, content: Any) -> list[ContentProblem]:
        given = content.get("fragments") if isinstance(content, dict) else None
        numbered = isinstance(given, list) and all(
            isinstance(each, dict)
            and each.get("number") == number
            and all(isinstance(each.get(name), str) for name in ("title", "text", "source"))
            for number, each in enumerate(given, 1)
        )
        if not numbered or not 0 < len(given or ()) <= MAX_FRAGMENTS:
            said = f"Fragments are a list of 1 to {MAX_FRAGMENTS}, numbered from 1, each with title, text and source."
            return [ContentProblem(said, "fragments")]
        return [
            ContentProblem(f"Fragment {place + 1} has no text.", f"fragments.{place}.text")
            for place, each in enumerate(given or ())
            if not each["text"].strip()
        ]


class Drafting(EntrySetStep):
    key, label, role = DRAFTS, "Drafts", "drafters"
    fields: ClassVar[Mapping[str, type]] = {"entries": list}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        fragments = made_fragments(state)
        if not fragments or is_settled(state):
            return
        before: Counter[Any] = Counter()
        for number, model in enumerate(state.models(self.role), 1):
            yield Planned(key=f"d{number}", about={"fragments": fragments}, model=model, sample=before[model])
            before[model] += 1

    def prompt(self, asked: UnitFacts) -> Prompt:
        fragments = asked.about["fragments"]
        entry = {
            "condition": TEXT, "answers": ANSWERS, "citations": citations_schema(len(fragments)), "reason": TEXT,
        }  # fmt: skip
        schema = {"entries": {"type": "array", "maxItems": MAX_ENTRIES, "items": strict_object(entry)}}
        texts = [("Question", asked.query.text), *written_fragments(fragments)]
        return about_material(DRAFT, texts, schema=strict_object(schema))

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        return [{"entries": read_entries(reply["entries"], len(asked.about["fragments"]))}]

    def example(self) -> UnitFacts:
        return UnitFacts(BRIDGE, "d1", {"fragments": EXAMPLE_FRAGMENTS}, {})


class Merging(EntrySetStep):
    """One set of several; a draft that is the only one with entries is the set, and nobody is asked."""

    key, label, role = MERGED, "Merged drafts", "merger"
    fields: ClassVar[Mapping[str, type]] = {"entries": list}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        drafts = [entries for each in state.products(DRAFTS) if (entries := entries_in(each))]
        if len(drafts) == 1:
            yield Planned(products=[{"entries": drafts[0]}])
        elif drafts:
            yield Planned(about={"drafts": drafts}, model=state.models(self.role)[0])

    def most(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> float:
        return 1 if len(casts["drafters"].models) > 1 else 0

    def prompt(self, asked: UnitFacts) -> Prompt:
        drafts = asked.about["drafts"]
        numbers = cited([entry for draft in drafts for entry in draft])
        citations = {
            "type": "array",
            "maxItems": len(numbers),
            **({"items": {"enum": numbers}} if numbers else {}),
        }
        entry = {"condition": TEXT, "answers": ANSWERS, "citations": citations}
        entries = {"type": "array", "minItems": 1, "maxItems": MAX_ENTRIES, "items": strict_object(entry)}
        texts = [
            (f"Entry {place} of draft {number}", written_entry(each))
            for number, draft in enumerate(drafts, 1)
            for place, each in enumerate(draft, 1)
        ]
        return about_material(
            MERGE, [("Question", asked.query.text), *texts], schema=strict_object({"entries": entries})
        )

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        numbers = cited([entry for draft in asked.about["drafts"] for entry in draft])
        entries = read_entries(reply["entries"], max(numbers, default=0))
        if added := set(cited(entries)) - set(numbers):
            reject(f"The merged set cites {sorted(added)}, which no draft does.")
        return [{"entries": entries}]

    def example(self) -> UnitFacts:
        return UnitFacts(BRIDGE, "", {"drafts": [EXAMPLE_ENTRIES, EXAMPLE_ENTRIES[:1]]}, {})
