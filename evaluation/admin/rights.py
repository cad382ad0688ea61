"""Rights in the admin: they come from membership, never from Django's model permissions."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.template.response import SimpleTemplateResponse

from evaluation.models import Study
from evaluation.page_texts import change_texts, texts_of
from evaluation.permissions import RIGHTS, get_study_for, roles_of, studies_for
from evaluation.services.private_texts import private_words_in


def my_studies(request: HttpRequest) -> QuerySet[Study]:
    return studies_for(request.user)


def roles(request: HttpRequest) -> dict[int, str]:
    """The user's role by study, read once per request."""
    found: dict[int, str] | None = getattr(request, "study_roles", None)
    if found is None:
        found = roles_of(request.user)
        request.study_roles = found  # type: ignore[attr-defined]
    return found


def has_right(request: HttpRequest, right: str, study: int | None) -> bool:
    """True for who has the right in the study of that id: to view, to write, to own."""
    return request.user.is_superuser or (study is not None and roles(request).get(study) in RIGHTS[right])


def has_right_anywhere(request: HttpRequest, right: str) -> bool:
    return request.user.is_superuser or any(role in RIGHTS[right] for role in roles(request).values())


def study_for(request: HttpRequest, pk: int, right: str = "view") -> Study:
    """The study of a row, for a member with the right."""
    return get_study_for(request.user, pk=pk, right=right)


def reads_ids(request: HttpRequest, study: Study | None) -> bool:
    """True for who may read the ids that platforms have for a study's people: its owners and editors."""
    return has_right(request, "write", study.pk if study is not None else None)


def read_texts(request: HttpRequest, study: Study | None, texts: Iterable[str]) -> list[str]:
    """Each of these texts as they read it. Asked before it is cut: no page finds an id that was cut."""
    whole = list(texts)
    if study is None or reads_ids(request, study):
        return whole
    private = private_words_in(study, whole)
    return [private.blacked_out(each) for each in whole]


def searched_as_read(request: HttpRequest, study: Study) -> Callable[[Iterable[str]], list[str]] | None:
    """Texts as the reader reads them, for a search that finds nothing else; None for who reads them whole."""
    return None if reads_ids(request, study) else lambda texts: read_texts(request, study, texts)


Answer = TypeVar("Answer", bound=HttpResponseBase)


def without_ids(request: HttpRequest, study: Study | None, response: Answer) -> Answer:
    """The page; for viewers with every such id in it blacked out, whoever wrote it into which text."""
    if study is None or reads_ids(request, study):
        return response
    if not isinstance(response, HttpResponse) or "html" not in response.headers.get("Content-Type", ""):
        return response
    # A page of a study may be made by a view that is a page of a study as well.
    if getattr(response, "is_without_ids", False):
        return response
    response.is_without_ids = True  # type: ignore[attr-defined]

    def black_out(page: HttpResponse) -> None:
        # A participant may have any word as their id: markup and our own addresses stay as they are.
        html = page.content.decode()
        private = private_words_in(study, texts_of(html))
        if private:
            page.content = change_texts(html, private.blacked_out).encode()

    if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
        response.add_post_render_callback(black_out)
    else:
        black_out(response)
    return response


View = Callable[..., HttpResponseBase]


def study_page(right: str = "view", *, methods: tuple[str, ...] = ("GET", "HEAD")) -> Callable[[View], View]:
    """A page about one study: its view gets the study in place of its slug, and viewers read no id of a platform."""

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponseBase:
            if request.method not in methods:
                return HttpResponseNotAllowed(methods)
            study = get_study_for(request.user, slug, right=right)
            response = view(request, study, **kwargs)
            return without_ids(request, study, response) if right == "view" else response

        return answer

    return decorate


FORM = ("GET", "HEAD", "POST")
