"""Studies: created, edited as drafts, and from launch on managed from their workbench."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import InlineModelAdmin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.admin.base import StudyScopedAdmin
from evaluation.admin.pages import Tab, study_pages, tabs, workbench_url
from evaluation.admin.rights import has_right, my_studies
from evaluation.admin.study import files, launch, members, reference_pairs, resolver, revision, workbench
from evaluation.admin.study.forms import (
    ARMS,
    AttributeForm,
    LiveStudyForm,
    NewStudyForm,
    QuestionForm,
    StudyForm,
    TextForm,
)
from evaluation.admin.study.rules import CODE_FIELDS, StepsForm, codes_lock_reason
from evaluation.models import Arm, Attribute, Question, Study, Text
from evaluation.refusals import WrongState
from evaluation.services import add_arms, create_study
from evaluation.services.studies.drafts import delete_draft, lock_draft

tabs.register("workbench", Tab("Workbench", "evaluation_study_workbench", 10, per_study=True))
tabs.register("design", Tab("Design", "evaluation_study_change", 20, per_study=True))
tabs.register("items", Tab("Items", "evaluation_item_changelist", 30))
tabs.register("raters", Tab("Raters", "evaluation_rater_changelist", 50))
tabs.register("judgments", Tab("Judgments", "evaluation_judgment_changelist", 60))
tabs.register("exports", Tab("Exports", "evaluation_study_exports", 80, per_study=True))
tabs.register("members", Tab("Members", "evaluation_study_members", 90, per_study=True))
tabs.register("history", Tab("History", "evaluation_study_history", 100, per_study=True))


class DraftInline(InlineModelAdmin):
    """Rows of a draft, editable by its writers; read-only for everybody else and in every later state."""

    extra = 0
    can_add = True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Without an object Django asks about the rows of the page's study, for which the right was checked already."""
        return obj is None or has_right(request, "view", obj.pk)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is not None and has_right(request, "write", obj.pk) and not obj.is_frozen

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.can_add and self.has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.can_add and self.has_change_permission(request, obj)


class ArmInline(DraftInline, admin.StackedInline):
    model = Arm
    fields = (("key", "label", "position"), ("context_at_generation", "context_at_judging"))
    verbose_name_plural = "Arms"


class QuestionInline(DraftInline, admin.StackedInline):
    model = Question
    form = QuestionForm
    fields = (("key", "kind"), "prompt", "help", ("shown", "required", "position"), "options")
    verbose_name_plural = "Questions"


class AttributeInline(DraftInline, admin.StackedInline):
    model = Attribute
    form = AttributeForm
    verbose_name_plural = "Attributes"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        values = "values" if self.has_change_permission(request, obj) else "value_text"
        return (("key", "position"), "question", values)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if self.has_change_permission(request, obj) else ("value_text",)

    @admin.display(description="values")
    def value_text(self, attribute: Attribute) -> str:
        return "\n".join(attribute.values)


class TextInline(DraftInline, admin.StackedInline):
    model = Text
    form = TextForm
    fields = ("body",)
    can_add = False
    verbose_name_plural = "Texts"
    template = "admin/evaluation/study/texts_inline.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).order_by("pk")


LIVE_FIELDS = (
    ("items_per_participant",),
    ("paid_minutes", "lease_minutes"),
    ("pay", "currency"),
    "going_back",
    "contact",
    "exact_times",
    ("revisions_in_all", "revisions_per_day", "revisions_anonymous"),
)
WHAT = (
    "What is shown",
    {"fields": ("title", "asker", ("render_as", "show_references"), "baseline")},
)
CODES = (
    "Completion codes",
    {
        "fields": CODE_FIELDS,
        "description": "The codes that participants hand in at the panel, by outcome. Leave empty what "
        "your panel has no code for.",
    },
)
DRAFT_FIELDSETS = (
    WHAT,
    ("Design", {"fields": (("redundancy", "items_per_participant"), ("once_per", "arm_per"), "seed")}),
    ("Participant steps", {"fields": StepsForm.STEP_FIELDS}),
    ("Skipping", {"fields": StepsForm.SKIP_FIELDS}),
    ("Time and pay", {"fields": (*LIVE_FIELDS[1:],)}),
    CODES,
)
RULES = ("protocol_label", "asker", "seed", "once_per", "arm_per", "render_as", "baseline", "show_references",
         "steps_text", "skips_text", "redundancy")  # fmt: skip
