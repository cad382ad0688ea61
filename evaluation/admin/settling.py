"""Settling: the items that people differ on, one after another, and the labels that were settled."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html

from evaluation.admin.base import parse_id
from evaluation.admin.explorer.judgment_cards import judgment_cards, name_as_seen, people_first
from evaluation.admin.explorer.seen_screen import shown_names
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm, Tab, confirmation_page, page, tabs
from evaluation.admin.preview import around_screen
from evaluation.admin.rights import FORM, has_right, study_page
from evaluation.explorer.item_filters import ItemFilters
from evaluation.explorer.settling import SettlingQueue, settler_counts, settlers_agreement
from evaluation.forms.answers_in_words import ResponseNames
from evaluation.forms.input.posted_fields import read_fields, read_trace
from evaluation.forms.input.recorded_answers import answers_as_data
from evaluation.forms.language import in_language_of
from evaluation.forms.screen import build_screen
from evaluation.models import Item, Judgment, Outcome, Rater, Role, Study
from evaluation.protocols import AnswersInvalid, Problem
from evaluation.protocols.base import Data, Spec
from evaluation.refusals import FieldsRefused, Refused
from evaluation.selectors import excluded_q, settled_judgments, system_labels
from evaluation.services.answers import load_answers
from evaluation.services.settled_gold import use_settled_as_gold
from evaluation.services.settling import (
    JUDGES,
    PEOPLE,
    asked_reason,
    order_for_settling,
    reason_of,
    settle_item,
    take_back,
)
from evaluation.services.tallies import recount

tabs["settle"] = Tab("Settle", "admin:evaluation_study_settle", 42, "Judgments", "admin#settle-labels")

# The form's field of the reason; no question's key is spelt like it.
REASON = "~reason"
# Of the address, beside the filters: which item, past which one, what is shown of others' answers, what was just done.
ITEM, PAST, SHOW, DONE = "item", "past", "show", "done"
# The kinds of raters whose answers each are.
SHOWN = {PEOPLE: (Rater.Kind.PERSON, Rater.Kind.SIMULATED), JUDGES: (Rater.Kind.JUDGE,)}
LABELS_AT_ONCE = 50


@study_page(methods=FORM)
def settle(request: HttpRequest, study: Study) -> HttpResponse:
    """An item to settle, as a participant sees it; a POST settles it and leads to the next. Viewers read what is
    settled."""
    if not has_right(request, "write", study.pk):
        return redirect("admin:evaluation_study_settled", study.slug)
    try:
        filters = ItemFilters.parse(study, dict(request.GET.lists()))
    except FieldsRefused:
        # The list's form says what is wrong, where it is chosen.
        messages.error(request, "Nothing was chosen to settle: the filters can't be read.")
        chosen = request.GET.copy()
        for name in (ITEM, PAST, SHOW, DONE):
            chosen.pop(name, None)
        return redirect(f"{reverse('admin:evaluation_item_list', args=[study.slug])}?{chosen.urlencode()}")
    if not study.is_frozen:
        return redirect("admin:evaluation_study_settled", study.slug)
    item = _item(request, study, filters)
    if item is None:
        messages.info(request, "Nothing is left to settle.")
        return redirect("admin:evaluation_study_settled", study.slug)
    spec = study.revisions.order_by("-number")[0].spec
    with in_language_of(spec):
        settling = _Settling(request, study, item, spec, filters)
        return settling.take() if request.method == "POST" else settling.show()


def _item(request: HttpRequest, study: Study, filters: ItemFilters) -> Item | None:
    """The item that the address names, or the next one; None where all are settled."""
    if ITEM in request.GET or request.method == "POST":
        pk = parse_id(request.GET.get(ITEM, ""))
        return get_object_or_404(Item, pk=pk, study=study, role=Role.MAIN, withdrawn_at=None)
    recount(study)
    return SettlingQueue.of(study, filters, request.user).next(parse_id(request.GET.get(PAST, "")))


class _Settling:
    """One item before a member who settles it."""

    def __init__(
        self, request: HttpRequest, study: Study, item: Item, spec: Spec, filters: ItemFilters
    ) -> None:
        self.request, self.study, self.item, self.spec, self.filters = request, study, item, spec, filters
        self.stimulus: dict[str, Any] = dict(item.stimulus or {})
        self.order = order_for_settling(self.stimulus, item.position)
        self.shown = [each for each in SHOWN if each in request.GET.getlist(SHOW)]

    def show(self) -> HttpResponse:
        """The form, with what the member has settled here before."""
        mine = (
            settled_judgments(self.study)
            .filter(rater__settled_by=self.request.user.pk, item=self.item)
            .first()
        )
        if mine is None:
            return self._page(None, "", mine=mine)
        questions = self.study.protocol_object.questions(self.spec, self.stimulus)
        return self._page(answers_as_data(questions, load_answers(mine)), reason_of(mine), mine=mine)

    def take(self) -> HttpResponse:
        fields = self.request.POST.dict()
        fields.pop("csrfmiddlewaretoken", None)
        reason = fields.pop(REASON, "")
        data = read_fields(fields)
        try:
            settled = settle_item(self.item, data, reason=reason, by=self.request.user, shown=self.shown)
        except AnswersInvalid as invalid:
            return self._page(data, reason, wrong=invalid.problems)
        except Refused as refused:
            return self._page(data, reason, wrong=self._problems(data), error=str(refused))
        return redirect(self._address((PAST, self.item.pk), (DONE, settled.pk)))

    def _problems(self, data: Data) -> Iterable[Problem]:
        """Problems of the answers, too, where the reason was refused."""
        try:
            self.study.protocol_object.clean(self.spec, self.stimulus, data)
        except AnswersInvalid as invalid:
            return invalid.problems
        return ()

    def _page(
        self,
        data: Data | None,
        reason: str,
        *,
        wrong: Iterable[Problem] = (),
        error: str = "",
        mine: Judgment | None = None,
    ) -> HttpResponse:
        problems = list(wrong)
        screen = build_screen(
            self.study.protocol_object,
            self.spec,
            self.stimulus,
            self.order,
            data=data,
            problems=problems,
            trace=read_trace(self.request.POST.dict()),
        )
        if error:
            screen["summary"].append({"href": "#settle-reason", "text": error})
        context = {
            "study": self.study,
            "screen": screen,
            **around_screen(
                self.study, self.spec, self.stimulus, submit=self._here(), label=f"Settle {self.item.key}"
            ),
            "settle": {
                "asks_reason": asked_reason(self.study, self.spec, self.stimulus) is None,
                "reason": reason,
                "error": error,
                "mine": mine,
                **self._strip(),
                **self._others(),
            },
        }
        status = 422 if problems or error else 200
        response = render(self.request, "admin/evaluation/settling/settle.html", context, status=status)
        add_never_cache_headers(response)
        return response

    def _strip(self) -> dict[str, Any]:
        """The strip above the item and the way on: how far the member is, and what they just did."""
        queue = SettlingQueue.of(self.study, self.filters, self.request.user)
        done = parse_id(self.request.GET.get(DONE, "")) or 0
        return {
            "item": self.item,
            "left": queue.n_left,
            "contested": queue.n_contested,
            "counts": settler_counts(self.study),
            "done": settled_judgments(self.study)
            .filter(pk=done, rater__settled_by=self.request.user.pk)
            .select_related("item")
            .first(),
            "skip": self._address((PAST, self.item.pk)),
            "filtered": bool(self.filters.pairs),
        }

    def _others(self) -> dict[str, Any]:
        """Others' answers, of those that are asked for, and the addresses that ask for the rest."""
        offered = [each for each in SHOWN if each not in self.shown]
        kinds = [kind for each in self.shown for kind in SHOWN[each]]
        given = Judgment.objects.filter(
            item=self.item, rater__kind__in=kinds, outcome=Outcome.OK, surplus=False
        )
        given = given.exclude(excluded_q(self.study)).filter(rater__in_figures=True)
        given = given.select_related("item", "rater", "revision")
        names = self._names()
        return {
            "shows": [(each, self._here(*self.shown, each)) for each in offered],
            "others": judgment_cards(self.study, people_first(given), lambda *_: names) if kinds else [],
            "systems": names.values() if JUDGES in self.shown else (),
        }

    def _names(self) -> ResponseNames:
        """The responses by the names that they have on the screen, with their systems where these are shown."""
        names = shown_names(self.stimulus, self.order)
        if JUDGES not in self.shown:
            return names
        systems = shown_names(self.stimulus, self.order, system_labels(self.study))
        return {part: format_html("{}: {}", name, systems[part]) for part, name in names.items()}

    def _here(self, *shown: str) -> str:
        return self._address((ITEM, self.item.pk), *((SHOW, each) for each in shown or self.shown))

    def _address(self, *further: tuple[str, Any]) -> str:
        here = reverse("admin:evaluation_study_settle", args=[self.study.slug])
        return f"{here}?{urlencode([*self.filters.pairs, *further])}"


