"""Calls about sample items, for the ways of asking that need no database."""

from dataclasses import replace

from evaluation.protocols import PROTOCOLS
from judging.asking import asking_of
from judging.backends import BACKENDS
from judging.backends.options import clean_options
from judging.prompting.item_call import ItemCall
from judging.prompting.settings import Settings
from tests.judging.samples import SAMPLES

SCHEMA = {"json_schema": True, "logprobs": True, "top_logprobs": 20}


def item_call(backend, name="pairwise", *, step="r1", able=SCHEMA, stimulus=None, spec=None, **options):
    """A call about a sample's item, by a judge with these options; `settings` are those besides them."""
    sample_spec, sample = SAMPLES[name]
    settings = options.pop("settings", Settings(model="m"))
    cleaned = clean_options(BACKENDS[backend].options, options)
    stimulus = stimulus or sample
    return ItemCall(
        PROTOCOLS[sample_spec["protocol"]],
        spec or sample_spec,
        stimulus,
        replace(settings, options=cleaned),
        order=",".join(response["part"] for response in stimulus["responses"]),
        step=step,
        capabilities=able,
    )


def asked(backend, call):
    """The texts of a call's request, as one."""
    request = asking_of(backend).request(call, {})
    return "\n\n".join(message["content"] for message in request.messages)
