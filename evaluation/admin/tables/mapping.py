"""The page of an uploaded table's map: what each column is, what is wrong, and the first items as they will be seen."""

import json
from dataclasses import replace
from typing import Any, cast

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt

from evaluation.acts import slug_problem
from evaluation.admin.pages import page
from evaluation.admin.rights import FORM
from evaluation.admin.tables.map_file import MapFileForm
from evaluation.admin.tables.map_form import MapForm, NewStudyMapForm
from evaluation.admin.tables.saved_maps import saved_choices, saved_map
from evaluation.admin.tables.staging import mappable_job
from evaluation.admin.unsaved_item import unsaved_item_page
from evaluation.dumps.problems import place_and_fault
from evaluation.dumps.tables.row_notes import row_notes
from evaluation.dumps.tables.sample import ROWS, MapSample, first_items
from evaluation.dumps.tables.source import title_of
from evaluation.dumps.tables.staged_table import StagedTable
from evaluation.dumps.tables.table_map import TableMap, map_of_json, read_map
from evaluation.dumps.tables.unused import unused_texts
from evaluation.models import Job
from evaluation.refusals import FieldsRefused, Refused
from evaluation.rendering.mathematics import SPELLINGS
from evaluation.services.history import log_action
from evaluation.services.jobs import discard_staged
from evaluation.services.studies.duplication import slug_of_file
from evaluation.services.table_maps import change_map, confirm_map, save_table_map, show_formulas
from evaluation.tasks import enqueue_job


def staged_table(job: Job) -> StagedTable:
    """The job's table with its map as it is corrected so far."""
    return StagedTable(
        job.path,
        name=job.file_name,
        study=job.study,
        kept=map_of_json(job.parameters.get("map")),
        protocol=job.parameters.get("protocol", ""),
    )


def _form(job: Job, staged: StagedTable, data: Any = None) -> MapForm:
    given: dict[str, Any] = {"sheet": staged.sheet, "table_map": staged.map, "tool": staged.tool}
    if staged.study is not None:
        return MapForm(data, study=staged.study, **given)
    names = {
        "title": job.parameters.get("title") or title_of(job.file_name),
        "slug": job.parameters.get("slug") or slug_of_file(job.file_name),
    }
    return NewStudyMapForm(data, names=names, **given)


@csp_replace({"frame-src": [SELF]})  # type: ignore[arg-type]  # it knows views without arguments alone
def map_table(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the map with its first items; a POST corrects, confirms or discards it."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    job = mappable_job(request, pk)
    if request.method == "POST" and "discard" in request.POST:
        discard_staged(job)
        messages.success(request, f"{job.file_name} was discarded.")
        return HttpResponseRedirect(_back(job))
    try:
        staged = staged_table(job)
    except Refused as refused:
        messages.error(request, str(refused))
        return HttpResponseRedirect(_back(job))
    if "download" in request.GET:
        return _as_file(staged.map)
    if {"use_saved", "delete_saved"} & request.POST.keys():
        return _of_saved(request, job, staged)
    if "use_map" in request.POST:
        return _replaced(request, job, staged)
    if request.method == "POST":
        return _corrected(request, job, staged)
    return _page(request, job, staged, _form(job, staged), staged.sample())


def _corrected(request: HttpRequest, job: Job, staged: StagedTable) -> HttpResponse:
    form = _form(job, staged, request.POST)
    if not form.is_valid():
        return _page(request, job, staged, form, staged.sample(), status=422)
    table_map = form.as_map()
    here = HttpResponseRedirect(reverse("admin:evaluation_job_map", args=[job.pk]))
    data = form.cleaned_data
    names: dict[str, Any] = {name: data[name] for name in ("title", "slug", "protocol") if name in data}
    try:
        for key in SPELLINGS.keys() & request.POST.keys():
            spelling, shown = SPELLINGS[key], request.POST[key] == "1"
            if staged.study is not None:
                show_formulas(staged.study, spelling, shown=shown, by=request.user)
            else:
                table_map = replace(table_map, **cast(Any, {spelling.rule: shown is spelling.shows}))
        before = (staged.sheet.sheet, staged.map.header, staged.map.read_as)
        if (table_map.sheet, table_map.header, table_map.read_as) != before:
            table_map = staged.reread(table_map)
            change_map(job, {**job.parameters, **names, "map": table_map.as_json()})
            if "save" in request.POST:
                messages.warning(request, "The table was read anew. Look at its columns, then save the map.")
            return here
        staged.map = table_map
        skips = {"skip_bad_rows": "skip" in request.POST}
        # A file of an import before this one is none of its rows.
        kept = {name: value for name, value in job.parameters.items() if name != "left_out"}
        parameters = {**kept, **names, **skips, "map": table_map.as_json()}
        change_map(job, parameters)
        if "save" in request.POST:
            saved, is_new = save_table_map(request.user, name=data["save_as"], table_map=table_map.as_json())
            how = "saved" if is_new else "saved in place of the one before"
            messages.success(request, f"The map “{saved}” was {how}.")
            return here
        if "import" not in request.POST and "skip" not in request.POST:
            return here
        found = staged.sample()
        if found.problems and not ("skip" in request.POST and found.bad_rows):
            form.add_error(None, "Nothing was imported. The errors are listed below.")
        elif staged.study is None and (taken := slug_problem(names["slug"])):
            form.add_error("slug", taken)
        else:
            return _begin(request, job, staged.study.slug if staged.study else names["slug"], parameters)
    except FieldsRefused as refused:  # what is wrong with the name to save the map under
        form.add_error("save_as", refused.problems)
        found = staged.sample()
    except Refused as refused:
        form.add_error(None, str(refused))
        found = MapSample()
    return _page(request, job, staged, form, found, status=422)


def _of_saved(request: HttpRequest, job: Job, staged: StagedTable) -> HttpResponse:
    """Use a map that the user saved in place of the one that the page shows, or delete it."""
    if "delete_saved" in request.POST:
        saved = saved_map(request.user, request.POST["delete_saved"])
        saved.delete()
        messages.success(request, f"The saved map “{saved}” was deleted.")
    else:
        saved = saved_map(request.user, request.POST["use_saved"])
        try:
            table_map = staged.given(read_map(saved.map))
            change_map(job, {**job.parameters, "map": table_map.as_json()})
            messages.success(request, f"The table is read by the map “{saved}”.")
        except Refused as refused:
            messages.error(request, str(refused))
    return HttpResponseRedirect(reverse("admin:evaluation_job_map", args=[job.pk]))


def _replaced(request: HttpRequest, job: Job, staged: StagedTable) -> HttpResponse:
    """Take the map of a file in place of the one that the page shows."""
    form = MapFileForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            table_map = staged.given(form.cleaned_data["map"])
        except Refused as refused:
            form.add_error("map", str(refused))
        else:
            try:
                change_map(job, {**job.parameters, "map": table_map.as_json()})
            except Refused as refused:
                form.add_error(None, str(refused))
            else:
                return HttpResponseRedirect(reverse("admin:evaluation_job_map", args=[job.pk]))
    return _page(request, job, staged, _form(job, staged), staged.sample(), status=422, map_form=form)


def _begin(request: HttpRequest, job: Job, slug: str, parameters: dict[str, Any]) -> HttpResponse:
    confirm_map(job, slug=slug, parameters=parameters)
    if job.study is not None:
        log_action(study=job.study, by=request.user, message=f"Started an import: {job.file_name}.")
    enqueue_job(job)
    return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))


