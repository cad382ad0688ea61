"""The judges' part of a replication bundle: how each was asked, its prompts, and its replies as they came; and the
generation's."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings

from evaluation.extension import BundleFile
from evaluation.models import Study
from judging.backends.base import StopRun, Unmeasurable
from judging.backends.keys import key_for
from judging.models import Call, CallState, Endpoint, Judge, Run, WorkKind
from judging.prompting.settings import CannotAsk
from judging.services.endpoints.targets import targets_of
from judging.services.generation.bundle_files import generation_endpoints, generation_files
from judging.services.runs.judge_workload import JudgeWorkload

JUDGES, CALLS = "judging/judges.jsonl", "judging/calls.jsonl"
OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
# How a judge is asked; its endpoint, whose address may be nobody's business, is not part of it.
SETTINGS = (
    "name", "version", "backend", "model", "temperature", "max_tokens", "questions", "verdict", "rationale",
    "with_reference", "reference_from", "one_call_per_question", "template", "orders", "samples", "self_preference",
    "own_system", "own_family",
)  # fmt: skip
# A further parameter of such a name is left out, since some servers take their key as one.
SECRET = (
    "key", "token", "secret", "auth", "password", "credential", "cookie", "header", "url", "endpoint", "proxy",
)  # fmt: skip
# What a token limit is called is no secret.
NO_SECRET = ("max_tokens", "max_completion_tokens")


def bundle_files(study: Study) -> list[BundleFile]:
    """Of a study that no judge was run on only what was generated for it, if anything."""
    generated = generation_files(study)
    if not _runs(study):
        return generated
    return [
        *generated,
        BundleFile(
            JUDGES,
            "a line per run of a judge: its settings, its rater and what became of it",
            lambda: _judges(study),
        ),
        BundleFile(
            CALLS,
            "a line per call to a model: its prompt, composed again from the judge's settings, the parameters sent "
            "with it, the reply as it came, and what was read in it",
            lambda: _calls(study),
        ),
    ]


def private_words(study: Study) -> Iterator[str]:
    """Addresses and keys of the endpoints that its judges and pipelines ask: a server's message of a failure may hold
    one."""
    for endpoint in _endpoints(study):
        yield from (endpoint.base_url, urlsplit(endpoint.base_url).netloc)
        with suppress(StopRun):
            yield key_for(endpoint)


def _endpoints(study: Study) -> list[Endpoint]:
    judges = Judge.objects.filter(study=study, endpoint__isnull=False).select_related("endpoint", "study")
    found = {target.endpoint.pk: target.endpoint for judge in judges for target in targets_of(judge)}
    found |= {judge.endpoint.pk: judge.endpoint for judge in judges if judge.endpoint is not None}
    found |= {endpoint.pk: endpoint for endpoint in generation_endpoints(study)}
    return list(found.values())


def _runs(study: Study) -> list[Run]:
    found = Run.objects.filter(study=study, work=WorkKind.JUDGING, judging__isnull=False)
    related = (
        "judging__judge__endpoint",
        "judging__judge__jury",
        "judging__rater",
        "judging__revision",
        "study",
    )
    return list(found.select_related(*related).order_by("pk"))


def _judges(study: Study) -> Iterator[bytes]:
    for run in _runs(study):
        judging = run.judging
        record = {
            "rater": judging.rater.pseudonym,
            "judge": _settings(judging.judge),
            "purpose": judging.purpose,
            "revision": judging.revision.number,
            "max_items": judging.max_items,
            "half": judging.half,
            "folds": judging.folds,
            "state": run.state,
            "asked": run.asked,
            "unanswered": run.unanswered,
        }
        yield orjson.dumps(record, option=OPTIONS)


def _settings(judge: Judge) -> dict[str, Any]:
    return {
        **{name: getattr(judge, name) for name in SETTINGS},
        "jury": judge.jury.name if judge.jury else "",
        "extra": _public(judge.extra),
        "options": _public(judge.options),
    }


def _public(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _public(each) for name, each in value.items() if not _is_secret(name)}
    return [_public(each) for each in value] if isinstance(value, list) else value


def _is_secret(name: str) -> bool:
    return name not in NO_SECRET and any(part in name.lower() for part in SECRET)


def _calls(study: Study) -> Iterator[bytes]:
    for run in _runs(study):
        if not run.judging.judge.asks_model:
            continue
        workload = JudgeWorkload(run)
        found = Call.objects.filter(run=run, state=CallState.FINAL, item__isnull=False).order_by("pk")
        last = 0
        while calls := list(found.filter(pk__gt=last)[: settings.ASSAY_BATCH_SIZE]):
            last = calls[-1].pk
            yield from _lines(workload, run.judging.rater.pseudonym, calls)


def _lines(workload: JudgeWorkload, rater: str, calls: Sequence[Call]) -> Iterator[bytes]:
    subjects = workload.subjects(calls)
    for call in calls:
        assert call.item_id is not None  # those of judges are about items
        subject = subjects[call.item_id]
        kept = {name: call.reply.get(name) for name in ("finish_reason", "refusal", "logprobs")}
        record = {
            "rater": rater,
            "item": subject.key,
            "replicate": call.replicate,
            "step": call.step,
            "order": call.order,
            "outcome": call.outcome,
            "attempts": call.attempts,
            "cached": call.cached,
            **_asked(workload, call, subject),
            "raw": call.raw,
            "reply": {name: value for name, value in kept.items() if value},
            "data": call.data,
            "rationale": call.rationale,
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": call.completion_tokens,
        }
        yield orjson.dumps(record, option=OPTIONS)


def _asked(workload: JudgeWorkload, call: Call, subject: Any) -> dict[str, Any]:
    """The messages and the parameters sent with them, such as the seed; None of a call that nothing was asked in, or
    whose prompt can't be composed any more."""
    nothing = {"messages": None, "parameters": None}
    if not call.attempts and not call.cached:
        return nothing
    try:
        request = workload.request(call, subject)
    except (CannotAsk, Unmeasurable, StopRun):
        return nothing
    return {
        "messages": [dict(message) for message in request.messages],
        "parameters": _public(dict(request.parameters)),
    }
