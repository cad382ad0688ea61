"""A study's read-only records: revisions, exclusions, imports; and flags, which a person resolves."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.admin.base import StudyScopedAdmin, study_of_list
from evaluation.admin.design.frozen import describe_spec
from evaluation.admin.pages import ConfirmedAction, confirmation_page, list_url, way_back
from evaluation.admin.rights import FORM, has_right, read_texts, study_for
from evaluation.models import Exclusion, Import, ItemFlag, Revision, Study
from evaluation.services import flags


@admin.register(Revision)
class RevisionAdmin(StudyScopedAdmin):
    address = "revisions"
    tab = "design"
    fields = ("number", "spec_hash", "created_at", "spec_text")
    list_display = ("number", "created_at", "short_hash")
    list_select_related = ("study",)
    ordering = ("study", "number")

    @admin.display(description="spec hash")
    def short_hash(self, revision: Revision) -> str:
        return revision.spec_hash[:12]

    @admin.display(description="design")
    def spec_text(self, revision: Revision) -> SafeString:
        context = {"spec": describe_spec(revision.spec)}
        return render_to_string("admin/evaluation/design/_spec.html", context)


@admin.register(Exclusion)
class ExclusionAdmin(StudyScopedAdmin):
    address = "exclusions"
    tab = "raters"
    fields = ("rater", "judgment", "reason", "by", "at", "undone_by", "undone_at", "undone_reason")
    list_display = ("__str__", "rater", "judgment", "by", "at", "undone_at", "undone_reason")
    list_select_related = ("study", "rater", "judgment", "by")
    written_fields = ("reason", "undone_reason")
    ordering = ("-pk",)


@admin.register(Import)
class ImportAdmin(StudyScopedAdmin):
    """Imports that made a study; failed ones left nothing, and their jobs say why."""

    address = "imports"
    study_path = "created_study"
    tab = "design"
    fields = ("file_name", "format", "state", "by", "started_at", "finished_at", "notes")
    list_display = ("file_name", "format", "state", "by", "started_at")
    list_select_related = ("created_study", "by")
    ordering = ("-pk",)


def with_notes_as_read(
    request: HttpRequest, study: Study | None, flags: Iterable[ItemFlag]
) -> list[ItemFlag]:
    """The flags with what they read of each note, which is still whole."""
    listed = list(flags)
    notes = read_texts(request, study, (each.note for each in listed))
    for flag, note in zip(listed, notes, strict=True):
        flag.note = note
    return listed


@admin.register(ItemFlag)
class ItemFlagAdmin(StudyScopedAdmin):
    address = "flags"
    study_path = "item__study"
    tab = "items"
    fields = ("item", "reason", "rater", "note", "at")
    list_display = ("item_page", "reason", "rater", "note_short", "at", "resolve")
    list_display_links = ("reason",)
    list_filter = ("reason",)
    list_select_related = ("item__study", "rater")
    search_fields = ("item__key", "note", "rater__pseudonym")
    written_fields = ("note",)
    ordering = ("-pk",)

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changes = super().get_changelist_instance(request)
        changes.result_list = with_notes_as_read(request, study_of_list(request), changes.result_list)
        return changes

    @admin.display(description="item", ordering="item")
    def item_page(self, flag: ItemFlag) -> SafeString:
        """The item's name, leading to its texts."""
        address = reverse("admin:evaluation_item_page", args=[flag.item.study.slug, flag.item_id])
        return format_html('<a href="{}">{}</a>', address, flag.item)

    @admin.display(description="note")
    def note_short(self, flag: ItemFlag) -> str:
        return flag.note[:120]

    @admin.display(description="resolve")
    def resolve(self, flag: ItemFlag) -> SafeString:
        url = reverse("admin:evaluation_itemflag_resolve", args=[flag.pk])
        return format_html(
            '<a href="{}">Resolve<span class="visually-hidden"> flag of {}</span></a>', url, flag.item
        )

    def action_links(self, request: HttpRequest, obj: Any, study: Study) -> list[tuple[str, str]]:
        links = [("Item", reverse("admin:evaluation_item_page", args=[study.slug, obj.item_id]))]
        if not has_right(request, "write", study.pk):
            return links
        return [("Resolve", reverse("admin:evaluation_itemflag_resolve", args=[obj.pk])), *links]

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        return (("<int:pk>/resolve/", "resolve", resolve_flag),)


def resolve_flag(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a flag; the decision is logged in the study's history."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    flag = ItemFlag.objects.select_related("item__study").filter(pk=pk).first()
    if flag is None:
        raise Http404
    study = study_for(request, flag.item.study_id, "write")

    act = ConfirmedAction(
        title=f"Resolve the flag of {flag.item}",
        text=f"Flagged as “{flag.reason}”. {flag.note} Say what you found; withdrawing the item is a separate act.",
        button="Resolve",
        do=lambda data: flags.resolve_flag(flag, by=request.user, reason=data["reason"]),
        back=way_back(request, list_url("evaluation_itemflag", study)),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="items")