def _page(
    request: HttpRequest,
    job: Job,
    staged: StagedTable,
    form: MapForm,
    found: MapSample,
    *,
    status: int = 200,
    map_form: MapFileForm | None = None,
) -> HttpResponse:
    saved = saved_choices(request.user, staged)
    context = {
        "title": gettext("Columns of %(file)s") % {"file": job.file_name},
        "job": job,
        "form": form,
        "map_form": map_form or MapFileForm(),
        "columns": list(form.rows()),
        "others": form.settings_fields(),
        "saved": saved,
        "fitting": [each for each in saved if not each.misfit] if staged.is_guess else [],
        "notices": [*staged.sheet.notices, *found.judgments],
        "unused": unused_texts(staged.sheet, staged.map, guessed=staged.is_guess),
        "notes": row_notes(staged.source()),
        "formulas": staged.formulas(),
        "place": staged.sheet.place,
        "unit": staged.sheet.unit,
        "problems": [place_and_fault(each) for each in found.problems],
        "more_problems": found.total - len(found.problems),
        "items": [
            (each, reverse("admin:evaluation_job_mapped_item", args=[job.pk, at]))
            for at, each in enumerate(found.items)
        ],
        "bad_rows": found.bad_rows,
        "may_skip": found.bad_rows
        or (not found.problems and job.state == Job.State.FAILED and job.n_problems),
        "replaces": staged.study.items.count() if staged.study else 0,
        "sampled": staged.sheet.is_cut,
        "rows": ROWS,
        "back": _back(job),
    }
    response = page(
        request, "admin/evaluation/job/map.html", context, study=staged.study, tab="overview", status=status
    )
    add_never_cache_headers(response)
    return response


def _as_file(table_map: TableMap) -> HttpResponse:
    body = json.dumps(table_map.as_json(), ensure_ascii=False, indent=1)
    response = HttpResponse(body + "\n", content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="map.json"'
    return response


def _back(job: Job) -> str:
    if job.study is None:
        return reverse("admin:evaluation_study_from_file")
    return reverse("admin:evaluation_study_upload", args=[job.study.slug])


@csrf_exempt  # the participant's own form carries no token, and nothing is stored
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[arg-type]
def mapped_item(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """One of the first items as participants will see it; what is filled in goes nowhere."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    job = mappable_job(request, pk)
    try:
        staged = staged_table(job)
        found = first_items(staged.source(), staged.study)
    except Refused:
        raise Http404 from None
    if number >= len(found.items) or found.spec is None:
        raise Http404
    return unsaved_item_page(request, found.spec, found.items[number].stimulus, slug=job.slug or "new")
