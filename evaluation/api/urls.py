"""The core's addresses in the API."""

from django.urls import path

from evaluation.api.design import StudyDesignView
from evaluation.api.exclusions import ExclusionList, ExclusionUndo, ItemWithdrawals, ItemWithdrawalsUndo
from evaluation.api.exports import StudyExports
from evaluation.api.flags import FlagList, FlagResolution
from evaluation.api.items import ItemDetail, ItemList
from evaluation.api.jobs import JobConfirmation, JobDetail, JobFile, JobLeftOut, JobRestart, StudyJobs
from evaluation.api.judgments import JudgmentList
from evaluation.api.lifecycle import MOVES, StudyCheck, StudyDeletion, StudyLaunch, move_view
from evaluation.api.making.additions import StudyAdditions
from evaluation.api.making.derivations import StudyDerivations
from evaluation.api.making.duplicates import StudyDuplicates
from evaluation.api.making.file_additions import StudyFileAdditions
from evaluation.api.making.imports import ImportItems, ImportStudies
from evaluation.api.making.library import LibraryList
from evaluation.api.making.queries import StudyQueries
from evaluation.api.making.table_maps import TableMapDetail, TableMapList
from evaluation.api.making.uploads import UploadDetail, UploadList
from evaluation.api.notes import NoteDetail, NoteList
from evaluation.api.progress import StudyProgress
from evaluation.api.raters import RaterList
from evaluation.api.revisions import StudyRevisions
from evaluation.api.scores import ScoreFileList, ScoreList
from evaluation.api.settled import SettledList, SettledTakeBack
from evaluation.api.studies import StudyDetail, StudyList

urlpatterns = [
    path("studies/", StudyList.as_view(), name="study-list"),
    path("studies/<slug:slug>/", StudyDetail.as_view(), name="study-detail"),
    path("library/", LibraryList.as_view(), name="library"),
    path("imports/", ImportStudies.as_view(), name="study-import"),
    path("table-maps/", TableMapList.as_view(), name="table-map-list"),
    path("table-maps/<int:table_map>/", TableMapDetail.as_view(), name="table-map-detail"),
    path("uploads/", UploadList.as_view(), name="upload-list"),
    path("uploads/<int:upload>/", UploadDetail.as_view(), name="upload-detail"),
    path("jobs/<int:job>/", JobDetail.as_view(), name="job-detail"),
    path("jobs/<int:job>/file/", JobFile.as_view(), name="job-file"),
    path("jobs/<int:job>/left-out/", JobLeftOut.as_view(), name="job-left-out"),
    path("jobs/<int:job>/restart/", JobRestart.as_view(), name="job-restart"),
    path("jobs/<int:job>/confirm/", JobConfirmation.as_view(), name="job-confirm"),
    path("studies/<slug:slug>/imports/", ImportItems.as_view(), name="study-items-import"),
    path("studies/<slug:slug>/design/", StudyDesignView.as_view(), name="study-design"),
    path("studies/<slug:slug>/revisions/", StudyRevisions.as_view(), name="study-revisions"),
    path("studies/<slug:slug>/check/", StudyCheck.as_view(), name="study-check"),
    path("studies/<slug:slug>/launch/", StudyLaunch.as_view(), name="study-launch"),
    path("studies/<slug:slug>/deletion/", StudyDeletion.as_view(), name="study-deletion"),
    *(
        path(f"studies/<slug:slug>/{name}/", move_view(name).as_view(), name=f"study-{name}")
        for name in MOVES
    ),
    path("studies/<slug:slug>/jobs/", StudyJobs.as_view(), name="study-jobs"),
    path("studies/<slug:slug>/exports/", StudyExports.as_view(), name="study-exports"),
    path("studies/<slug:slug>/derivations/", StudyDerivations.as_view(), name="study-derivations"),
    path("studies/<slug:slug>/duplicates/", StudyDuplicates.as_view(), name="study-duplicates"),
    path("studies/<slug:slug>/additions/", StudyAdditions.as_view(), name="study-additions"),
    path("studies/<slug:slug>/additions/file/", StudyFileAdditions.as_view(), name="study-file-additions"),
    path("studies/<slug:slug>/queries/", StudyQueries.as_view(), name="study-queries"),
    path("studies/<slug:slug>/items/", ItemList.as_view(), name="item-list"),
    # A key is whatever the researcher's file said, slashes included.
    path("studies/<slug:slug>/items/<path:key>/", ItemDetail.as_view(), name="item-detail"),
    path("studies/<slug:slug>/withdrawals/", ItemWithdrawals.as_view(), name="item-withdrawals"),
    path(
        "studies/<slug:slug>/withdrawals/undo/", ItemWithdrawalsUndo.as_view(), name="item-withdrawals-undo"
    ),
    path("studies/<slug:slug>/exclusions/", ExclusionList.as_view(), name="exclusion-list"),
    path(
        "studies/<slug:slug>/exclusions/<int:exclusion>/undo/", ExclusionUndo.as_view(), name="exclusion-undo"
    ),
    path("studies/<slug:slug>/settled/", SettledList.as_view(), name="settled-list"),
    path(
        "studies/<slug:slug>/settled/<int:judgment>/take-back/",
        SettledTakeBack.as_view(),
        name="settled-take-back",
    ),
    path("studies/<slug:slug>/flags/", FlagList.as_view(), name="flag-list"),
    path("studies/<slug:slug>/flags/<int:flag>/resolve/", FlagResolution.as_view(), name="flag-resolve"),
    path("studies/<slug:slug>/notes/", NoteList.as_view(), name="note-list"),
    path("studies/<slug:slug>/notes/<int:note>/", NoteDetail.as_view(), name="note-detail"),
    path("studies/<slug:slug>/progress/", StudyProgress.as_view(), name="study-progress"),
    path("studies/<slug:slug>/raters/", RaterList.as_view(), name="rater-list"),
    path("studies/<slug:slug>/scores/", ScoreList.as_view(), name="score-list"),
    path("studies/<slug:slug>/scores/file/", ScoreFileList.as_view(), name="score-file-list"),
    path("studies/<slug:slug>/judgments/", JudgmentList.as_view(), name="judgment-list"),
]
