"""Products: what a run made, listed, edited, dropped, restored, and made into a study."""

from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField, NullableObjectField, time_text
from evaluation.api.paging import IdPagination
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import (
    MAX_ID,
    BodyIntegerField,
    BodyTextField,
    PageQuery,
    QueryTextField,
    StrictSerializer,
    read_body,
)
from evaluation.refusals import FieldsRefused
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE
from evaluation.storable import storable_json
from judging.api.generation.runs import PIPELINE_RUNS
from judging.models import Product, Run
from judging.services.generation.lost_calls import UNEVEN
from judging.services.generation.made_studies import left_out_of, make_study
from judging.services.generation.products import (
    DROPPED,
    EDITED,
    KEPT,
    drop_products,
    edit_product,
    find_products,
    products_of,
    restore_products,
)

MOST = 5_000
MAX_KEY = 120


class ProductSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    query = serializers.CharField(help_text="Key of the query.")
    step = serializers.CharField()
    unit = serializers.CharField(
        help_text="Which of the step's units for this query; empty where it has one."
    )
    number = serializers.IntegerField(help_text="Its place among the unit's products, from 1.")
    content = FreeObjectField(help_text="As it was made.")
    edited = NullableObjectField(help_text="As a researcher edited it; null: as it was made.")
    edited_at = serializers.DateTimeField(allow_null=True)
    dropped = serializers.BooleanField(help_text="Left out of all that is made of products.")
    about = FreeObjectField(help_text="What its unit was made from besides the query.")
    provenance = FreeObjectField(
        help_text="Call, model, endpoint and parameters that made it; empty where no model did."
    )
    made_at = serializers.DateTimeField()


class ProductListQuery(PageQuery):
    step = QueryTextField(required=False, max_length=60)
    query = QueryTextField(required=False, max_length=MAX_KEY, help_text="Key of a query.")
    which = serializers.ChoiceField(
        required=False, choices=[KEPT, DROPPED, EDITED], help_text="Otherwise all."
    )


class EditSerializer(StrictSerializer):
    """A product's content as a researcher wants it."""

    content = serializers.DictField(
        help_text="Of its step's form. The one that was made takes the edit back."
    )


class ChosenProductsSerializer(StrictSerializer):
    """Products of a run."""

    products = serializers.ListField(
        child=BodyIntegerField(min_value=1, max_value=MAX_ID), min_length=1, max_length=MOST,
        help_text="Ids of products of this run.",
    )  # fmt: skip


class ChangedProductsSerializer(serializers.Serializer[Any]):
    changed = serializers.IntegerField(help_text="Products that were not so before.")


class MakeStudySerializer(StrictSerializer):
    """The study that is to be made."""

    options = serializers.DictField(
        default=dict, help_text="By the names in the pipeline's `making`; the others have their defaults."
    )
    slug = BodyTextField(required=False, max_length=MAX_SLUG, help_text="Without it, one that is free.")
    title = BodyTextField(required=False, max_length=MAX_TITLE)
    uneven = serializers.ChoiceField(
        choices=list(UNEVEN), required=False,
        help_text="Of queries for which calls failed: left out, or kept with what they have. Without it such a run is "
        "refused, with its queries and what they lack.",
    )  # fmt: skip


class LeftOutProductsSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()
    n = serializers.IntegerField()


class MadeStudySerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(help_text="Of the draft.")
    title = serializers.CharField()
    protocol = serializers.CharField()
    items = serializers.IntegerField()
    left_out = LeftOutProductsSerializer(many=True, help_text="What could not be made into items.")


class ProductList(StudyView):
    query_class = ProductListQuery
    pagination_class = IdPagination

    @extend_schema(
        operation_id="list_products",
        summary="What a run made, dropped products too",
        tags=["generation"],
        responses=ProductSerializer(many=True),
    )
    def get(self, request: Request, slug: str, run: int) -> Response:
        wanted = {name: self.query[name] for name in ("step", "query", "which") if name in self.query}
        return self.paged(find_products(PIPELINE_RUNS.get(self.study, run), **wanted), _records)


