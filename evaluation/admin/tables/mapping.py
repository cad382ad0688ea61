"""The page of an uploaded table's map: what each column is, what is wrong, and the first items as they will be seen."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.text import slugify
from django.utils.translation import gettext
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt

from evaluation.admin.pages import page
from evaluation.admin.rights import FORM
from evaluation.admin.tables.map_file import MapFileForm
from evaluation.admin.tables.map_form import MapForm, NewStudyMapForm, slug_problem
from evaluation.admin.tables.staging import mappable_job
from evaluation.admin.unsaved_item import unsaved_item_page
from evaluation.dumps.problems import place_and_fault
from evaluation.dumps.tables.formulas import FormulaNote, formula_notes
from evaluation.dumps.tables.reading import read_table
from evaluation.dumps.tables.row_notes import row_notes
from evaluation.dumps.tables.sample import ROWS, MapSample, first_items, sample
from evaluation.dumps.tables.sheet import Sheet
from evaluation.dumps.tables.source import TableSource, arms_of, title_of
from evaluation.dumps.tables.study_design import design_of, take_design
from evaluation.dumps.tables.table_map import TableMap, absent_columns, complete_map, map_of_json
from evaluation.dumps.tables.tool import Tool
from evaluation.dumps.tables.tools import fits, guess_reading, read_by, tool_of
from evaluation.dumps.tables.unused import unused_texts
from evaluation.models import Job, RenderAs
from evaluation.protocols import PROTOCOLS, Protocol
from evaluation.refusals import Refused
from evaluation.rendering.mathematics import SPELLINGS
from evaluation.services.history import log_action
from evaluation.services.jobs import discard_staged
from evaluation.services.table_maps import change_map, confirm_map, show_formulas
from evaluation.tasks import enqueue_job


class StagedTable:
    """An uploaded table with its map as it is corrected so far, and the study that it is for."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.study = job.study
        kept = map_of_json(job.parameters.get("map"))
        before = kept or map_of_json(self.study.table_map if self.study else None)
        header = kept.header if kept else None
        self.file = self._read(kept.sheet if kept else "", header)
        self.is_guess = kept is None
        if before and fits(before, self.file):
            self.sheet = read_by(self.file, before)
            self.map = complete_map(before, self.sheet.columns)
        else:
            self.sheet, guessed = guess_reading(self.file, self.protocol)
            self.map = take_design(guessed, self.sheet, design_of(self.study))

    @property
    def protocol(self) -> Protocol | None:
        """The study's, or what was said for a new one; None where it is to be guessed."""
        key = self.study.protocol if self.study else self.job.parameters.get("protocol", "")
        return PROTOCOLS.get(key)

    def _read(self, sheet: str, header: bool | None) -> Sheet:
        return read_table(self.job.path, name=self.job.file_name, sheet=sheet, header=header, limit=ROWS)

    def reread(self, table_map: TableMap) -> TableMap:
        """The map for another sheet, with the first row read otherwise, or as another tool's file: its columns are
        others."""
        self.file = self._read(table_map.sheet, table_map.header)
        is_told = self.tool is not None and self.tool.key == table_map.read_as
        self.sheet, guessed = guess_reading(
            self.file,
            PROTOCOLS[table_map.protocol] if table_map.protocol else self.protocol,
            table_map.read_as if is_told else "",
        )
        guessed = take_design(guessed, self.sheet, design_of(self.study))
        shown = {each.rule: getattr(table_map, each.rule) for each in SPELLINGS.values()}
        return replace(guessed, header=table_map.header, **shown)

    @property
    def tool(self) -> Tool | None:
        """The tool whose file it is, whichever way it is read."""
        return tool_of(self.file)

    def formulas(self) -> list[FormulaNote]:
        """Sentences on mathematics, by the study's rules or those of the one that the table makes."""
        is_markdown = self.study is None or self.study.render_as == RenderAs.MARKDOWN
        of = self.map if self.study is None else self.study
        rules = {each.rule: getattr(of, each.rule) for each in SPELLINGS.values()}
        return [*formula_notes(self.sheet, self.map, rules, is_markdown=is_markdown)]

    def source(self) -> TableSource:
        protocol = PROTOCOLS[self.study.protocol if self.study else self.map.protocol]
        source = TableSource(self.sheet, self.map, protocol, arms=arms_of(self.study))
        source.design = design_of(self.study)
        return source

    def sample(self) -> MapSample:
        return sample(self.source(), self.study)

    def form(self, data: Any = None) -> MapForm:
        if self.study is not None:
            return MapForm(data, sheet=self.sheet, table_map=self.map, tool=self.tool, study=self.study)
        names = {
            "title": self.job.parameters.get("title") or title_of(self.job.file_name),
            "slug": self.job.parameters.get("slug") or slugify(Path(self.job.file_name).stem)[:80] or "study",
        }
        return NewStudyMapForm(data, sheet=self.sheet, table_map=self.map, tool=self.tool, names=names)


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
        staged = StagedTable(job)
    except Refused as refused:
        messages.error(request, str(refused))
        return HttpResponseRedirect(_back(job))
    if "download" in request.GET:
        return _as_file(staged.map)
    if "use_map" in request.POST:
        return _replaced(request, staged)
    if request.method == "POST":
        return _corrected(request, staged)
    return _page(request, staged, staged.form(), staged.sample())


