"""Generate products for a study's queries, here and now; Ctrl-C pauses, and the same command goes on where it stood.

generate S                                          the pipelines, with their options, roles and steps
generate S --pipeline NAME --endpoint E --model M   a run; --estimate: what it may cost at most
generate S --run N --make [--slug NEW]              a draft study of what run N made
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.counting import counted
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import file_facts, study_facts
from evaluation.management.progress import add_progress_argument
from evaluation.management.studies import study_named
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from judging.acts import act_on, begin_later_steps, begin_pipeline
from judging.backends.options import JudgeOption
from judging.generation.pipeline import PlacedModel
from judging.generation.pipelines import PIPELINES
from judging.generation.pipelines.contexts import PIPELINE as CONTEXTS
from judging.management.retrieval import add_grid_arguments, grid_lines
from judging.management.studies import amount, run_facts
from judging.management.working import work_to_the_end
from judging.models import ACTIVE, Run, RunState
from judging.services.generation.code_shares import share_lines
from judging.services.generation.documents import write_documents
from judging.services.generation.lost_calls import UNEVEN
from judging.services.generation.made_studies import UnevenRefused, made_of_products, make_study
from judging.services.generation.pipeline_runs import (
    PipelineSettings,
    estimate_pipeline,
    pipeline_settings,
)
from judging.services.generation.product_files import import_products, product_lines
from judging.services.generation.products import (
    drop_products,
    edit_product,
    made_counts,
    product_record,
    products_of,
    restore_products,
)
from judging.services.generation.query_facts import query_facts
from judging.services.groups.run_groups import UNFINISHED
from judging.services.runs.progress import run_progress
from judging.tasks import enqueue_run


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--pipeline", metavar="NAME")
        parser.add_argument("--endpoint", default="", help="where models are asked that name no endpoint")
        parser.add_argument(
            "--model", action="append", default=[], metavar="MODEL[@ENDPOINT]",
            help="several times: for roles that take several",
        )  # fmt: skip
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE",
            help="an option of the pipeline; ROLE=MODEL[,MODEL], ROLE.temperature=X, ROLE.top_p=X, "
            "ROLE.max_tokens=N; endpoint=E",
        )  # fmt: skip
        parser.add_argument(
            "--from", action="append", default=[], type=int, dest="sources", metavar="RUN",
            help="take up this run's products; otherwise those of the latest complete one",
        )  # fmt: skip
        parser.add_argument("--seed", type=int, metavar="N", help="otherwise the study's")
        parser.add_argument("--queries", type=int, metavar="N", help="at most so many, drawn by the seed")
        parser.add_argument("--budget", metavar="X", help="stop before more than this is spent")
        parser.add_argument("--in-flight", type=int, metavar="K", help="calls at once")
        parser.add_argument(
            "--batch",
            action="store_true",
            help="through the endpoint's Batch API: for runs that can wait a day",
        )
        parser.add_argument("--estimate", action="store_true", help="only print the estimate")
        parser.add_argument("--background", action="store_true", help="leave the work to the workers")
        parser.add_argument("--new", action="store_true", help="a new run, though one is unfinished")
        parser.add_argument("--run", type=int, metavar="N", help="a run that is there")
        parser.add_argument("--retry-failed", action="store_true", help="retry what could not be made")
        parser.add_argument(
            "--pass-over", action="store_true", help="have queries go on without what could not be made"
        )
        parser.add_argument(
            "--show", nargs="?", const="", metavar="STEP", help="list products, of one step or all"
        )
        parser.add_argument(
            "--shares",
            default="",
            metavar="STEP",
            help="shares of the codes that a step gave, by system; `need` of contexts: those of the queries",
        )
        parser.add_argument("--drop", nargs="+", type=int, default=[], metavar="N", help="leave products out")
        parser.add_argument(
            "--restore", nargs="+", type=int, default=[], metavar="N", help="take them back in"
        )
        parser.add_argument(
            "--edit", nargs=2, metavar=("N", "JSON"), help="put another content beside a product"
        )
        parser.add_argument(
            "--after", metavar="STEP",
            help="with --run: a new run that makes what comes after this step again, of its products as they are now",
        )  # fmt: skip
        parser.add_argument(
            "--export", type=Path, metavar="FILE", help="write the run's products, a line of JSON each"
        )
        parser.add_argument(
            "--import", type=Path, dest="products", metavar="FILE", help="a run of products from such a file"
        )
        parser.add_argument(
            "--documents",
            action="store_true",
            help="write retrieved fragments as documents of the draft's queries",
        )
        parser.add_argument("--make", action="store_true", help="make a draft study of the run's products")
        parser.add_argument(
            "--uneven", choices=[each.replace("_", "-") for each in UNEVEN], default="",
            help="with --make: of queries for which calls failed",
        )  # fmt: skip
        parser.add_argument("--slug", default="", dest="new_slug", help="of the study that is made")
        parser.add_argument("--title", default="", help="of the study that is made")
        add_grid_arguments(parser)
        add_progress_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        try:
            if options["products"] is not None:
                return run_facts(self._import(study, options["products"]))
            if options["qrels"]:
                self._tell(grid_lines(study, options))
                return {"study": study.slug}
            if options["run"] is None and not options["pipeline"]:
                self._tell(_described())
                return {"pipelines": sorted(PIPELINES)}
            if options["run"] is not None and options["set"] and not options["make"]:
                raise Refused(
                    "--set: a run keeps the settings it began with; only --make takes options of one that is there."
                )
            settings = None if options["run"] is not None else self._settings(study, options)
            if options["estimate"] and settings is not None:
                self._tell(estimate_pipeline(study, settings, by_batch=options["batch"]).sentences())
                return {"study": study.slug, "pipeline": options["pipeline"]}
            run = self._run(study, settings, options)
            if run.state in ACTIVE:
                self._work(run, options)
            self._change(run, options)
            facts = run_facts(run)
            if options["show"] is not None:
                shown = list(_listed(run, options["show"]))
                facts["products"] = shown
                if not options["json"]:
                    self._tell(json.dumps(each, ensure_ascii=False) for each in shown)
            if options["shares"]:
                self._tell(_shares(run, options["shares"]))
            if options["export"] is not None:
                self._export(run, options["export"])
                facts["file"] = file_facts(options["export"])
            if options["documents"]:
                self.stdout.write(f"Queries with fragments as their documents: {write_documents(run):,}.")
            if options["make"]:
                facts["made"] = study_facts(self._make(run, options))
        except Refused as refused:
            raise CommandError("\n".join(refused.problems)) from None
        return facts

    def _settings(self, study: Study, options: dict[str, Any]) -> PipelineSettings:
        name = options["pipeline"]
        if name not in PIPELINES:
            raise Refused(f"There is no pipeline {name!r}; there are: {', '.join(sorted(PIPELINES))}.")
        given, casts, endpoint = _split(name, options)
        return pipeline_settings(
            study,
            name,
            models=[_model(each) for each in options["model"]],
            endpoint=endpoint,
            casts=casts,
            options=given,
            sources=options["sources"],
            seed=options["seed"],
            max_queries=options["queries"],
        )

    def _run(self, study: Study, settings: PipelineSettings | None, options: dict[str, Any]) -> Run:
        """The run to work on: the one that is named, an unfinished one of this pipeline, otherwise a new one."""
        runs = Run.objects.filter(study=study, generating__isnull=False).select_related("generating")
        budget = None if options["budget"] is None else amount(options["budget"])
        if settings is None:
            run = runs.filter(pk=options["run"]).first()
            if run is None:
                raise CommandError(f"{study.title} has no pipeline's run {options['run']}.")
            if options["after"]:
                run = begin_later_steps(run, options["after"], by=None, queue=False)
                self.stdout.write(f"Run {run.pk} goes on from run {options['run']}.")
        else:
            unfinished = runs.filter(generating__pipeline=settings.pipeline.key, state__in=UNFINISHED)
            run = None if options["new"] else unfinished.order_by("-pk").first()
            if run is None:
                limits = {"in_flight": options["in_flight"], "by_batch": options["batch"]}
                return begin_pipeline(study, settings, by=None, queue=False, budget=budget, **limits)
            self.stdout.write(
                f"Run {run.pk} of {run.generating} is resumed, with the settings it began with."
            )
        if options["retry_failed"]:
            self.stdout.write(act_on(run, "retry", by=None, queue=False))
        if options["pass_over"]:
            self.stdout.write(act_on(run, "pass-over", by=None, queue=False))
        if run.state in (RunState.PAUSED, RunState.STOPPED):
            changes = {"budget": budget, "in_flight": options["in_flight"]}
            changes = {name: value for name, value in changes.items() if value is not None}
            act_on(run, "resume", by=None, queue=False, **changes)
        run.refresh_from_db()
        return run

    def _work(self, run: Run, options: dict[str, Any]) -> None:
        if options["background"]:
            enqueue_run(run)
            self.stdout.write(f"Run {run.pk} is left to the workers.")
            return
        shown = options["progress"] or sys.stderr.isatty()
        if not work_to_the_end(run, str(run.generating), shown=shown) and run.state in ACTIVE:
            act_on(run, "pause", by=None)
            self.stdout.write(f"Paused; the same command resumes run {run.pk}.")
        self._tell(_summary(run))
        if run.reason_text:
            raise CommandError(run.reason_text)

    def _change(self, run: Run, options: dict[str, Any]) -> None:
        if options["drop"]:
            self.stdout.write(f"Dropped: {drop_products(run, options['drop'], by=server_account()):,}.")
        if options["restore"]:
            self.stdout.write(
                f"Restored: {restore_products(run, options['restore'], by=server_account()):,}."
            )
        if options["edit"]:
            number, content = options["edit"]
            product = products_of(run).filter(pk=number if number.isdigit() else 0).first()
            if product is None:
                raise CommandError(f"Run {run.pk} has no product {number}.")
            try:
                edit_product(product, json.loads(content), by=server_account())
            except ValueError as wrong:
                raise CommandError(f"--edit: this is no JSON: {wrong}") from None
            self.stdout.write(f"Edited: {product.pk}; what was made is kept beside it.")

    def _import(self, study: Study, path: Path) -> Run:
        try:
            with path.open("rb") as file:
                run = import_products(study, file, file_name=path.name)
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error}") from None
        self.stdout.write(
            f"Run {run.pk} of {run.generating}: {counted(products_of(run).count(), 'product')}."
        )
        return run

    def _export(self, run: Run, path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            for line in product_lines(run):
                file.write(line + "\n")
        self.stdout.write(f"{path}: {counted(products_of(run).count(), 'product')} of run {run.pk}.")

    def _make(self, run: Run, options: dict[str, Any]) -> Study:
        making = PIPELINES[run.generating.pipeline].making
        # Those of a run that was just worked on were seen when it began.
        given = options["set"] if options["pipeline"] is None else _among(making, options["set"])
        uneven = options["uneven"].replace("-", "_")
        names = {"slug": options["new_slug"], "title": options["title"]}
        try:
            made = make_study(run, _options_of(making, given), uneven=uneven, **names)
        except UnevenRefused as refused:
            ways = f"--run {run.pk} --make: with --retry-failed, --uneven leave-out, or --uneven keep."
            raise Refused(*refused.problems, ways) from None
        self.stdout.write(f"{made_of_products(made)} Its slug is {made.slug}.")
        return made

    def _tell(self, lines: Any) -> None:
        for line in lines:
            self.stdout.write(line)


def _described() -> Iterator[str]:
    for pipeline in PIPELINES.values():
        yield f"{pipeline.key}: {pipeline.about}"
        yield f"  steps: {', '.join(step.key for step in pipeline.steps)}"
        for role in pipeline.roles:
            most = "any number" if role.most is None else f"{role.least} to {role.most}"
            models = f"{role.least}" if role.most == role.least else most
            yield f"  {role.key}=MODEL: {role.label} ({models})"
        for option in (*pipeline.options, *pipeline.making):
            choices = f" ({', '.join(option.choices)})" if option.choices else ""
            yield f"  {option.key}: {option.label}{choices}; otherwise {option.default!r}"


def _listed(run: Run, step: str) -> Iterator[dict[str, Any]]:
    """Products as they are exported, too."""
    for product in products_of(run).iterator(chunk_size=500):
        if step in ("", product.unit.step):
            yield product_record(product)


def _shares(run: Run, step: str) -> Iterator[str]:
    """Of contexts the queries that need one and the questions that were kept, of other steps the codes they gave."""
    if run.generating.pipeline != CONTEXTS.key or step != "need":
        yield from share_lines(run, step)
        return
    found = query_facts(run)
    if not found:
        raise Refused(f"Run {run.pk} has no products of {step} yet.")
    yield from (f"{each.name}: {each.value} ({each.detail})" for each in found)


def _summary(run: Run) -> Iterator[str]:
    at = run_progress(run)
    outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in at.outcomes.items()) or "none"
    yield f"Run {run.pk} of {run.generating}: {run.state_text}. Calls: {outcomes}; {at.total - at.final:,} left."
    yield f"{at.tokens:,} tokens, cost {at.spent:.4f}, {at.cached:,} calls from the cache."
    for step, counts in made_counts(run).items():
        said = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in counts.items() if n)
        yield f"  {step}: {said}"


def _model(text: str) -> PlacedModel:
    """MODEL or MODEL@ENDPOINT; a model's own name may have an @ in it, an endpoint's none."""
    model, at, place = text.strip().rpartition("@")
    return PlacedModel(model.strip(), place.strip()) if at else PlacedModel(text.strip())


def _split(name: str, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]], str]:
    """The pipeline's options, its casts and the endpoint in `--set NAME=VALUE`."""
    pipeline = PIPELINES[name]
    roles = {role.key for role in pipeline.roles}
    casts: dict[str, dict[str, Any]] = {}
    others, endpoint = [], options["endpoint"]
    making = _among(pipeline.making, options["set"]) if options["make"] else []
    for each in options["set"]:
        key, value = _pair(each)
        role, _, setting = key.partition(".")
        if key == "endpoint":
            endpoint = value
        elif role in roles and not setting:
            casts.setdefault(role, {})["models"] = [_model(model) for model in value.split(",")]
        elif role in roles:
            casts.setdefault(role, {})[setting] = _number(each, value)
        elif each not in making:
            others.append(each)
    return _options_of(pipeline.options, others, besides=("endpoint", *sorted(roles))), casts, endpoint


def _number(given: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise CommandError(f"{given}: {value!r} is no number.") from None


def _pair(given: str) -> tuple[str, str]:
    key, equals, value = given.partition("=")
    if not equals:
        raise CommandError(f"--set {given}: NAME=VALUE is needed.")
    return key, value


def _among(known: Iterable[JudgeOption], given: Iterable[str]) -> list[str]:
    """Those of NAME=VALUE that name one of these options."""
    keys = {option.key for option in known}
    return [each for each in given if each.partition("=")[0] in keys]


def _options_of(
    known: Iterable[JudgeOption], given: Iterable[str], besides: Sequence[str] = ()
) -> dict[str, Any]:
    """Values of options: JSON where it is some, otherwise the text; `besides` can be set here, too."""
    options = {option.key: option for option in known}
    found: dict[str, Any] = {}
    for each in given:
        key, value = _pair(each)
        if key not in options:
            there_are = ", ".join([*besides, *options]) or "none"
            raise CommandError(f"--set: there is no option {key!r}; there are: {there_are}.")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
        if options[key].input in ("text", "choice") and not isinstance(found[key], str):
            found[key] = value
    return found