@study_page()
def settled(request: HttpRequest, study: Study) -> HttpResponse:
    """The labels that were settled, the newest first, and how those who settled them agree."""
    before = parse_id(request.GET.get("before", ""))
    rows = settled_judgments(study).order_by("-pk")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    pks = list(rows.values_list("pk", flat=True)[: LABELS_AT_ONCE + 1])
    shown = Judgment.objects.filter(pk__in=pks[:LABELS_AT_ONCE]).order_by("-pk")
    labels = shown.select_related("item", "rater", "revision")
    context = {
        "title": "Settled labels",
        "labels": judgment_cards(study, list(labels), name_as_seen(system_labels(study))),
        "counts": settler_counts(study),
        "agreement": list(settlers_agreement(study)),
        "older": f"?before={pks[LABELS_AT_ONCE - 1]}" if len(pks) > LABELS_AT_ONCE else "",
        "may_own": has_right(request, "own", study.pk),
        "me": request.user.pk,
    }
    return page(request, "admin/evaluation/settling/labels.html", context, study=study, tab="settle")


@study_page("write", methods=FORM)
def take_back_label(request: HttpRequest, study: Study, judgment: int) -> HttpResponse:
    """Take a settled label back, after a confirmation."""
    found = settled_judgments(study).filter(pk=judgment).select_related("rater", "item", "study").first()
    if found is None:
        raise Http404
    act = ConfirmedAction(
        title=f"Take back the settled label of {found.item.key}",
        text="The item stands to be settled again. The label stays on record, and the item can be settled anew.",
        button="Take it back",
        objects=[f"{found.item.key}, settled by {found.rater}"],
        do=lambda data: take_back(found, by=request.user, reason=data["reason"]),
        form=OptionalReasonForm,
        back=reverse("admin:evaluation_study_settled", args=[study.slug]),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="settle")


@study_page("write", methods=FORM)
def settled_as_gold(request: HttpRequest, study: Study) -> HttpResponse:
    """Have settled labels be gold for the quality of participants' work, or no more."""
    use = not study.settled_as_gold
    title, text = (
        (
            "Use settled labels as gold",
            "On the page Quality, participants' answers to settled items are compared with the settled label. Nobody "
            "is shown this, and it is no ground for rejection. Items stay as they are.",
        )
        if use
        else ("Settled labels are gold", "They are no gold any more from now on.")
    )
    act = ConfirmedAction(
        title=title,
        text=text,
        button="Use as gold" if use else "Use them no more",
        do=lambda data: use_settled_as_gold(study, use=use, by=request.user, reason=data["reason"]),
        form=OptionalReasonForm,
        back=reverse("admin:evaluation_study_settled", args=[study.slug]),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="settle")
