"""AGENT-CQ from end to end on five topics of ClariQ: questions written and filtered, put in order, and rated by a jury.

Five systems write or wrote questions: two models by facet, one by temperature, the baseline, and people. Prints what
each step asked and made, the systems' average scores, which system stands first in how many of the 15 tasks of a
ranking, and the jury's calls and ratings. The models are those of the tests' endpoint, which writes words at random:
the numbers show that every part is at its place, and nothing of any model. The database is made for it, and deleted.

Usage: ASSAY_PUBLISHED_DATA=... python -m benchmarks.agentcq_whole
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.database import made_for_it, published

SLUG = "bench-agentcq"
TOPICS, PEOPLE = 5, 3
WRITERS, JUROR = ("aspen", "birch"), "coin"
ABLE = {"json_schema": True, "seed": True, "token_limit": "max_tokens"}


def main() -> None:
    path = published("clariq/dev.tsv")
    with made_for_it():
        from tests.judging import endpoint

        with endpoint.serve() as served:
            show(path.parent, served.url)


def show(path: Path, url: str) -> None:
    run = write_questions(import_topics(path), make_endpoint(url))
    print("| step | calls | products |\n| --- | ---: | ---: |")
    calls = Counter(run.calls.values_list("unit__step", flat=True))
    for step, products in products_by_step(run).items():
        print(f"| {step} | {calls[step]:,} | {products:,} |")
    ranking = make_ranking(run)
    print("\n| system | first in tasks |\n| --- | ---: |")
    for system, tasks in sorted(first_places(ranking).items()):
        print(f"| {system} | {tasks} |")
    rated = rate_questions(run)
    print("\n| juror | calls | average overall |\n| --- | ---: | ---: |")
    for each in rated:
        answers = each.judging.rater.judgments.filter(answers__question="overall")
        overall = list(answers.values_list("answers__number", flat=True))
        print(f"| {each.judging.judge.name} | {each.calls.count()} | {sum(overall) / len(overall):.2f} |")


def import_topics(path: Path) -> Any:
    from django.core.management import call_command

    from evaluation.models import Study

    call_command("import_published", "clariq", str(path), slug=SLUG, verbosity=0, stdout=sys.stderr)
    return Study.objects.get(slug=SLUG)


def make_endpoint(url: str) -> Any:
    from judging.services.endpoints.access import create_endpoint

    made = create_endpoint(user=None, name=SLUG, base_url=url, max_in_flight=16, open_to_all=True)
    made.capabilities = {model: dict(ABLE) for model in (*WRITERS, JUROR)}
    made.save()
    return made


def write_questions(study: Any, endpoint: Any, **options: Any) -> Any:
    """A run of the pipeline on five topics, worked on to its end."""
    from judging.generation.pipeline import PlacedModel
    from judging.services.generation.pipeline_runs import pipeline_settings, start_pipeline
    from judging.services.runs.work import work_on

    models = [PlacedModel(model, endpoint.name) for model in WRITERS]
    settings = pipeline_settings(
        study,
        "clarifying_questions",
        models=models[:1],
        casts={"facet_writers": {"models": models}},
        options=options,
        max_queries=TOPICS,
    )
    run = start_pipeline(study, settings)
    work_on(run.pk)
    run.refresh_from_db()
    return run


def products_by_step(run: Any) -> dict[str, int]:
    from judging.services.generation.products import made_counts

    return {step: counts["products"] for step, counts in made_counts(run).items()}


def make_ranking(run: Any) -> Any:
    """A live study of rankings, each by three people."""
    from judging.services.generation.made_studies import make_study

    return _launch(make_study(run, slug=f"{SLUG}-ranking"), redundancy=PEOPLE)


def first_places(study: Any) -> Counter[str]:
    """By system, the tasks in which its question is shown first."""
    from annotator.models import Slot

    counted: Counter[str] = Counter()
    for slot in Slot.objects.filter(study=study).select_related("item"):
        systems = {each["part"]: each["system"] for each in slot.item.stimulus["responses"]}
        counted[systems[slot.order.partition(",")[0]]] += 1
    return counted


def rate_questions(run: Any) -> list[Any]:
    """The runs of CrowdLLM's jurors over the same questions, each rated by itself."""
    from judging.models import Endpoint, Run
    from judging.services.generation.made_studies import make_study
    from judging.services.presets import PRESETS, ModelChoice, make_judges
    from judging.services.runs.judge_runs import start_run
    from judging.services.runs.work import work_on

    study = _launch(make_study(run, {"study": "question_quality"}, slug=f"{SLUG}-quality"), redundancy=PEOPLE)
    choice = ModelChoice(Endpoint.objects.get(name=SLUG), JUROR)
    started = [start_run(study, judge) for judge in make_judges(study, PRESETS["agent_cq"], [choice])]
    for each in started:
        work_on(each.pk)
    return list(
        Run.objects.filter(study=study).select_related("judging__judge", "judging__rater").order_by("pk")
    )


def _launch(study: Any, **settings: Any) -> Any:
    from django.core.management import call_command

    for name, value in settings.items():
        setattr(study, name, value)
    study.save()
    call_command("launch", study.slug, "--confirm", verbosity=0, stdout=sys.stderr)
    study.refresh_from_db()
    return study


if __name__ == "__main__":
    main()
