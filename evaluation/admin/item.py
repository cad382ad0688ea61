"""Items and their parts: browsed, previewed, corrected in a draft, withdrawn from a running study."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evaluation.admin.base import StudyScopedAdmin
from evaluation.admin.explorer.item_list import item_list
from evaluation.admin.explorer.item_page import item_page
from evaluation.admin.explorer.notes import write_note
from evaluation.admin.explorer.seen_screen import item_screen
from evaluation.admin.pages import ConfirmedAction, confirmation_page
from evaluation.admin.preview import preview
from evaluation.admin.rights import FORM, View, study_for
from evaluation.models import Context, Item, Query, Response, Study
from evaluation.protocols.attributes import fill_in
from evaluation.services.studies.items import bring_back_item, withdraw_item


@admin.register(Item)
class ItemAdmin(StudyScopedAdmin):
    address = "items"
    tab = "items"
    fields = ("key", "arm", "role", "query_text", "context_text", "clarifying_question", "clarifying_source",
              "responses_text", "gold", "state", "stimulus_hash")  # fmt: skip
    draft_fields = ("role", "clarifying_question", "clarifying_source")
    list_select_related = ("arm", "query", "study")

    def list_view(self, request: HttpRequest, study: Study) -> HttpResponse:
        return item_list(request, study)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("stimulus")

    @admin.display(description="state")
    def state(self, item: Item) -> str:
        if item.withdrawn_at:
            return f"withdrawn on {item.withdrawn_at:%Y-%m-%d}"
        return "frozen" if item.stimulus_hash else "draft"

    @admin.display(description="query")
    def query_text(self, item: Item) -> SafeString:
        return format_html('<bdi class="judged">{}</bdi>', item.query.text)

    @admin.display(description="context")
    def context_text(self, item: Item) -> str | SafeString:
        if item.context is None:
            return "none"
        pairs = [(each["question"], each["answer"]) for each in complete_questions(item.context, item.study)]
        return format_html("<dl>{}</dl>", format_html_join("", "<dt>{}</dt><dd><bdi>{}</bdi></dd>", pairs))

    @admin.display(description="responses")
    def responses_text(self, item: Item) -> SafeString:
        rows = item.responses.select_related("system").order_by("system__key", "key")
        pairs = [(str(each.system), each.text or "(empty response)") for each in rows]
        return format_html(
            "<dl>{}</dl>", format_html_join("", '<dt>{}</dt><dd><bdi class="judged">{}</bdi></dd>', pairs)
        )

    def action_links(self, request: HttpRequest, obj: Any, study: Study) -> list[tuple[str, str]]:
        return [("Preview as a participant", reverse("admin:evaluation_item_preview", args=[obj.pk]))]

    def pages_of_row(self) -> Sequence[tuple[str, str, View]]:
        return (
            ("", "page", item_page),
            ("screen/", "screen", item_screen),
            ("notes/", "note", write_note),
        )

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        return (
            ("<int:pk>/preview/", "preview", preview),
            ("<int:pk>/withdraw/", "withdraw", withdraw),
            ("<int:pk>/bring-back/", "bring_back", bring_back),
        )


def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw an item from a study that is live or paused."""
    return _confirmed(
        request,
        pk,
        withdraw_item,
        title="Withdraw item",
        text=(
            "It is no longer shown to anybody, and its judgments are excluded from all figures, until it is "
            "brought back."
        ),
        button="Withdraw it",
        danger=True,
    )


def bring_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo an item's withdrawal."""
    return _confirmed(
        request,
        pk,
        bring_back_item,
        title="Bring back item",
        text=(
            "Participants get it again as often as it still needs judgments, and the judgments that it has count. "
            "Judges that ran meanwhile have none of it."
        ),
        button="Bring it back",
    )


def _confirmed(
    request: HttpRequest, pk: int, change: Callable[..., str], *, title: str, **act: Any
) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponse(status=405)
    item = Item.objects.select_related("study", "query").filter(pk=pk).first()
    if item is None:
        raise Http404
    study = study_for(request, item.study_id, "write")
    action = ConfirmedAction(
        title=f"{title} {item.key}",
        objects=[str(item.query)],
        do=lambda data: change(item, by=request.user, reason=data["reason"]),
        back=reverse("admin:evaluation_item_page", args=[study.slug, pk]),
        logs_itself=True,
        **act,
    )
    return confirmation_page(request, study, action, tab="items")


@admin.register(Query)
class QueryAdmin(StudyScopedAdmin):
    address = "queries"
    tab = "items"
    fields = ("key", "text", "category", "source", "split", "information_need", "references", "documents")
    draft_fields = ("text", "category", "source", "split", "information_need")
    list_display = ("key", "__str__", "category", "source", "split")
    list_filter = ("split",)
    list_select_related = ("study",)
    search_fields = ("key", "text", "category")
    ordering = ("study", "pk")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A conversation's text is the transcript of its turns."""
        fixed = super().get_readonly_fields(request, obj)
        return [*fixed, "text"] if obj is not None and obj.turns else fixed


@admin.register(Context)
class ContextAdmin(StudyScopedAdmin):
    address = "contexts"
    study_path = "query__study"
    tab = "items"
    fields = ("key", "query", "source", "follow_up_text")
    list_display = ("query", "key", "source", "n_follow_ups")
    list_select_related = ("query__study",)
    search_fields = ("key", "query__text")
    ordering = ("pk",)

    @admin.display(description="follow-up questions")
    def n_follow_ups(self, context: Context) -> int:
        return len(context.follow_ups)

    @admin.display(description="follow-up questions")
    def follow_up_text(self, context: Context) -> SafeString:
        pairs = [
            (each["question"], each["answer"], ", ".join(each["answers"]))
            for each in complete_questions(context, context.query.study)
        ]
        return format_html(
            "<dl>{}</dl>", format_html_join("", "<dt>{}</dt><dd><bdi>{}</bdi> (of: {})</dd>", pairs)
        )


def complete_questions(context: Context, study: Study) -> list[dict[str, Any]]:
    """The context's follow-up questions; those that name an attribute have its present words."""
    return fill_in(context.follow_ups, list(study.attributes.values("key", "question", "values")))


@admin.register(Response)
class ResponseAdmin(StudyScopedAdmin):
    address = "responses"
    study_path = "query__study"
    tab = "items"
    fields = ("key", "system", "query", "context", "text")
    draft_fields = ("text",)
    list_display = ("key", "system", "query", "characters")
    list_select_related = ("query__study", "system")
    search_fields = ("key", "query__text", "system__key")
    ordering = ("pk",)

    @admin.display(description="characters")
    def characters(self, response: Response) -> str:
        return f"{len(response.text):,}"
