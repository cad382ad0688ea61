"""Perplexity: one request per response, of the human-written reference under the model behind its system."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import orjson

from evaluation.protocols import Protocol
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Spec, Stimulus
from judging.asking.measured import answered_questions, measured_data, measured_problems
from judging.backends.base import Reply, Request, Unmeasurable
from judging.backends.metric_judges import reference_texts
from judging.backends.perplexity.measure import (
    GENERATED,
    PERPLEXITY,
    PERPLEXITY_KEY,
    QUERY,
    SystemModel,
    models_by_system,
    perplexity_of,
    scoring_request,
)
from judging.parsing.rejection import ReplyRejected
from judging.parsing.reply import Reading
from judging.prompting.expected_reply import ExpectedReply
from judging.prompting.item_call import ItemCall, joined_by_part
from judging.prompting.settings import CannotAsk, Settings

OWN_PARAMETERS = frozenset(
    {"model", "prompt", "echo", "logprobs", "prompt_logprobs", "max_tokens", "temperature", "stream", "n"}
)


class PerplexityAsking:
    """See `judging.asking.base.Asking`."""

    key = PERPLEXITY_KEY

    def problems(self, protocol: Protocol, spec: Spec, settings: Settings) -> list[str]:
        return measured_problems(spec, PERPLEXITY, settings, OWN_PARAMETERS)

    def questions(self, spec: Spec, settings: Settings) -> list[str]:
        return [question.key for question in answered_questions(spec, PERPLEXITY, settings)]

    def measures(self, settings: Settings) -> tuple[Measure, ...]:
        return (PERPLEXITY,)

    def steps(
        self, protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings
    ) -> tuple[str, ...]:
        """A step per response, named by its part."""
        return tuple(response["part"] for response in stimulus["responses"])

    def last_step(self, settings: Settings) -> str:
        return ""

    def request(self, call: ItemCall, frames: MutableMapping[Any, Any]) -> Request:
        references = reference_texts(call.stimulus)
        if not references:
            raise Unmeasurable("The query has no human-written reference.")
        models = _models_of(call)
        # Nothing of a pair is paid for of which the other half can't be had.
        missing = sorted({each["system"] for each in call.stimulus["responses"]} - set(models))
        if missing:
            raise Unmeasurable(f"No model: the judge maps none to {', '.join(missing)}.")
        model = models[_system_of(call)]
        able = call.capabilities.get(str(model)) or {}
        form = able.get("prompt_logprobs", "echo")
        if not form:
            raise CannotAsk(
                f"The model {model} gives no log-probabilities of a prompt: {able['prompt_logprobs_problem']}"
            )
        query = call.stimulus["query"]["text"]
        before = call.settings.options["prompt"].replace("\\n", "\n").replace(QUERY, query)
        return scoring_request(
            model.model, before, references[0], form, extra=call.settings.extra, place=model.endpoint
        )

    def read(self, call: ItemCall, reply: Reply) -> Reading:
        try:
            said = orjson.loads(reply.text)
            number = perplexity_of(said["logprob"], said["tokens"])
        except (ValueError, KeyError, TypeError, ZeroDivisionError):
            raise ReplyRejected("unparsed", "The reply has no log-probability of the reference.") from None
        if number == float("inf"):
            raise ReplyRejected("unparsed", "The perplexity is too large for a number.")
        return Reading({PERPLEXITY.key: {call.step: number}}, ())

    def expected(self, call: ItemCall) -> ExpectedReply:
        text = orjson.dumps({"logprob": -42.5, "tokens": 20}).decode()
        return ExpectedReply(text=text, tokens=GENERATED, choices=0, texts=0, entries=0, reasons=False)

    def joined(self, call: ItemCall, data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return measured_data(call, PERPLEXITY, joined_by_part(data)[PERPLEXITY.key])


def _models_of(call: ItemCall) -> dict[str, SystemModel]:
    return models_by_system(call.settings.options["models"])


def _system_of(call: ItemCall) -> str:
    [system] = [each["system"] for each in call.stimulus["responses"] if each["part"] == call.step]
    return str(system)


PERPLEXITIES = PerplexityAsking()
