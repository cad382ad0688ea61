"""A study's spending and budget, on the page of its judges; prices of models, on the page of their endpoint."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evaluation.admin.pages import page, tabs
from evaluation.admin.rights import FORM, study_page
from evaluation.admin.rows import LimitedRows
from evaluation.models import Study
from judging.models import ModelPrice
from judging.services.calls.budget import set_study_budget, study_budget
from judging.services.calls.costs import ZERO
from judging.services.calls.ledger import spending_of


class BudgetForm(forms.Form):
    """The most that all of a study's calls may cost together."""

    amount = forms.DecimalField(
        label="Budget for models",
        required=False,
        max_digits=12,
        decimal_places=4,
        help_text="Of models alone, in the currency of their prices: all runs and revisions of the study stop "
        "before more is spent. People's pay is not counted. Leave empty for no limit.",
    )

    def clean_amount(self) -> Any:
        amount = self.cleaned_data["amount"]
        if amount is not None and amount <= 0:
            raise forms.ValidationError("A budget must be more than zero.")
        return amount


@study_page("write", methods=FORM)
def set_budget(request: HttpRequest, study: Study) -> HttpResponse:
    form = BudgetForm(request.POST or None, initial={"amount": study_budget(study)})
    back = tabs["judges"].url(study)
    if request.method == "POST" and form.is_valid():
        amount = form.cleaned_data["amount"]
        messages.success(request, set_study_budget(study, amount, by=request.user))
        return HttpResponseRedirect(back)
    context = {"title": "Budget for models", "form": form, "cancel": back}
    status = 422 if form.is_bound else 200
    return page(request, "admin/judging/form_page.html", context, study=study, tab="judges", status=status)


def spending_context(study: Study) -> dict[str, Any]:
    rows = spending_of(study)
    return {"spending": rows, "spent": sum((row.cost for row in rows), ZERO), "budget": study_budget(study)}


class ModelPriceInline(admin.StackedInline):
    """Prices per million tokens, for judges that have none of their own."""

    model = ModelPrice
    formset = LimitedRows
    extra = 1
    max_num = 100
    verbose_name_plural = "prices of models, per million tokens"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    # The endpoint's own page decides who comes here.
    has_change_permission = has_delete_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request, obj)
