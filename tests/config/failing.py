"""A view and a task that fail with every kind of secret in their words, for processes of their own.

python -m tests.config.failing asks the view and prints what DEBUG and a mail would show;
celery -A tests.config.failing worker runs the task.
"""

import asyncio
import logging
import os
import sys

import django
from django.http import HttpResponse
from django.urls import path

from config.celery import app
from evaluation.operations import logcontext

logger = logging.getLogger("evaluation.something")


class EndpointSaidNo(Exception):
    pass


def fail():
    """An exception with a cause with a context, as a client library would raise them."""
    key = os.environ["ASSAY_KEY_TEST"]
    headers = {"Authorization": f"Bearer {key}", "X-Api-Key": "another-key-of-nobody"}
    try:
        try:
            raise ConnectionError(
                f"cannot reach {os.environ.get('REDIS_URL') or os.environ['TASK_SAYS']} or {os.environ['DATABASE_URL']}"
            )
        except ConnectionError:
            raise ValueError(f"sent {headers!r} and sk-proj-abcdefghijklmnop")  # noqa: B904 - the implicit chain too
    except ValueError as cause:
        raise EndpointSaidNo(f"401 for {key} at /p/a-participant-s-token-1/") from cause


def view(request, token=""):
    logger.warning("working on %s with %s", request.path, {"key": os.environ["ASSAY_KEY_TEST"]})
    fail()
    return HttpResponse()


def fine(request):
    logger.info("nothing to see")
    return HttpResponse("fine")


urlpatterns = [path("p/<str:token>/", view), path("fine/", fine)]


@app.task(name="tests.fails")
def fails(key):
    async def call():
        logger.warning("asking with %s", key)

    with logcontext.bind(run=4711):
        asyncio.run(call())
        fail()


def main():
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.conf import settings
    from django.test import Client, RequestFactory
    from django.views.debug import get_exception_reporter_class

    settings.ROOT_URLCONF = __name__
    client = Client(raise_request_exception=False)
    client.get(
        "/p/a-participant-s-token-1/?PROLIFIC_PID=somebody", headers={"x-request-id": "given-by-the-proxy"}
    )
    client.get("/fine/", headers={"x-request-id": "bad id\twith blanks"})
    # runserver's META holds the whole environment.
    request = RequestFactory().get("/p/a-participant-s-token-1/", **os.environ)
    try:
        view(request)
    except EndpointSaidNo:
        reporter = get_exception_reporter_class(request)(request, *sys.exc_info(), is_email=False)
    settings.DEBUG = True
    sys.stdout.write(reporter.get_traceback_html())
    settings.DEBUG = False
    sys.stdout.write(reporter.get_traceback_text())


if __name__ == "__main__":
    main()
