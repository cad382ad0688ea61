"""Studies: created, edited as drafts, and from launch on managed from their overview."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.views.generic import RedirectView

from evaluation.admin import settling
from evaluation.admin.base import StudyScopedAdmin, lead_to
from evaluation.admin.design.frozen import design_context
from evaluation.admin.design.inlines import (
    ArmInline,
    AttributeInline,
    OrderedInline,
    QuestionInline,
    TextInline,
)
from evaluation.admin.design.preview import draft_preview, preview_context
from evaluation.admin.design.sections import (
    PAGES,
    count_different,
    design_url,
    draft_fieldsets,
    fill_sections,
    is_plain,
    live_fieldsets,
    page_of,
    rows_of,
)
from evaluation.admin.explorer import notes
from evaluation.admin.pages import Tab, study_pages, tabs, walk_through_url
from evaluation.admin.rights import (
    FORM,
    View,
    has_right,
    has_right_anywhere,
    my_studies,
    study_for,
    study_page,
)
from evaluation.admin.study import (
    deletion,
    files,
    launch,
    members,
    overview,
    reference_pairs,
    rehearsal,
    resolver,
    revision,
)
from evaluation.admin.study.forms import LiveStudyForm, NewStudyForm, StudyForm
from evaluation.admin.study.making import additions, derivation, duplicate, library, pooling
from evaluation.admin.study.missing import count_by_page, missing_for, recruitment_links
from evaluation.models import Language, Status, Study
from evaluation.permissions import may_begin_studies
from evaluation.refusals import WrongState
from evaluation.services.studies.creation import begin_study
from evaluation.services.studies.drafts import lock_draft

tabs["overview"] = Tab("Overview", "admin:evaluation_study_overview", 10, "Overview", "admin#4-watch")
tabs["design"] = Tab("Form", "admin:evaluation_study_change", 20, "Design", "admin#2-prepare-the-draft")
# Of a draft they are written; from the launch on they are read, with what was judged of them.
tabs["items"] = Tab(
    "Items", "admin:evaluation_item_list", 22, "Design", "admin#find-items-and-judgments", (41, "Judgments")
)
tabs["judgments"] = Tab("Judgments", "admin:evaluation_judgment_list", 40, "Judgments", "admin#4-watch")
tabs["raters"] = Tab("Raters", "admin:evaluation_rater_list", 43, "Judgments", "admin#4-watch")
tabs["exports"] = Tab(
    "Exports", "admin:evaluation_study_exports", 52, "Results", "formats#what-an-export-holds"
)
tabs["report"] = Tab("Report", "analytics:study-report", 50, "Results", "report")
tabs["members"] = Tab("Members", "admin:evaluation_study_members", 12, "Overview", "admin#members")
tabs["history"] = Tab("History", "admin:evaluation_study_history", 14, "Overview", "admin#4-watch")


@admin.register(Study)
class StudyAdmin(StudyScopedAdmin):
    study_path = "pk"
    tab = "design"
    inlines = (QuestionInline, AttributeInline, TextInline, ArmInline)
    add_form_template = "admin/evaluation/study/new.html"

    # --- whose it is ------------------------------------------------------------------------------------------------
    def study_of(self, obj: Any) -> Study:
        found: Study = obj
        return found

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return my_studies(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_begin_studies(request.user)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None:
            return has_right_anywhere(request, "write")
        return has_right(request, "write", obj.pk) and obj.launching_since is None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # it is deleted on a page of its own (`evaluation.admin.study.deletion`)

    # --- the forms --------------------------------------------------------------------------------------------------
    def may_edit_draft(self, request: HttpRequest, obj: Any) -> bool:
        return obj is not None and not obj.is_frozen and self.has_change_permission(request, obj)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ((None, {"fields": ("title", "slug", "protocol", "language", "arms")}),)
        if not self.has_change_permission(request, obj):
            return ((None, {"fields": ()}),)  # the design is read in words
        return live_fieldsets(obj) if obj.is_frozen else draft_fieldsets(obj, page_of(request))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if obj is None:
            kwargs["form"] = NewStudyForm
        elif self.has_change_permission(request, obj):
            kwargs["form"] = LiveStudyForm if obj.is_frozen else StudyForm
        return super().get_form(request, obj, change=change, **kwargs)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> dict[str, Any]:
        return {"slug": ("title",)} if obj is None else {}

    def get_inline_instances(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if not self.may_edit_draft(request, obj):
            return []
        here = rows_of(obj, page_of(request))
        if not obj.protocol_object.has_attributes:
            here.discard("attribute")
        return [
            each for each in super().get_inline_instances(request, obj) if each.model._meta.model_name in here
        ]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Of a new study Django's form; of a draft the form with its preview; from launch on the design in words."""
        obj = kwargs.get("obj")
        if obj is not None:
            context["is_design"] = True
            # As it is stored: the form may have been sent with faults.
            study = Study.objects.get(pk=obj.pk)
            if self.may_edit_draft(request, study):
                context |= self._draft_context(request, study, context) | preview_context(
                    study, page_of(request)
                )
            else:
                context |= design_context(study, request.GET.get("revision", ""))
                context["recruitment"] = recruitment_links(study)
        response: Any = super().render_change_form(request, context, *args, **kwargs)
        if obj is not None:
            response.context_data["title"] = "Design"
            name = "draft" if "sections" in context else "frozen"
            response.template_name = f"admin/evaluation/design/{name}.html"
        return response  # type: ignore[no-any-return]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The ways to begin a study: from a file, from the library or an own one, or blank."""
        ways = {"title": "New study", **library.ways_to_begin(request.user)}
        response: HttpResponse = super().add_view(request, form_url or "#blank", ways | (extra_context or {}))
        return response

    def _draft_context(self, request: HttpRequest, study: Study, context: dict[str, Any]) -> dict[str, Any]:
        page, missing = page_of(request), missing_for(study, request.user)
        *sections, further = fill_sections(
            study, page, context["adminform"], context["inline_admin_formsets"]
        )
        counts = count_by_page(missing)
        return {
            "pages": [
                (each.label, f"{design_url(study)}?page={each.key}", counts[each.key], each is page, each)
                for each in PAGES.values()
            ],
            "missing": missing,
            "plain": is_plain(study),
            "sections": sections,
            "further": further if further.fieldset or further.rows else None,
            "further_count": count_different(study, further, context["adminform"].form.initial),
            "recruitment": recruitment_links(study),
        }

    # --- what is written --------------------------------------------------------------------------------------------
    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        if change:
            return super().save_form(request, form, change)
        data = form.cleaned_data
        study = begin_study(
            slug=data["slug"],
            title=data["title"],
            protocol=data["protocol"],
            by=request.user,
            language=data["language"] or Language.ENGLISH,
            arms=data["arms"],
        )
        form.save_m2m = lambda: None  # which Django calls, and a study has none of
        return study

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Nothing: the act has."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save a draft's whole form, or what may change in a running study; never what a launch froze meanwhile."""
        if not change:
            return  # `save_form` made it
        if isinstance(form, StudyForm):
            self.lock_draft(obj)
        names = [name for name in form.cleaned_data if name in {field.name for field in Study._meta.fields}]
        extra = ["steps", "skips", "needs", "stopping"] if isinstance(form, StudyForm) else []
        obj.save(update_fields=sorted({*names, *extra}))

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        if formset.has_changed():
            self.lock_draft(form.instance)
        super().save_formset(request, form, formset, change)

    def lock_draft(self, obj: Any) -> None:
        try:
            lock_draft(obj)
        except WrongState as frozen:
            raise PermissionDenied(str(frozen)) from None

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        messages.success(
            request,
            f"{obj.title} was created as a draft. Edit its texts and questions, then upload its items.",
        )
        return HttpResponseRedirect(design_url(obj))

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        messages.success(request, "Saved.")
        query, anchor = {} if obj.is_frozen else {"page": page_of(request).key}, ""
        another = request.POST.get("another", "")
        if another:  # the button for who has no script, which adds a row on the page
            query, anchor = query | {OrderedInline.wanted: another}, f"#{another}s-group"
        return HttpResponseRedirect(f"{design_url(obj)}{'?' if query else ''}{urlencode(query)}{anchor}")

    # --- further pages ----------------------------------------------------------------------------------------------
    def notice(self, request: HttpRequest, obj: Any, study: Study) -> str:
        if study.launching_since is not None:
            return "The study is being launched; nothing can be changed until that is done."
        if study.is_frozen:
            return "The study was launched: its questions, arms, items and most rules are frozen. Texts can be revised."
        return ""

    def action_links(self, request: HttpRequest, obj: Any, study: Study) -> list[tuple[str, str]]:
        """Links to what can be done with the design as a whole: the row of buttons at the top of its page."""
        links = [("Walk through", walk_through_url(study))] if study.status == Status.DRAFT else []
        if study.is_frozen or not has_right(request, "write", study.pk):
            return links
        return [("Upload items", reverse("admin:evaluation_study_upload", args=[study.slug])), *links]

    def design_view(self, request: HttpRequest, study: Study) -> HttpResponse:
        return self.change_view(request, str(study.pk))

    def acts_view(self, request: HttpRequest, study: Study) -> HttpResponse:
        return self.history_view(request, str(study.pk))

    def pages_of_study(self) -> Sequence[tuple[str, str, View]]:
        return (
            ("", "overview", overview.overview),
            ("design/", "change", study_page(methods=FORM)(self.design_view)),
            ("history/", "history", study_page(methods=FORM)(self.acts_view)),
            ("delete/", "delete", deletion.delete),
            ("design-preview/", "draft_preview", draft_preview),
            ("upload/", "upload", files.upload),
            ("template/", "template", files.template),
            ("scores/", "scores", files.scores),
            ("launch/", "launch", launch.launch),
            ("rehearse/", "rehearse", rehearsal.rehearse),
            ("delete-rehearsal/", "delete_rehearsal", rehearsal.delete),
            ("pause/", "pause", launch.pause),
            ("resume/", "resume", launch.resume),
            ("close/", "close", launch.close),
            ("reopen/", "reopen", launch.reopen),
            ("archive/", "archive", launch.archive),
            ("revise/", "revise", revision.revise),
            ("add-items/", "add_items", additions.add),
            ("derive/", "derive", derivation.derive),
            ("pool/", "pool", pooling.pool),
            ("duplicate/", "duplicate", duplicate.duplicate),
            ("resolve/", "resolve", resolver.resolve),
            ("pair-references/", "pair_references", reference_pairs.pair_references),
            ("members/", "members", members.members),
            ("members/invite/", "invite", members.invite_colleague),
            ("members/news/", "news", members.news),
            ("members/webhook/", "webhook", members.webhook),
            (
                "members/invitations/<int:invitation>/withdraw/",
                "withdraw_invitation",
                members.withdraw,
            ),
            ("exports/", "exports", files.exports),
            ("notes/<int:pk>/delete/", "delete_note", notes.delete),
            ("settle/", "settle", settling.settle),
            ("settled/", "settled", settling.settled),
            ("settled/gold/", "settled_as_gold", settling.settled_as_gold),
            ("settled/<int:judgment>/take-back/", "take_back", settling.take_back_label),
            *((f"{route}", name, view) for pages in study_pages.values() for route, name, view in pages()),
        )

    def urls_of_study(self) -> list[URLPattern]:
        return self._below_list()

    def get_urls(self) -> list[URLPattern]:
        """The addresses from before studies left the admin; the pages are elsewhere (`config.admin`)."""
        return [
            path("", self.admin_site.admin_view(self.changelist_view), name="evaluation_study_changelist"),
            path(
                "add/",
                self.admin_site.admin_view(RedirectView.as_view(pattern_name="admin:evaluation_study_add")),
            ),
            path(
                "from-file/",
                self.admin_site.admin_view(
                    RedirectView.as_view(pattern_name="admin:evaluation_study_from_file")
                ),
            ),
            path("<int:pk>/", self.admin_site.admin_view(moved_study)),
            path("<int:pk>/<path:rest>", self.admin_site.admin_view(moved_study)),
        ]

    def urls_of_new(self) -> list[URLPattern]:
        """The addresses at which a study is begun."""
        site = self.admin_site
        return [
            path("", site.admin_view(self.add_view), name="evaluation_study_add"),
            path("from-file/", site.admin_view(files.study_from_file), name="evaluation_study_from_file"),
            path(
                "library/<slug:entry>/",
                site.admin_view(library.library_entry),
                name="evaluation_study_library_entry",
            ),
            path(
                "library/<slug:entry>/item/",
                site.admin_view(library.library_item),
                name="evaluation_study_library_item",
            ),
        ]


# Pages that had another name.
MOVED = {"": "design/", "workbench/": "", "change/": "design/"}


def moved_study(request: HttpRequest, pk: int, rest: str = "") -> HttpResponse:
    return lead_to(request, f"/studies/{study_for(request, pk).slug}/{MOVED.get(rest, rest)}")
