"""The texts of an item that a judge sees: what people in its arm see, and a reference where the judge is to see it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.canonical import canonical_hash
from evaluation.protocols import Over, Protocol
from evaluation.protocols.base import Spec, Stimulus, sees_context
from evaluation.protocols.entries.sets import Entry, read_set
from evaluation.rendering.images import describe_images
from evaluation.storable import storable
from judging.prompting.settings import Settings
from judging.prompting.view import View

# Names and texts of one thing, in lines: a follow-up question with its answer, a document with its title.
Lines = tuple[tuple[str, str], ...]
# Under which names a document says what it is, and where.
TITLE, LINK, SNIPPET = ("title",), ("url", "link"), ("snippet", "text")


@dataclass(frozen=True)
class Material:
    """An item's texts as this judge sees them, responses in the order shown."""

    asker: str
    # A conversation's transcript, if it is one.
    query: str
    is_conversation: bool
    # The text that responses are held against, with its name in the study; empty without one.
    document: str
    document_name: str
    information_need: str
    clarifying_question: str
    documents: tuple[Lines, ...]
    # What stands above the follow-up questions, and each of them with its answer or its set of answers.
    follow_ups_are: str
    follow_ups: tuple[Lines, ...]
    references: tuple[str, ...]
    responses: tuple[str, ...]
    mark: str


def material_of(
    protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings, view: View
) -> Material:
    query, clarifying = stimulus["query"]["text"], stimulus["clarifying_question"]
    need = stimulus["query"]["information_need"] if protocol.shows_information_need else ""
    documents = _shown_documents(protocol, stimulus, settings)
    follow_ups_are, follow_ups = _follow_ups(protocol, spec, stimulus, view)
    references = _references(spec, stimulus, settings)
    name = protocol.document_name(spec)
    document = str(stimulus["query"]["document"]["text"]) if name and "document" in stimulus["query"] else ""
    texts = {
        response["part"]: _response_text(protocol, response, stimulus) for response in stimulus["responses"]
    }
    if spec.get("show_images"):  # the models are sent text
        query, document = describe_images(query), describe_images(document)
        texts = {part: describe_images(text) for part, text in texts.items()}
    said = [text for lines in (*follow_ups, *documents) for _, text in lines]
    further = [text for text in (need, document) if text]
    marked = [query, clarifying, *said, *references, *texts.values(), *further]
    return Material(
        asker=" ".join(str(spec["asker"]).split()),
        query=query,
        is_conversation=bool(stimulus["query"].get("turns")),
        document=document,
        document_name=name,
        information_need=need,
        clarifying_question=clarifying,
        documents=documents,
        follow_ups_are=follow_ups_are,
        follow_ups=follow_ups,
        references=references,
        responses=tuple(texts[part] for part in view.order),
        mark=mark_of(marked),
    )


def _response_text(protocol: Protocol, response: Mapping[str, Any], stimulus: Stimulus) -> str:
    """A response as it is read: a drafted set as its numbered entries, a conversation turn by turn, and after it the
    claims that it makes."""
    if "turns" in response or "claims" in response:
        return "\n\n".join([*_turns(response, stimulus), *_claims(response)])
    if not protocol.drafts_entries:
        text: str = response["text"]
        return text
    return "\n\n".join(
        "\n".join([f"Entry {number}", *_entry_lines(entry)])
        for number, entry in enumerate(read_set(response["text"]), 1)
    )


def _turns(response: Mapping[str, Any], stimulus: Stimulus) -> Iterator[str]:
    """Each turn with what was said in it and the reply; a response without turns is its text."""
    if "turns" not in response:
        yield response["text"]
        return
    replies = response["turns"]
    said = list(stimulus["query"].get("turns") or [])[-len(replies) :]
    for number, reply in enumerate(replies, 1):
        if len(said) == len(replies):
            yield f"Turn {number}, said to it: {_indented(said[number - 1]['text'])}"
        yield f"Turn {number}, its reply: {_indented(reply['text'])}"


def _claims(response: Mapping[str, Any]) -> Iterator[str]:
    for number, claim in enumerate(response.get("claims", ()), 1):
        yield f"Claim {number}: {_indented(claim)}"


def _entry_lines(entry: Entry) -> Iterator[str]:
    yield f"Condition: {_indented(entry['condition'])}"
    yield from (f"Answer: {answer}" for answer in entry["answers"])
    if numbers := [str(each) for each in entry["citations"] if isinstance(each, int)]:
        yield f"Cites documents: {', '.join(numbers)}"
    for each in entry["citations"]:
        if not isinstance(each, int):
            yield f"Quotes: {_indented(each['title'])}: {_indented(each['text'])}"
    if entry["reason"]:
        yield f"Reason: {_indented(entry['reason'])}"


