"""A limit on one user's requests per minute, counted where all processes see it if there is a shared cache."""

import logging
import math
import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.utils.crypto import salted_hmac
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from evaluation.operations.logins import client_address
from evaluation.operations.redis_error import redis_error

logger = logging.getLogger(__name__)
WINDOW = 60


class MinuteThrottle(BaseThrottle):
    """A limit by the clock's minutes, reads and writes apart. One atomic step per request, however many processes."""

    def allow_request(self, request: Request, view: Any) -> bool:
        reading = request.method in SAFE_METHODS
        limit = settings.ASSAY_API_READS_PER_MINUTE if reading else settings.ASSAY_API_WRITES_PER_MINUTE
        now = time.time()
        self._left = WINDOW - now % WINDOW
        count = _count(f"api:{'read' if reading else 'write'}:{_who(request)}:{int(now // WINDOW)}")
        return bool(count <= limit)

    def wait(self) -> float:
        return math.ceil(self._left)


def _count(key: str) -> int:
    """Count this request and return the total. A counter that can't be reached refuses nobody's work."""
    try:
        cache.add(key, 0, timeout=2 * WINDOW)
        return cache.incr(key)
    except ValueError:
        return 1  # dropped between the two by a full cache
    except redis_error() as error:
        logger.warning("The API's requests can't be counted: %s", error)
        return 0


def _who(request: Request) -> str:
    """A user; without one an address, of which only a digest is kept."""
    if request.user.is_authenticated:
        return str(request.user.pk)
    return salted_hmac("evaluation.api", client_address(request._request)).hexdigest()[:20]
