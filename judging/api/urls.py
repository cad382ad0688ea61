"""The judges' addresses in the API."""

from django.urls import path

from judging.api.anchors import JudgeAnchors
from judging.api.endpoints import EndpointDetail, EndpointKey, EndpointList, EndpointTest
from judging.api.generation.files import ProductFile, ProductFileImport
from judging.api.generation.pipelines import PipelineEstimateView, PipelineList
from judging.api.generation.products import (
    ProductDetail,
    ProductList,
    ProductsDrop,
    ProductsRestore,
    ProductStudies,
)
from judging.api.generation.runs import PIPELINE_RUNS, PipelineRunLaterSteps, PipelineRunList
from judging.api.judge_runs import JUDGE_RUNS, JudgeRunList
from judging.api.judges import JudgeDetail, JudgeEstimate, JudgeList
from judging.api.made_judges import CompositeList, JudgeConditions, JudgeMap
from judging.api.prices import PriceList
from judging.api.run_groups import RunGroupDetail, RunGroupEstimate, RunGroupList
from judging.api.spending import StudySpending

STUDY = "studies/<slug:slug>"
GENERATION = f"{STUDY}/generation"
PIPELINE_RUN = f"{GENERATION}/runs/<int:run>"
urlpatterns = [
    path("endpoints/<slug:name>/prices/", PriceList.as_view(), name="endpoint-prices"),
    path("endpoints/<slug:name>/key/", EndpointKey.as_view(), name="endpoint-key"),
    path("endpoints/<slug:name>/test/", EndpointTest.as_view(), name="endpoint-test"),
    path("endpoints/<slug:name>/", EndpointDetail.as_view(), name="endpoint-detail"),
    path("endpoints/", EndpointList.as_view(), name="endpoint-list"),
    path(f"{STUDY}/judges/", JudgeList.as_view(), name="judge-list"),
    path(f"{STUDY}/judges/<int:judge>/", JudgeDetail.as_view(), name="judge-detail"),
    path(f"{STUDY}/judges/<int:judge>/estimate/", JudgeEstimate.as_view(), name="judge-estimate"),
    path(f"{STUDY}/judges/composites/", CompositeList.as_view(), name="composite-list"),
    path(f"{STUDY}/judges/<int:judge>/map/", JudgeMap.as_view(), name="judge-map"),
    path(f"{STUDY}/judges/<int:judge>/conditions/", JudgeConditions.as_view(), name="judge-conditions"),
    path(f"{STUDY}/judges/<int:judge>/anchors/", JudgeAnchors.as_view(), name="judge-anchors"),
    path(f"{STUDY}/spending/", StudySpending.as_view(), name="study-spending"),
    path(f"{STUDY}/run-groups/", RunGroupList.as_view(), name="run-group-list"),
    path(f"{STUDY}/run-groups/estimate/", RunGroupEstimate.as_view(), name="run-group-estimate"),
    path(f"{STUDY}/run-groups/<int:group>/", RunGroupDetail.as_view(), name="run-group-detail"),
    *JUDGE_RUNS.urls(JudgeRunList),
    path(f"{GENERATION}/pipelines/", PipelineList.as_view(), name="pipeline-list"),
    path(f"{GENERATION}/estimate/", PipelineEstimateView.as_view(), name="pipeline-estimate"),
    path(f"{GENERATION}/import/", ProductFileImport.as_view(), name="product-import"),
    *PIPELINE_RUNS.urls(PipelineRunList),
    path(f"{PIPELINE_RUN}/later-steps/", PipelineRunLaterSteps.as_view(), name="pipeline-run-later-steps"),
    path(f"{PIPELINE_RUN}/export/", ProductFile.as_view(), name="product-export"),
    path(f"{PIPELINE_RUN}/studies/", ProductStudies.as_view(), name="product-studies"),
    path(f"{PIPELINE_RUN}/products/", ProductList.as_view(), name="product-list"),
    path(f"{PIPELINE_RUN}/products/drop/", ProductsDrop.as_view(), name="products-drop"),
    path(f"{PIPELINE_RUN}/products/restore/", ProductsRestore.as_view(), name="products-restore"),
    path(f"{PIPELINE_RUN}/products/<int:product>/", ProductDetail.as_view(), name="product-detail"),
]
