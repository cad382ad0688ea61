"""The answers to unexpected errors. Nothing here asks the database, so the language is the browser's."""

import re
import sys
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import get_template
from django.urls import reverse
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from annotator.middleware import PREFIXES
from evaluation.api.problems import MEDIA_TYPE
from evaluation.models import Language
from evaluation.operations.database_away import is_database_away
from evaluation.operations.full_disk import is_full_disk

# Until a page that met no database asks again, and a script may.
RETRY_SECONDS = 10
# For programs: a code, and the sentence for people.
PROBLEMS = {
    500: ("error", "Something went wrong on our side; the server's log has the details."),
    503: ("unavailable", "The database can't be reached at the moment. Try again later."),
    507: ("disk_full", "The server's disk is full, and nothing was saved. Try again later."),
}


def error_page(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected error; a full disk and an absent database are told from the rest, since trying again is of
    use then."""
    error = sys.exc_info()[1]
    status = 507 if is_full_disk(error) else 503 if is_database_away(error) else 500
    response = _json(request, status) if _wants_json(request) else _page(request, status)
    response["Cache-Control"] = "no-store"
    if status == 503:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _wants_json(request: HttpRequest) -> bool:
    asked = (request.content_type, request.headers.get("Accept"))
    return request.path_info.startswith("/api/") or "application/json" in asked


def _json(request: HttpRequest, status: int) -> HttpResponse:
    code, detail = PROBLEMS[status]
    if not request.path_info.startswith("/api/"):
        # Participants' scripts have words of their own, in the study's language.
        return JsonResponse({"code": code}, status=status)
    title = HTTPStatus(status).phrase
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail,
        "errors": [],
    }
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE)


def _page(request: HttpRequest, status: int) -> HttpResponse:
    """The page in the browser's language for participants, in English for everybody else.

    A form that met no database is shown to be sent again by hand: another address would lose what is in it.
    """
    is_participant, was_sent = request.path_info.startswith(PREFIXES), request.method == "POST"
    context = {
        "is_participant": is_participant,
        "back": _way_back(request),
        "was_sent": was_sent,
        # Of nobody else, whose forms may hold a password.
        "fields": list(request.POST.lists()) if was_sent and is_participant and status == 503 else [],
    }
    with translation.override(_browser_language(request) if is_participant else Language.ENGLISH):
        response = HttpResponse(get_template(f"{status}.html").render(context), status=status)
    if status == 503 and not was_sent:
        response["Refresh"] = str(RETRY_SECONDS)
    return response


def _way_back(request: HttpRequest) -> str:
    """The address to go on at: a participant's page, whatever was asked for below it; the door; a member's studies."""
    if found := re.match(r".*?/p/[\w-]+/", request.path):
        return found[0]
    return (
        request.get_full_path()
        if request.path_info.startswith(PREFIXES)
        else reverse("evaluation:study-list")
    )


def _browser_language(request: HttpRequest) -> str:
    """The first language that the browser asks for and that we speak."""
    for asked, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()):
        if (language := asked.partition("-")[0]) in Language.values:
            return language
    return Language.ENGLISH
