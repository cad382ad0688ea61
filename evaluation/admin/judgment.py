"""Judgments to read, one by one with their answers; excluded and restored with a reason."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from evaluation.admin.base import RowFilter, StudyScopedAdmin, parse_id, study_of_list
from evaluation.admin.explorer.judgment_cards import JudgmentCard, judgment_cards, name_as_seen
from evaluation.admin.explorer.judgment_page import judgment_page
from evaluation.admin.explorer.seen_screen import judgment_screen
from evaluation.admin.pages import ConfirmedAction, EmptyNote, confirmation_page, until_judged, way_back
from evaluation.admin.rights import FORM, View, has_right, read_texts, searched_as_read, study_for
from evaluation.explorer.filter_values import MOST_WORDS
from evaluation.explorer.search import judgments_with
from evaluation.models import Exclusion, Judgment, Rater, Study
from evaluation.refusals import Refused
from evaluation.selectors import system_labels
from evaluation.services.exclusions import restore
from evaluation.services.settling import exclude_or_take_back
from evaluation.storable import storable

# In a row of the list.
MOST_VALUES, MOST_LETTERS = 3, 160


class RaterFilter(RowFilter):
    """One rater, chosen by a link; there may be thousands to list."""

    title = "rater"
    parameter_name = "rater"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        pk = parse_id(request.GET.get("rater", ""))
        rater = Rater.objects.filter(pk=pk).first() if pk is not None else None
        return [(str(rater.pk), str(rater))] if rater and has_right(request, "view", rater.study_id) else []


class KindFilter(admin.SimpleListFilter):
    title = "rater's kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in Rater.Kind.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(rater__kind=self.value()) if self.value() in Rater.Kind.values else queryset


def _reason(card: JudgmentCard) -> str:
    """The first text of the answers, else a judge's rationale, in one line."""
    texts = [part.text for each in card.answers if each.is_text for _, parts in each.heads for part in parts]
    return " ".join([*texts, card.rationale][0].split())


@admin.register(Judgment)
class JudgmentAdmin(StudyScopedAdmin):
    address = "judgments"
    tab = "judgments"
    list_display = ("item_key", "rater_name", "said", "reason", "seconds", "marks")
    list_display_links = ("item_key",)
    list_filter = (KindFilter, "outcome", "surplus", RaterFilter)
    search_fields = ("item__key", "rater__pseudonym", "rater__label")
    search_help_text = "Key of an item, name of a rater, or words of a reason"

    def when_empty(self, request: HttpRequest, study: Study) -> EmptyNote:
        return until_judged(study, "judgments")

    def get_queryset(self, request: HttpRequest) -> Any:
        return (
            super().get_queryset(request).select_related("item", "rater", "revision", "study").order_by("-pk")
        )

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """With a card for each judgment of the page, read together."""
        changes, study = super().get_changelist_instance(request), study_of_list(request)
        if study is not None:
            changes.result_list = list(changes.result_list)
            cards = judgment_cards(study, changes.result_list, name_as_seen(system_labels(study)))
            reasons = read_texts(request, study, map(_reason, cards))
            for card, reason in zip(cards, reasons, strict=True):
                card.judgment.card = card  # type: ignore[attr-defined]
                card.judgment.first_reason = reason  # type: ignore[attr-defined]
        return changes

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """As the list of items finds words."""
        study = study_of_list(request)
        words = storable(search_term).split()[:MOST_WORDS]
        if study is None:
            return queryset, False
        return queryset.filter(judgments_with(study, words, searched_as_read(request, study))), False

    @admin.display(description="item")
    def item_key(self, judgment: Judgment) -> str:
        return judgment.item.key

    @admin.display(description="rater")
    def rater_name(self, judgment: Judgment) -> str:
        return str(judgment.rater)

    @admin.display(description="answers")
    def said(self, judgment: Any) -> str:
        """The first values in words, those of the whole item before those of its parts, and systems by their names."""
        answers = [each for each in judgment.card.answers if not each.is_text]
        parts = [(each.name, part) for each in answers for _, parts in each.heads for part in parts]
        parts.sort(key=lambda each: bool(each[1].who))
        shown = [
            ": ".join(filter(None, [name if len(parts) > 1 else "", part.who, part.text]))
            for name, part in parts
        ]
        return "; ".join(shown[:MOST_VALUES]) + (" …" if len(shown) > MOST_VALUES else "")

    @admin.display(description="reason")
    def reason(self, judgment: Any) -> str | SafeString:
        said = judgment.first_reason
        return format_html("<bdi>{}</bdi>", Truncator(said).chars(MOST_LETTERS)) if said else ""

    @admin.display(description="time")
    def seconds(self, judgment: Judgment) -> str:
        return "" if judgment.duration_ms is None else f"{judgment.duration_ms / 1000:,.0f} s"

    @admin.display(description="marks")
    def marks(self, judgment: Any) -> str:
        return ", ".join(judgment.card.marks)

    def pages_of_row(self) -> Sequence[tuple[str, str, View]]:
        return (("", "page", judgment_page), ("screen/", "screen", judgment_screen))

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        return (
            ("<int:pk>/exclude/", "exclude", exclude_judgment),
            ("<int:pk>/restore/", "restore", restore_judgment),
        )


def _judgment(request: HttpRequest, pk: int) -> tuple[Study, Judgment]:
    judgment = Judgment.objects.select_related("item", "rater").filter(pk=pk).first()
    if judgment is None:
        raise Http404
    return study_for(request, judgment.study_id, "write"), judgment


def exclude_judgment(request: HttpRequest, pk: int) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    study, judgment = _judgment(request, pk)

    def do(data: dict[str, Any]) -> str:
        exclude_or_take_back(judgment, reason=data["reason"], by=request.user)
        return f"Excluded {judgment.rater}'s judgment of {judgment.item}."

    act = ConfirmedAction(
        title="Exclude this judgment",
        text="It is excluded from all figures. Nothing is deleted, and you can undo this.",
        button="Exclude",
        danger=True,
        objects=[f"{judgment.rater} on {judgment.item}"],
        do=do,
        logs_itself=True,
        back=way_back(request, reverse("admin:evaluation_judgment_page", args=[study.slug, pk])),
    )
    return confirmation_page(request, study, act, tab="judgments")


def restore_judgment(request: HttpRequest, pk: int) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    study, judgment = _judgment(request, pk)

    def do(data: dict[str, Any]) -> str:
        exclusion = Exclusion.objects.filter(judgment=judgment, undone_at=None).first()
        if exclusion is None:
            raise Refused("This judgment is not excluded.")
        restore(exclusion, reason=data["reason"], by=request.user)
        return f"Restored {judgment.rater}'s judgment of {judgment.item}."

    act = ConfirmedAction(
        title="Restore this judgment",
        text="It is included in all figures again.",
        button="Restore",
        objects=[f"{judgment.rater} on {judgment.item}"],
        do=do,
        logs_itself=True,
        back=way_back(request, reverse("admin:evaluation_judgment_page", args=[study.slug, pk])),
    )
    return confirmation_page(request, study, act, tab="judgments")
