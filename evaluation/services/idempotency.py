"""Idempotent requests: done once, however often they are sent."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.canonical import canonical_hash
from evaluation.models import ApiRequest, Study

KEPT = timedelta(days=1)


class IdempotencyKeyReused(Exception):
    """The key belongs to a request with another body."""


def run_once(
    user: Any, *, key: str, path: str, body: Any, act: Callable[[], dict[str, Any]]
) -> tuple[dict[str, Any], bool]:
    """Return the answer of `act`, or the stored one of the first time, and whether this is the first time.

    The row comes first and in the same transaction: a second request waits for the first to end, and one that failed
    leaves the key free.
    """
    with transaction.atomic():
        ApiRequest.objects.filter(user=user, created_at__lt=timezone.now() - KEPT).delete()
        request, is_new = ApiRequest.objects.get_or_create(
            user=user, key=key, path=path, defaults={"body_hash": canonical_hash(body)}
        )
        if not is_new:
            return _answer(request, body), False
        request.answer = act()
        request.save(update_fields=["answer"])
    return request.answer, True


def first_answer(user: Any, *, key: str, path: str, body: Any) -> dict[str, Any] | None:
    """The stored answer of a request that was done before, for who has much to do before `run_once`; None of a new
    one."""
    fresh = ApiRequest.objects.filter(created_at__gte=timezone.now() - KEPT)
    request = fresh.filter(user=user, key=key, path=path).first()
    return None if request is None else _answer(request, body)


def _answer(request: ApiRequest, body: Any) -> dict[str, Any]:
    if request.body_hash != canonical_hash(body):
        raise IdempotencyKeyReused("This Idempotency-Key was used for a request with another body.")
    answer: dict[str, Any] = request.answer
    return answer


def forget_requests(study: Study) -> None:
    """Forget what was asked of a study, as it is deleted."""
    ApiRequest.objects.filter(path__contains=f"/studies/{study.slug}/").delete()
