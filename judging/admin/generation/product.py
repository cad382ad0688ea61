"""One product: what was made, by which model and how, and an edit beside it."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study
from evaluation.refusals import FieldsRefused
from judging.admin.generation.content_form import ContentForm
from judging.generation.pipeline import PipelineStep, readable
from judging.generation.pipelines import PIPELINES
from judging.models import Product
from judging.services.generation.products import edit_product


@study_page("write", methods=FORM)
def edit(request: HttpRequest, study: Study, product_id: int) -> HttpResponse:
    """The form of an edit; one button saves it, one brings more blank rows, one takes the original back."""
    product = (
        Product.objects.filter(pk=product_id, unit__run__study=study)
        .select_related("unit__query", "unit__run__generating", "edited_by")
        .first()
    )
    if product is None or product.unit.run.generating.pipeline not in PIPELINES:
        raise Http404
    step: PipelineStep = PIPELINES[product.unit.run.generating.pipeline].step(product.unit.step)
    if "original" in request.POST:
        return _done(request, study, product, edit_product(product, product.content, by=request.user))
    content = product.content if product.edited is None else product.edited
    more = "more" in request.POST
    form = ContentForm(content, step.shapes, request.POST or None, more=more)
    if request.method == "POST" and not more and form.is_valid():
        try:
            said = edit_product(product, form.cleaned_data["content"], by=request.user)
        except FieldsRefused as refused:
            form.show(refused.by_field)
        else:
            return _done(request, study, product, said)
    context = {
        "title": f"Edit a product of “{step.label.lower()}”",
        "form": form,
        "kept": [(name, readable(value)) for name, value in form.kept()],
        "product": product,
        "unit": product.unit,
        "made": step.shown(product.content),
        "facts": _facts(product),
        "back": _back(study, product),
    }
    status = 422 if form.errors else 200
    return page(
        request,
        "admin/judging/generation/product.html",
        context,
        study=study,
        tab="generation",
        status=status,
    )


def _back(study: Study, product: Product) -> str:
    run = reverse("admin:evaluation_study_generation_run", args=[study.slug, product.unit.run_id])
    return f"{run}?step={product.unit.step}"


def _done(request: HttpRequest, study: Study, product: Product, said: str) -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(_back(study, product))


def _facts(product: Product) -> list[tuple[str, Any]]:
    """Of what it was made, and how."""
    about = {name: value for name, value in product.unit.about.items() if name not in product.content}
    return [
        *((name, value) for name, value in sorted(about.items()) if isinstance(value, str | int | float)),
        *((name, readable(value)) for name, value in product.provenance.items()),
    ]
