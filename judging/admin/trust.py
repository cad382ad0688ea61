"""Trust a judge: from people's part of the queries to a judge that was chosen, tested once, and judges the rest."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django_htmx.http import HttpResponseClientRefresh

from analytics.display.numbers import decimal, percent
from analytics.display.tables import DASH, Builder, Column, Table, columns, count, head, words
from analytics.display.verdicts import IN_CATEGORIES, verdict_sentences, verdict_title
from analytics.reports.judge_test import BIAS_TITLES, testable_questions
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.reading import read
from analytics.statistics.replacement.prediction_powered import Spread, labels_needed
from analytics.statistics.replacement.verdict import LEAST_QUERIES
from evaluation import tasks
from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, has_right, study_page
from evaluation.models import Job, Status, Study
from evaluation.refusals import Refused
from evaluation.services.jobs import job_at
from judging import validation_acts as acts
from judging.job_kinds import VALIDATION
from judging.models import ACTIVE, Half, Judge, JudgeRun, JudgeValidation, Run, RunState
from judging.services.calls.costs import format_amount
from judging.services.estimates.run_estimate import estimate
from judging.services.validation import (
    labelled_queries,
    latest_by_variant,
    tuning_fingerprint,
    tuning_runs,
    validation_of,
    variants_to_try,
)

# A win rate of one half, where one query's preference varies most.
MOST_SPREAD = 0.25
TOO_FEW = f"Of fewer than {LEAST_QUERIES} queries nothing is said."
CORRELATIONS = (0.5, 0.7, 0.9)
WIDTH = 5.0


class WidthForm(forms.Form):
    """The half width that people's part is to reach."""

    width = forms.FloatField(
        label="Wanted half width, in percentage points",
        min_value=0.5,
        max_value=50,
        initial=WIDTH,
        required=False,
    )


class PartForm(forms.Form):
    """The number of queries that people judge."""

    queries = forms.IntegerField(
        label="Queries that people judge",
        required=False,
        min_value=1,
        help_text="A random part, drawn by the study's seed at launch. Leave empty for all.",
    )


class RunBudgetForm(forms.Form):
    """The limit of a run's costs."""

    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text="The run stops when this is spent, and can be resumed with more. Leave empty for no limit.",
    )