def _corrected(request: HttpRequest, staged: StagedTable) -> HttpResponse:
    job, form = staged.job, staged.form(request.POST)
    if not form.is_valid():
        return _page(request, staged, form, staged.sample(), status=422)
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
            return here
        staged.map = table_map
        skips = {"skip_bad_rows": "skip" in request.POST}
        # A file of an import before this one is none of its rows.
        kept = {name: value for name, value in job.parameters.items() if name != "left_out"}
        parameters = {**kept, **names, **skips, "map": table_map.as_json()}
        change_map(job, parameters)
        if "import" not in request.POST and "skip" not in request.POST:
            return here
        found = staged.sample()
        if found.problems and not ("skip" in request.POST and found.bad_rows):
            form.add_error(None, "Nothing was imported. The errors are listed below.")
        elif staged.study is None and (taken := slug_problem(names["slug"])):
            form.add_error("slug", taken)
        else:
            return _begin(request, job, staged.study.slug if staged.study else names["slug"], parameters)
    except Refused as refused:
        form.add_error(None, str(refused))
        found = MapSample()
    return _page(request, staged, form, found, status=422)


def _replaced(request: HttpRequest, staged: StagedTable) -> HttpResponse:
    """Take the map of a file in place of the one that the page shows."""
    job, sheet, form = staged.job, staged.sheet, MapFileForm(request.POST, request.FILES)
    if form.is_valid():
        given: TableMap = form.cleaned_data["map"]
        if absent := _absent(given, staged.file):
            form.add_error("map", absent)
        else:
            table_map = replace(
                given,
                sheet=given.sheet if given.sheet in sheet.sheets else sheet.sheet,
                protocol=given.protocol or staged.map.protocol,
            )
            try:
                change_map(job, {**job.parameters, "map": table_map.as_json()})
            except Refused as refused:
                form.add_error(None, str(refused))
            else:
                return HttpResponseRedirect(reverse("admin:evaluation_job_map", args=[job.pk]))
    return _page(request, staged, staged.form(), staged.sample(), status=422, map_form=form)


def _absent(table_map: TableMap, file: Sheet) -> str:
    """Why the map is none of the file, as a sentence; empty if it is one."""
    try:
        absent = absent_columns(table_map, read_by(file, table_map))
    except Refused as refused:
        return str(refused)
    return f"The table has no column {absent}, which this map names." if absent else ""


def _begin(request: HttpRequest, job: Job, slug: str, parameters: dict[str, Any]) -> HttpResponse:
    confirm_map(job, slug=slug, parameters=parameters)
    if job.study is not None:
        log_action(study=job.study, by=request.user, message=f"Started an import: {job.file_name}.")
    enqueue_job(job)
    return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))


def _page(
    request: HttpRequest,
    staged: StagedTable,
    form: MapForm,
    found: MapSample,
    *,
    status: int = 200,
    map_form: MapFileForm | None = None,
) -> HttpResponse:
    job = staged.job
    context = {
        "title": gettext("Columns of %(file)s") % {"file": job.file_name},
        "job": job,
        "form": form,
        "map_form": map_form or MapFileForm(),
        "columns": list(form.rows()),
        "others": form.settings_fields(),
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
        staged = StagedTable(job)
        found = first_items(staged.source(), staged.study)
    except Refused:
        raise Http404 from None
    if number >= len(found.items) or found.spec is None:
        raise Http404
    return unsaved_item_page(request, found.spec, found.items[number].stimulus, slug=job.slug or "new")