def _indented(text: str) -> str:
    """The text's further lines set in, so that none of them can be taken for the beginning of another entry."""
    return "\n    ".join(text.splitlines())


def _follow_ups(
    protocol: Protocol, spec: Spec, stimulus: Stimulus, view: View
) -> tuple[str, tuple[Lines, ...]]:
    """The follow-up questions as people see them: said and answered, to be judged with their answer sets, or as
    attributes with the values that are rated. What is judged itself is shown in every arm."""
    given = stimulus["context"]["follow_ups"] if stimulus["context"] else []
    overs = {question.over for question in protocol.questions(spec, stimulus)}
    if Over.VALUE in overs:
        return "What may be true of {asker}:", tuple(
            _attribute(each, values) for each, values in zip(given, view.values, strict=True)
        )
    answered = Over.FOLLOW_UP_RESPONSE in overs or sees_context(spec, stimulus)
    if Over.FOLLOW_UP in overs:
        heading = "Follow-up questions to {asker}, with the answers that might be given:"
        return heading, tuple(_answer_set(each, overs) for each in given)
    if answered:
        heading = "What {asker} answered to follow-up questions:"
        return heading, tuple((("Question", each["question"]), ("Answer", each["answer"])) for each in given)
    return "", ()


def _attribute(follow_up: Mapping[str, Any], values: Sequence[str]) -> Lines:
    """An attribute with the values that are rated, numbered as they are asked for."""
    texts = [follow_up["answers"][int(part.rpartition(".v")[2]) - 1] for part in values]
    numbered = ((f"Value {number}", str(text)) for number, text in enumerate(texts, 1))
    return (("Attribute", follow_up["question"]), *numbered)


def _answer_set(follow_up: Mapping[str, Any], overs: Collection[Over]) -> Lines:
    possible = [(f"Possible answer {n}", str(text)) for n, text in enumerate(follow_up["answers"], 1)]
    # Where responses are checked against the answer, too, it must be there.
    chosen = [("Answer", follow_up["answer"])] if Over.FOLLOW_UP_RESPONSE in overs else []
    return (("Question", follow_up["question"]), *possible, *chosen)


def _shown_documents(protocol: Protocol, stimulus: Stimulus, settings: Settings) -> tuple[Lines, ...]:
    """Those that people see, or the first so many as the judge's settings say, whether people see any or not."""
    if settings.documents is None:
        return _documents(stimulus) if protocol.shows_documents else ()
    return _documents(stimulus)[: settings.documents]


def _documents(stimulus: Stimulus) -> tuple[Lines, ...]:
    given = stimulus["query"].get("documents") or []
    found = (tuple(document_lines(each)) for each in given)
    return tuple(lines for lines in found if {"Link", "Text"} & dict(lines).keys())


def document_lines(document: Any) -> Iterator[tuple[str, str]]:
    """Title, link and text of a document, whichever it has."""
    known = document if isinstance(document, Mapping) else {"text": document}
    for name, keys in (("Title", TITLE), ("Link", LINK), ("Text", SNIPPET)):
        text = next((str(known[key]) for key in keys if known.get(key)), "")
        if text.strip():
            yield name, text


def _references(spec: Spec, stimulus: Stimulus, settings: Settings) -> tuple[str, ...]:
    """The human-written references: where the judge's settings say so, or where people see them too."""
    if not (settings.with_reference or spec["show_references"]):
        return ()
    given = stimulus["query"]["references"]
    texts = [str(each.get("text", "")) if isinstance(each, Mapping) else str(each) for each in given]
    return tuple(text for text in texts if text.strip())


def remarked(material: Material) -> Material:
    """The material with a mark that none of its texts contains, after some of them were changed."""
    said = [text for lines in (*material.follow_ups, *material.documents) for _, text in lines]
    single = [material.query, material.information_need, material.clarifying_question]
    single += [material.document] if material.document else []
    return replace(material, mark=mark_of([*single, *said, *material.references, *material.responses]))


def mark_of(texts: Sequence[str]) -> str:
    """Twelve hexadecimal digits that depend on every text and stand in none; the same in whatever order."""
    attempt = 0
    while True:
        mark = canonical_hash([attempt, *(storable(text) for text in texts)])[:12]
        if not any(mark in text for text in texts):
            return mark
        attempt += 1
