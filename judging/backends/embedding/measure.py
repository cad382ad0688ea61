"""The measure of the embedding judges: the cosine of each response with the reference that it is nearest to. Pure."""

from collections.abc import Mapping, Sequence

from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Stimulus
from judging.backends.base import Unmeasurable
from judging.backends.measured import measured_responses, require_pair
from judging.backends.metric_judges import reference_texts

# The judges that have their vectors from an endpoint.
EMBEDDING_KEY = "embedding"
COSINE = Measure("cosine", "Cosine with the reference", low=-1, high=1, direction="higher")


def compared_texts(stimulus: Stimulus, *, of_each: bool) -> list[str]:
    """The references and the responses of an item, each text once; Unmeasurable where they can't be compared.

    With `of_each` every response must have a text, and of a pair none be the reference itself.
    """
    references = reference_texts(stimulus)
    if not references:
        raise Unmeasurable("The query has no human-written reference.")
    if of_each:
        require_pair(stimulus)
    measured = measured_responses(stimulus)
    responses = [response["text"] for response in measured if response["text"].strip()]
    if not responses:
        raise Unmeasurable("No response has a text to embed.")
    # Where one of several is the reference itself, the others are measured and not compared.
    if of_each and len(responses) < len(measured) == len(stimulus["responses"]):
        raise Unmeasurable("A response has no text to embed.")
    return list(dict.fromkeys([*references, *responses]))


def nearest_cosines(
    stimulus: Stimulus, texts: Sequence[str], cosines: Sequence[Sequence[float]]
) -> dict[str, float]:
    """The cosine of each response with the reference that it is nearest to, by part; `cosines` are of each text with
    each."""
    place = {text: number for number, text in enumerate(texts)}
    references = [place[text] for text in reference_texts(stimulus)]
    return {
        response["part"]: max(cosines[place[response["text"]]][reference] for reference in references)
        for response in measured_responses(stimulus)
        if response["text"] in place
    }


def text_messages(texts: Sequence[str]) -> tuple[Mapping[str, str], ...]:
    return tuple({"role": "text", "content": text} for text in texts)
