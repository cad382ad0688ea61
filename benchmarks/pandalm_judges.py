"""Judges that cost nothing beside three people on PandaLM's 999 published pairs: leave-one-out agreement of each.

The release has no human-written references. Judges that compare with one are held against the responses of one of its
systems, and judge the pairs that do not compare that system. Embeddings are those of the tests' endpoint, which hashes
words and knows nothing of what they mean; static models in ASSAY_STATIC_MODELS judge beside them. Needs PostgreSQL and
ASSAY_PUBLISHED_DATA; what it writes it deletes.

Usage: DATABASE_URL=postgres://... ASSAY_PUBLISHED_DATA=... python -m benchmarks.pandalm_judges
"""

import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.database import set_up

SLUG = "bench-pandalm"
HEURISTICS = ("longer", "shorter", "random")
METRICS = ("rouge_1", "rouge_2", "rouge_l", "bleu")
NUMBERS = ("words", "characters", "flesch")
REFERENCE = "llama-7b"
ABLE = {"embeddings": 64}


def main() -> None:
    folder = os.environ.get("ASSAY_PUBLISHED_DATA", "")
    path = Path(folder) / "pandalm" / "testset-v1.json"
    if not folder or not path.exists():
        sys.exit("Set ASSAY_PUBLISHED_DATA to a folder that holds pandalm/testset-v1.json.")
    set_up()
    from django.core.management import call_command

    from evaluation.models import Study
    from tests.judging import endpoint

    call_command("import_published", "pandalm", str(path), slug=SLUG, verbosity=0)
    study = Study.objects.get(slug=SLUG)
    try:
        with endpoint.serve() as served:
            show(study, served.url)
    finally:
        delete(study)


def show(study: Any, url: str) -> None:
    from analytics.reports.build import build_report

    made = {run.judging.rater.pseudonym: run for run in run_all(study, url)}
    report = build_report(study, replicates=1_000)
    groups = {group["key"]: group for group in report["groups"]}
    found = {each["group"]: each for each in report["records"] if each["figure"] == "judges/labels_vs_people"}
    print("| judge | reference | pairs judged | with people | 95 % | people with each other |")
    print("| --- | --- | ---: | ---: | --- | ---: |")
    for key, run in made.items():
        judge = run.judging.judge
        cells = [judge.name, judge.reference_from or ""]
        ok = run.calls.filter(outcome="ok").count()
        record = found.get(groups[key]["key"]) if key in groups else None
        if record is None:
            print(f"| {' | '.join(cells)} | {ok} | none | | |")
            continue
        outer, inner = record["outer"], record["inner"]
        limits = f"{outer['low']:.4f} to {outer['high']:.4f}"
        print(f"| {' | '.join(cells)} | {ok} | {outer['value']:.4f} | {limits} | {inner['value']:.4f} |")


def run_all(study: Any, url: str) -> list[Any]:
    from judging.services.endpoints.access import create_endpoint
    from judging.services.judges import create_judge, heuristic_judge

    here = create_endpoint(user=None, name=SLUG, base_url=url, max_in_flight=16)
    here.capabilities = {"hashed-words": dict(ABLE)}
    here.save()
    runs = [worked(study, heuristic_judge(study, name)) for name in (*HEURISTICS, *NUMBERS)]
    for name in METRICS:
        runs.append(worked(study, create_judge(study, name=name, backend=name, reference_from=REFERENCE)))
    near = create_judge(
        study,
        name="embedding",
        backend="embedding",
        endpoint=here,
        model="hashed-words",
        reference_from=REFERENCE,
    )
    runs.append(worked(study, near))
    for folder in static_models():
        options = {"folder": folder}
        judge = create_judge(
            study, name=folder, backend="static_embedding", options=options, reference_from=REFERENCE
        )
        runs.append(worked(study, judge))
    members = {"members": list(HEURISTICS)}
    runs.append(worked(study, create_judge(study, name="composite", backend="composite", options=members)))
    return runs


def static_models() -> list[str]:
    """The folders of weights that the installation has, for a judge each."""
    from django.conf import settings

    named = settings.ASSAY_STATIC_MODELS
    return sorted(each.name for each in Path(named).iterdir() if each.is_dir()) if named else []


def worked(study: Any, judge: Any) -> Any:
    from judging.models import Run
    from judging.services.runs.judge_runs import start_run
    from judging.services.runs.work import work_on

    run = start_run(study, judge)
    work_on(run.pk)
    return Run.objects.select_related("judging__rater", "judging__judge").get(pk=run.pk)


def delete(study: Any) -> None:
    from evaluation.services.imports import discard_import
    from judging.models import Call, Endpoint, Judge, Run

    Call.objects.filter(run__study=study).delete()
    Run.objects.filter(study=study).delete()
    Judge.objects.filter(study=study).delete()
    Endpoint.objects.filter(name=SLUG).delete()
    discard_import(study)


if __name__ == "__main__":
    main()