LIVE_FIELDSETS = (
    ("Can be changed at any time", {"fields": LIVE_FIELDS}),
    CODES,
    ("Frozen at launch", {"fields": RULES, "classes": ("collapse",)}),
)
READ_FIELDSETS = (
    (None, {"fields": ("title", "slug", *RULES, "items_per_participant", "paid_minutes", "lease_minutes", "pay",
                       "currency", "contact", "codes_text", "exact_times", "revisions_in_all", "revisions_per_day",
                       "revisions_anonymous", "going_back")}),
)  # fmt: skip


@admin.register(Study)
class StudyAdmin(StudyScopedAdmin):
    study_path = "pk"
    tab = "design"
    inlines = (QuestionInline, AttributeInline, TextInline, ArmInline)
    list_display = ("title", "slug", "protocol", "status", "created_at")
    list_filter = ("status",)
    search_fields = ("title", "slug")
    change_form_template = "admin/evaluation/study/change_form.html"

    # --- whose it is ------------------------------------------------------------------------------------------------
    def study_of(self, obj: Any) -> Study:
        found: Study = obj
        return found

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return my_studies(request).order_by("-created_at", "-pk")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None:
            return bool(request.user.is_staff)
        return has_right(request, "write", obj.pk) and obj.launching_since is None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is not None and has_right(request, "own", obj.pk) and not obj.is_frozen

    # --- the forms --------------------------------------------------------------------------------------------------
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ((None, {"fields": ("title", "slug", "protocol", "arms")}),)
        if not self.has_change_permission(request, obj):
            return READ_FIELDSETS
        fieldsets = LIVE_FIELDSETS if obj.is_frozen else DRAFT_FIELDSETS
        if why := codes_lock_reason(obj):
            fixed = (CODES[0], {**CODES[1], "description": why})
            return tuple(fixed if each is CODES else each for each in fieldsets)
        return fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ()
        if not self.has_change_permission(request, obj):
            return READ_FIELDSETS[0][1]["fields"]
        return RULES if obj.is_frozen else ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if obj is None:
            kwargs["form"] = NewStudyForm
        elif self.has_change_permission(request, obj):
            kwargs["form"] = LiveStudyForm if obj.is_frozen else StudyForm
        return super().get_form(request, obj, change=change, **kwargs)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> dict[str, Any]:
        return {"slug": ("title",)} if obj is None else {}

    def get_inline_instances(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj is None:
            return []
        found = super().get_inline_instances(request, obj)
        if obj.protocol_object.has_attributes:
            return found
        return [each for each in found if not isinstance(each, AttributeInline)]

    @admin.display(description="protocol")
    def protocol_label(self, study: Study) -> str:
        return study.protocol_object.label

    @admin.display(description="steps")
    def steps_text(self, study: Study) -> str:
        said = StepsForm.initial_steps(study.steps, study.skips)
        steps = [name for name in ("consent", "instructions", "training", "comments") if said[f"step_{name}"]]
        if said["qualification_pass_mark"]:
            attempts = said["qualification_attempts"] or 1
            often = f", {attempts} attempts" if attempts > 1 else ""
            steps.append(f"qualification (pass mark {said['qualification_pass_mark']}{often})")
        if said["attention_checks"]:
            warned = ", with a warning" if said["attention_warn"] else ""
            steps.append(f"attention checks ({said['attention_checks']} each{warned})")
        return ", ".join(steps) or "items only"

    @admin.display(description="skipping")
    def skips_text(self, study: Study) -> str:
        after = study.skips.get("flag_after")
        flagged = f"; an item is flagged after {after}" if after else ""
        return f"{study.skips.get('per_participant', 0)} per participant{flagged}"

    @admin.display(description="completion codes")
    def codes_text(self, study: Study) -> str:
        return ", ".join(sorted(study.completion_codes)) or "none"

    # --- what is written --------------------------------------------------------------------------------------------
    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        if change:
            return super().save_form(request, form, change)
        data = form.cleaned_data
        study = create_study(
            slug=data["slug"], title=data["title"], protocol=data["protocol"], owner=request.user
        )
        add_arms(study, ARMS[data["arms"]][1])
        form.save_m2m = lambda: None  # which Django calls, and a study has none of
        return study

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save a draft's whole form, or what may change in a running study; never what a launch froze meanwhile."""
        if not change:
            return  # `save_form` made it
        if isinstance(form, StudyForm):
            self.lock_draft(obj)
        names = [name for name in form.cleaned_data if name in {field.name for field in Study._meta.fields}]
        extra = ["steps", "skips"] if isinstance(form, StudyForm) else []
        # Locked, because a panel that is being told the codes at this moment must not be told others.
        Study.objects.select_for_update(no_key=True).get(pk=obj.pk)
        codes = [] if codes_lock_reason(obj) else ["completion_codes"]
        obj.save(update_fields=sorted({*names, *extra, *codes}))

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
        return HttpResponseRedirect(reverse("admin:evaluation_study_change", args=[obj.pk]))

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        messages.success(request, "Saved.")
        return HttpResponseRedirect(reverse("admin:evaluation_study_change", args=[obj.pk]))

    # --- deleting a draft -------------------------------------------------------------------------------------------
    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Show counts instead of a line for every row."""
        study = next(iter(objs))
        counts = {
            "items": study.items.count(),
            "queries": study.queries.count(),
            "questions": study.questions.count(),
            "members": study.members.count(),
        }
        said = [f"{n:,} {what}" for what, n in counts.items()]
        perms = set() if self.has_delete_permission(request, study) else {"study"}
        return said, counts, perms, []

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        try:
            delete_draft(obj)
        except WrongState as frozen:
            raise PermissionDenied(str(frozen)) from None

    # --- further pages ----------------------------------------------------------------------------------------------
    def notice(self, request: HttpRequest, obj: Any, study: Study) -> str:
        if study.launching_since is not None:
            return "The study is being launched; nothing can be changed until that is done."
        if study.is_frozen:
            return "The study was launched: its questions, arms, items and most rules are frozen. Texts can be revised."
        return ""

    def action_links(self, request: HttpRequest, obj: Any, study: Study) -> list[tuple[str, str]]:
        return [("Workbench", workbench_url(study))]

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        return (
            ("from-file/", "from_file", files.study_from_file),
            ("<int:pk>/workbench/", "workbench", workbench.workbench),
            ("<int:pk>/upload/", "upload", files.upload),
            ("<int:pk>/scores/", "scores", files.scores),
            ("<int:pk>/launch/", "launch", launch.launch),
            ("<int:pk>/pause/", "pause", launch.pause),
            ("<int:pk>/resume/", "resume", launch.resume),
            ("<int:pk>/close/", "close", launch.close),
            ("<int:pk>/revise/", "revise", revision.revise),
            ("<int:pk>/resolve/", "resolve", resolver.resolve),
            ("<int:pk>/pair-references/", "pair_references", reference_pairs.pair_references),
            ("<int:pk>/members/", "members", members.members),
            ("<int:pk>/exports/", "exports", files.exports),
            *((f"<int:pk>/{route}", name, view) for pages in study_pages for route, name, view in pages()),
        )
