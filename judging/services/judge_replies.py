"""The replies that judges' judgments were read from, for who reads these."""

from collections.abc import Collection, Mapping
from urllib.parse import urlencode

from django.urls import reverse

from evaluation.extension import JudgeReply
from evaluation.models import Judgment
from judging.models import Call


def judge_replies(judgments: Collection[Judgment]) -> Mapping[int, list[JudgeReply]]:
    """By the judgment's id, in the order of their steps. What was computed or drawn was no reply."""
    by_place = {(each.rater_id, each.item_id, each.replicate): each.pk for each in judgments}
    calls = Call.objects.filter(
        run__judging__rater__in={rater for rater, _, _ in by_place},
        item__in={item for _, item, _ in by_place},
    )
    found: dict[int, list[JudgeReply]] = {}
    rows = calls.select_related("run__judging__judge").order_by("pk")
    for call in rows:
        place = (call.run.judging.rater_id, call.item_id or 0, call.replicate)
        if place in by_place and call.run.judging.judge.asks_model:
            found.setdefault(by_place[place], []).append(_reply(call))
    return found


def _reply(call: Call) -> JudgeReply:
    asked = {"item": call.item_id, "order": call.order, "step": call.step}
    address = reverse("admin:judging_judge_prompt", args=[call.run.judging.judge_id])
    return JudgeReply(call.step, call.raw, call.rationale, call.error, f"{address}?{urlencode(asked)}")
