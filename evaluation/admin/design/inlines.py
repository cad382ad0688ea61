"""The rows of a draft on its design page: questions, attributes, texts and arms."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.options import InlineModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from evaluation.admin.design.sections import is_plain
from evaluation.admin.rights import has_right
from evaluation.admin.rows import LimitedRows
from evaluation.admin.study.forms import AttributeForm, PlainQuestionForm, QuestionForm, TextForm
from evaluation.models import Arm, Attribute, Question, Text
from evaluation.protocols import Shown


class DraftInline(InlineModelAdmin):
    """Rows of a draft, which its writers edit; everybody else reads the design in words."""

    formset = LimitedRows
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


class OrderedInline(DraftInline, admin.StackedInline):
    """Rows in an order that their position gives: put in order by dragging, by keys, or by numbers."""

    template = "admin/evaluation/design/_ordered_rows.html"
    # Name of the address's parameter that asks for an empty row, where no script adds one.
    wanted = "another"

    def get_extra(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> int:
        return int(request.GET.get(self.wanted) == self.model._meta.model_name)


class ArmInline(OrderedInline):
    model = Arm
    max_num = 20
    fields = (("key", "label"), ("context_at_generation", "context_at_judging"), "position")
    verbose_name_plural = "Arms"


class QuestionRows(LimitedRows):
    """The questions of a draft; of one without contexts those that are asked."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if is_plain(kwargs["instance"]):
            kwargs["queryset"] = kwargs["queryset"].exclude(shown=Shown.WITH_CONTEXT)
        super().__init__(*args, **kwargs)


class QuestionInline(OrderedInline):
    model = Question
    formset = QuestionRows
    max_num = 100
    form = QuestionForm
    fields = ("prompt", "help", ("kind", "shown", "required"), "options", ("key", "position"))
    plain_fields = ("prompt", "help", ("kind", "required"), "options", ("key", "position"))
    verbose_name_plural = "Questions"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.plain_fields if obj is not None and is_plain(obj) else self.fields

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = PlainQuestionForm if obj is not None and is_plain(obj) else QuestionForm
        return super().get_formset(request, obj, **{"form": form, **kwargs})


class AttributeInline(OrderedInline):
    model = Attribute
    max_num = 100
    form = AttributeForm
    fields = ("question", "values", ("key", "position"))
    verbose_name_plural = "Attributes"


class TextInline(DraftInline, admin.StackedInline):
    model = Text
    form = TextForm
    fields = ("body",)
    can_add = False
    verbose_name_plural = "Texts"
    template = "admin/evaluation/study/texts_inline.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).order_by("pk")
