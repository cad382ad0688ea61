"""The core's addresses in the API."""

from django.urls import path

from evaluation.api.items import ItemDetail, ItemList
from evaluation.api.judgments import JudgmentList
from evaluation.api.making.additions import StudyAdditions
from evaluation.api.making.derivations import StudyDerivations
from evaluation.api.making.duplicates import StudyDuplicates
from evaluation.api.making.queries import StudyQueries
from evaluation.api.raters import RaterList
from evaluation.api.scores import ScoreList
from evaluation.api.studies import StudyDetail, StudyList

urlpatterns = [
    path("studies/", StudyList.as_view(), name="study-list"),
    path("studies/<slug:slug>/", StudyDetail.as_view(), name="study-detail"),
    path("studies/<slug:slug>/derivations/", StudyDerivations.as_view(), name="study-derivations"),
    path("studies/<slug:slug>/duplicates/", StudyDuplicates.as_view(), name="study-duplicates"),
    path("studies/<slug:slug>/additions/", StudyAdditions.as_view(), name="study-additions"),
    path("studies/<slug:slug>/queries/", StudyQueries.as_view(), name="study-queries"),
    path("studies/<slug:slug>/items/", ItemList.as_view(), name="item-list"),
    # A key is whatever the researcher's file said, slashes included.
    path("studies/<slug:slug>/items/<path:key>/", ItemDetail.as_view(), name="item-detail"),
    path("studies/<slug:slug>/raters/", RaterList.as_view(), name="rater-list"),
    path("studies/<slug:slug>/scores/", ScoreList.as_view(), name="score-list"),
    path("studies/<slug:slug>/judgments/", JudgmentList.as_view(), name="judgment-list"),
]