class ProductDetail(StudyView):
    @extend_schema(
        operation_id="get_product",
        summary="One product: as it was made, its edit, and what made it",
        tags=["generation"],
        responses=ProductSerializer,
    )
    def get(self, request: Request, slug: str, run: int, product: int) -> Response:
        return Response(_record(product_of(PIPELINE_RUNS.get(self.study, run), product)))

    @extend_schema(
        operation_id="edit_product",
        summary="Put another content beside the one that was made",
        tags=["generation"],
        request=EditSerializer,
        responses={200: ProductSerializer, **CONFLICTS},
    )
    def put(self, request: Request, slug: str, run: int, product: int) -> Response:
        found = product_of(PIPELINE_RUNS.get(self.study, run), product)
        content = storable_json(read_body(EditSerializer, request)["content"])
        allowed(lambda: edit_product(found, content, by=request.user))
        return Response(_record(found))


class ProductsAction(StudyView):
    """Several products of a run dropped or restored, all of them or none."""

    def change(self, request: Request, run: int, act: Callable[..., int]) -> Response:
        found = PIPELINE_RUNS.get(self.study, run)
        chosen = set(read_body(ChosenProductsSerializer, request)["products"])
        unknown = sorted(chosen - set(products_of(found).filter(pk__in=chosen).values_list("pk", flat=True)))
        if unknown:
            names = ", ".join(map(str, unknown[:5]))
            raise ValidationError(
                {"products": [ErrorDetail(f"This run has no such products: {names}.", "unknown")]}
            )
        return Response({"changed": act(found, chosen, by=request.user)})


class ProductsDrop(ProductsAction):
    @extend_schema(
        operation_id="drop_products",
        summary="Leave products out of all that is made of them",
        tags=["generation"],
        request=ChosenProductsSerializer,
        responses={200: ChangedProductsSerializer},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.change(request, run, drop_products)


class ProductsRestore(ProductsAction):
    @extend_schema(
        operation_id="restore_products",
        summary="Take dropped products back in",
        tags=["generation"],
        request=ChosenProductsSerializer,
        responses={200: ChangedProductsSerializer},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.change(request, run, restore_products)


class ProductStudies(StudyView):
    @extend_schema(
        operation_id="make_study",
        summary="Make a draft of your own with the items that a complete run's products make",
        description="All or nothing. The draft tells what it was made from.",
        tags=["generation"],
        request=MakeStudySerializer,
        responses={201: MadeStudySerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        found = PIPELINE_RUNS.get(self.study, run)
        wanted = read_body(MakeStudySerializer, request)
        options = storable_json(wanted.pop("options"))

        def make() -> Any:
            try:
                return make_study(found, options, by=request.user, **wanted)
            except FieldsRefused as refused:
                by_field = {f"options.{key}" if key else "": each for key, each in refused.by_field.items()}
                raise FieldsRefused(by_field) from None

        made = allowed(make)
        record = {
            "slug": made.slug,
            "title": made.title,
            "protocol": made.protocol,
            "items": made.items.count(),
            "left_out": [{"reason": reason, "n": n} for reason, n in left_out_of(made).items()],
        }
        return Response(record, status=201)


def product_of(run: Run, pk: int) -> Product:
    products = products_of(run).select_related("unit__query", "unit__run__generating")
    product = products.filter(pk=pk).first()
    if product is None:
        raise Http404
    return product


def _records(products: Sequence[Product]) -> list[dict[str, Any]]:
    return [_record(each) for each in products]


def _record(product: Product) -> dict[str, Any]:
    unit = product.unit
    return {
        "id": product.pk,
        "query": unit.query.key,
        "step": unit.step,
        "unit": unit.key,
        "number": product.number,
        "content": product.content,
        "edited": product.edited,
        "edited_at": time_text(product.edited_at),
        "dropped": product.dropped_at is not None,
        "about": unit.about,
        "provenance": product.provenance,
        "made_at": time_text(product.made_at),
    }
