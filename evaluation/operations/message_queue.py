"""The door to the broker. What a message is about is stored before it is sent, so that nothing is lost with it.

A broker that can't be reached turns nothing that is stored into an error: it is said where somebody waits, and a sweep
(`beat`, a worker that starts) finds what was never sent.
"""

import logging
from typing import Any

from kombu.exceptions import ChannelError, KombuError

from evaluation.operations.redis_error import redis_error

logger = logging.getLogger(__name__)


def send_message(task: Any, *arguments: Any, countdown: float | None = None, **named: Any) -> bool:
    """Tell the workers to run the task; False, with a line in the log, if no broker takes the message.

    It takes no longer than a few times ASSAY_REDIS_SECONDS, whatever state the broker is in.
    """
    try:
        if countdown is None:
            task.delay(*arguments, **named)
        else:
            task.apply_async(arguments, countdown=countdown)
    # OSError is also what a folder of messages fails with, where there is no Redis.
    except (KombuError, ChannelError, OSError, redis_error()) as error:
        logger.error("The broker can't be reached; %s%s was not sent: %s", task.name, arguments, error)
        return False
    return True