class OneJudgeForm(forms.Form):
    """One of some judges."""

    judge = forms.ModelChoiceField(Judge.objects.none(), empty_label=None)

    def __init__(self, *args: Any, among: list[Judge], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["judge"]
        field.queryset = Judge.objects.filter(pk__in=[each.pk for each in among]).order_by("name", "-version")


class VariantForm(RunBudgetForm, OneJudgeForm):
    """A variant to try, and the limit of its costs."""

    field_order = ("judge", "budget")


class TestedQuestionForm(forms.Form):
    """The question by which the judge is held against people."""

    question = forms.ChoiceField()

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asked = testable_questions(study)
        field: Any = self.fields["question"]
        field.choices = [(each.key, each.prompt or "Preference") for each in asked]


@dataclass(frozen=True)
class PartRow:
    """The queries that people must judge for the wanted width; None where all are too few."""

    correlation: float | None
    queries: int | None


def _set_part(request: HttpRequest, study: Study, data: Mapping[str, Any]) -> str:
    return acts.set_people_part(study, data["queries"], by=request.user)


def _begin(request: HttpRequest, study: Study, data: Mapping[str, Any]) -> str:
    return acts.begin_validation(study, data["question"], by=request.user)


def _try(request: HttpRequest, study: Study, data: Mapping[str, Any]) -> str:
    run = acts.try_variant(study, data["judge"], by=request.user, budget=data["budget"])
    return f"Started {run}."


def _choose(request: HttpRequest, study: Study, data: Mapping[str, Any]) -> str:
    return acts.choose_variant(study, data["judge"], by=request.user)


def _test(request: HttpRequest, study: Study, data: Mapping[str, Any]) -> str:
    return f"Started {acts.begin_test(study, by=request.user, budget=data['budget'])}."


def _open(request: HttpRequest, study: Study, data: Mapping[str, Any]) -> str:
    job = tasks.wait_for_job(acts.open_test(study, by=request.user))
    return job.message if job.state == Job.State.DONE else "The test half is being opened."


def _judge_all(request: HttpRequest, study: Study, data: Mapping[str, Any]) -> str:
    return f"Started {acts.judge_all(study, by=request.user, budget=data['budget'])}."


ACTS: dict[str, Callable[[HttpRequest, Study, Mapping[str, Any]], str]] = {
    "part": _set_part,
    "begin": _begin,
    "try": _try,
    "choose": _choose,
    "test": _test,
    "open": _open,
    "judge-all": _judge_all,
}


@study_page(methods=FORM)
def trust(request: HttpRequest, study: Study) -> HttpResponse:
    validation = validation_of(study)
    if request.headers.get("HX-Request"):
        # What somebody fills in meanwhile stays until there is something new to see.
        return HttpResponse(status=204) if _is_watched(study, validation) else HttpResponseClientRefresh()
    given = request.POST.get("act", "") if request.method == "POST" else ""
    forms_ = _forms(request, study, validation, given)
    # The form of an act that can't be done now is not on the page.
    refused: list[str] = []
    if given in ACTS and has_right(request, "write", study.pk):
        form = forms_[given]
        if not form.is_valid():
            refused = [str(each) for errors in form.errors.values() for each in errors]
        else:
            try:
                said = ACTS[given](request, study, form.cleaned_data)
            except Refused as refusal:
                refused = refusal.problems
            else:
                messages.success(request, said)
                return HttpResponseRedirect(f"{_address(study)}#{STEP_OF[given]}")
    elif request.method == "POST":
        return HttpResponse("Viewers of this study can't do this.", status=403)
    context = _context(request, study, validation, forms_) | {"refused": refused}
    status = 422 if refused or (given and forms_[given].errors) else 200
    response = page(request, "admin/judging/trust.html", context, study=study, tab="trust", status=status)
    add_never_cache_headers(response)
    return response


STEPS = ("label", "tune", "test", "judge-all", "publish")
# The step on whose form an act is.
STEP_OF = {
    "part": "label",
    "begin": "tune",
    "try": "tune",
    "choose": "tune",
    "test": "test",
    "open": "test",
    "judge-all": "judge-all",
}


def _address(study: Study) -> str:
    return reverse("admin:evaluation_study_trust", args=[study.slug])


def _forms(
    request: HttpRequest, study: Study, validation: JudgeValidation | None, given: str
) -> dict[str, forms.Form]:
    def data(act: str) -> Any:
        return request.POST if given == act else None

    complete = [
        each.judge for each in latest_by_variant(tuning_runs(study)) if each.run.state == RunState.COMPLETE
    ]
    return {
        "part": PartForm(data("part"), initial={"queries": study.human_sample}),
        "begin": TestedQuestionForm(data("begin"), study=study),
        "try": VariantForm(data("try"), among=variants_to_try(study)),
        "choose": OneJudgeForm(data("choose"), among=complete),
        "test": RunBudgetForm(data("test")),
        "open": forms.Form(data("open")),
        "judge-all": RunBudgetForm(data("judge-all")),
    }


def _context(
    request: HttpRequest, study: Study, validation: JudgeValidation | None, forms_: Mapping[str, forms.Form]
) -> dict[str, Any]:
    runs = latest_by_variant(tuning_runs(study)) if validation else []
    test_run = validation.test_run if validation else None
    tuned, comparing, failed = _tuned(request, study, validation, runs)
    opening = job_at(VALIDATION.key, study.slug, Half.TEST)
    main = _main_run(study, validation)
    now = _now(study, validation, main)
    return {
        "title": "Trust a judge",
        "address": _address(study),
        "validation": validation,
        "forms": {name.replace("-", "_"): form for name, form in forms_.items()},
        "least": LEAST_QUERIES,
        "now": now,
        "later": STEPS[STEPS.index(now) + 1 :],
        "label": _label(request, study),
        "runs": [(each, each.run, format_amount(each.run.spent)) for each in runs],
        "has_variants": bool(variants_to_try(study)),
        "may_choose": any(each.run.state == RunState.COMPLETE for each in runs),
        "tuned": tuned,
        "comparing": comparing,
        "compare_failed": failed,
        "test_run": test_run,
        "test_complete": test_run is not None and test_run.state == RunState.COMPLETE,
        "test_cost": _estimated(study, validation, Half.TEST) if now == "test" and not test_run else "",
        "opening": opening,
        "is_opening": _is_under_way(opening),
        "result": _result(validation),
        "main": main,
        "main_cost": _estimated(study, validation, "") if now == "judge-all" and not main else "",
        "watching": _is_watched(study, validation),
        "may_act": has_right(request, "write", study.pk),
    }


def _is_under_way(job: Job | None) -> bool:
    return job is not None and job.is_active and not job.is_lost


def _is_watched(study: Study, validation: JudgeValidation | None) -> bool:
    """True while a run or a comparison is under way."""
    runs = [each.run for each in latest_by_variant(tuning_runs(study))]
    others = (validation.test_run if validation else None, _main_run(study, validation))
    jobs = (job_at(VALIDATION.key, study.slug, half) for half in Half.values)
    return any(run.state in ACTIVE for run in (*runs, *filter(None, others))) or any(map(_is_under_way, jobs))


def _now(study: Study, validation: JudgeValidation | None, main: Run | None) -> str:
    """The step at which the study is."""
    if study.status == Status.DRAFT:
        return "label"
    if validation is None or validation.chosen_at is None:
        return "tune"
    if validation.opened_at is None:
        return "test"
    return "judge-all" if main is None or main.state != RunState.COMPLETE else "publish"


# --- the steps -------------------------------------------------------------------------------------------------------


def _label(request: HttpRequest, study: Study) -> dict[str, Any]:
    form = WidthForm(request.GET if "width" in request.GET else None)
    width = (form.cleaned_data["width"] or WIDTH) if form.is_bound and form.is_valid() else WIDTH
    queries = study.queries.count()
    labelled = 0 if study.status == Status.DRAFT else len(labelled_queries(study))
    return {
        "form": form,
        "width": width,
        "queries": queries,
        "labelled": labelled,
        "queries_told": f"{queries:,}",
        "sample_told": f"{study.human_sample or 0:,}",
        "labelled_told": f"{labelled:,}",
        "sample": study.human_sample,
        "is_draft": study.status == Status.DRAFT,
        "rows": list(_part_rows(width / 100, queries)) if study.status == Status.DRAFT else [],
        "plan": reverse("admin:evaluation_study_plan", args=[study.slug]),
    }


def _part_rows(half_width: float, queries: int) -> Iterator[PartRow]:
    alone = labels_needed(Spread(MOST_SPREAD, 0.0, 0.0), half_width, queries=None)
    yield PartRow(None, alone if alone is not None and alone <= queries else None)
    for correlation in CORRELATIONS:
        spread = Spread(MOST_SPREAD, MOST_SPREAD, correlation * MOST_SPREAD)
        yield PartRow(correlation, labels_needed(spread, half_width, queries=queries))


def _tuned(
    request: HttpRequest, study: Study, validation: JudgeValidation | None, runs: list[JudgeRun]
) -> tuple[Table | None, bool, str]:
    """The table of the variants, whether it is being computed, and why it could not be."""
    complete = [each for each in runs if each.run.state == RunState.COMPLETE]
    if validation is None or not complete:
        return None, False, ""
    comparing, failed = False, ""
    # Once the judge is chosen, what it was chosen by stays.
    if validation.chosen_at is None and validation.tuned.get("state") != (state := tuning_fingerprint(study)):
        job = tasks.ask_for_job(
            VALIDATION,
            study,
            subject=Half.TUNING,
            fingerprint=state,
            by=request.user,
            parameters={},
            wait=True,
        )
        validation.refresh_from_db(fields=["tuned"])
        comparing, failed = job.is_active, job.message if job.state == Job.State.FAILED else ""
    records = validation.tuned.get("records", {})
    if not records:
        return None, comparing, failed
    build = Builder(
        "Variants on the tuning half: how well the judge and a person fit the other people, in percent; the "
        "difference, in points; and the judge's correlation with people's means.",
        [
            *columns(["Judge", "Judge fits", "A person fits", "Difference", "Correlation", "n"]),
            Column("Biases", numeric=False),
            Column("Cost"),
        ],
        foot="Intervals are not corrected for the number of variants: the best of several looks better than it is, "
        "which is why it is tested on the other half.",
    )
    for each in complete:
        record = records.get(each.rater.pseudonym)
        if record is None:
            build.add(
                head(str(each.judge)),
                *([words(DASH)] * 5),
                words("no answer in common with people"),
                words(""),
            )
            continue
        whole = record["parts"][0]
        build.add(
            head(str(each.judge)),
            build.share(read(Estimate, whole["judge"])),
            build.share(read(Estimate, whole["person"])),
            build.share(read(Estimate, whole["difference"])),
            build.number(record["correlation"], decimal),
            build.n(read(Estimate, whole["difference"])),
            words(_found(record)),
            words(format_amount(each.run.spent)),
        )
    return build.build(), comparing, failed


def _found(record: Mapping[str, Any]) -> str:
    return ", ".join(each["kind"] for each in record["biases"] if each["counts"]) or "none found"


def _result(validation: JudgeValidation | None) -> dict[str, Any] | None:
    if validation is None or not validation.result:
        return None
    record, judge = validation.result, str(validation.judge)
    return {
        "title": verdict_title(record),
        "claim": record["claim"] or "none",
        "sentences": list(verdict_sentences(record, judge)),
        "tables": [_parts(record), *_biases(record)],
        "record": record,
        "worth": None if record["worth"] is None else round(record["worth"]),
        "judgments_told": f"{_saved(record) * validation.study.redundancy:,}",
    }


def _saved(record: Mapping[str, Any]) -> int:
    """The queries that people need not judge beside the judge."""
    return 0 if record["worth"] is None else max(0, round(record["worth"]) - int(record["labelled"]))


def _parts(record: Mapping[str, Any]) -> Table:
    whole, *categories = record["parts"]
    told = [each for each in categories if each["claim"] is not None]
    few = len(categories) - len(told)
    build = Builder(
        "On the test half: how well the judge and a person fit the other people, in percent, and the difference, in "
        "points. Both p are one-sided and corrected for the number of parts: that the judge's answers go with "
        f"people's, and that it fits them less than {record['epsilon']:g} worse than a person does.",
        [
            *columns(
                ["Queries", "n", "Judge fits", "A person fits", "Difference", "p (helps)", "p (replaces)"]
            ),
            Column("Verdict", numeric=False),
        ],
        foot=f"{few:,} {'category has' if few == 1 else 'categories have'} fewer than {LEAST_QUERIES} queries in this "
        "half, of which nothing is said."
        if few
        else "",
    )
    for part in (whole, *told):
        build.add(
            head(part["part"] or "All"),
            count(part["queries"]),
            build.share(read(Estimate, part["judge"])),
            build.share(read(Estimate, part["person"])),
            build.share(read(Estimate, part["difference"])),
            build.p(part["p_helps"], TOO_FEW),
            build.p(part["p_replaces"], TOO_FEW),
            words(IN_CATEGORIES[part["claim"]]),
        )
    return build.build()


def _biases(record: Mapping[str, Any]) -> Iterator[Table]:
    if not record["biases"]:
        return
    points = "points of the scale" if record["numbers"] else "percentage points"
    build = Builder(
        f"Biases of the judge, in {points}, by sign-flip tests over queries, corrected for their number (Holm). One "
        f"counts against the judge if it is supported and larger than {record['epsilon']:g} of the range.",
        [*columns(["Bias", "Points", "Corrected p", "n"]), Column("Counts", numeric=False)],
    )
    for each in record["biases"]:
        bias = read(Estimate, each["bias"])
        build.add(
            head(BIAS_TITLES[each["kind"]]),
            build.figure(bias, decimal if record["numbers"] else percent),
            build.p(each["p_corrected"]),
            build.n(bias),
            words("yes" if each["counts"] else "no"),
        )
    yield build.build()


def _estimated(study: Study, validation: JudgeValidation | None, half: str) -> str:
    """The cost of the chosen judge's run, before anything is spent; empty where it can't be told."""
    if validation is None or validation.judge is None:
        return ""
    try:
        found = estimate(study, validation.judge, half=half)
    except Refused:
        return ""
    calls = f"{found.calls:,} {'call' if found.calls == 1 else 'calls'}"
    return f"{calls}, about {format_amount(found.cost)}" if validation.judge.asks_model else calls


def _main_run(study: Study, validation: JudgeValidation | None) -> Run | None:
    if validation is None or validation.judge is None:
        return None
    runs = Run.objects.filter(study=study, judging__judge=validation.judge, judging__purpose="main")
    return runs.order_by("-pk").first()
