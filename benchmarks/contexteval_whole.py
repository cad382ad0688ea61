"""The whole of ContextEval on some of its published queries, by the commands that a researcher would give.

Contexts with a jury and one person's answers, two systems, three arms, five judges, of which one is kept from its own
responses, three simulated people an item, and the report's agreement, win rates and flips. Models are those of the
tests' endpoint, which prefer by hashes: what is shown is the way, and nothing about any model. The database is made for
it, and deleted.

Usage: ASSAY_PUBLISHED_DATA=... python -m benchmarks.contexteval_whole
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.database import made_for_it, published

QUERIES = 20
# At the tests' endpoint `yes` and `full` say how a model answers: yes, and with as much as it may.
GENERATORS = ("elm:yes:full", "fir:yes:full")
JURY = ("gum:yes", "hop:yes", "ivy")
SYSTEMS = ("aspen", "birch")
JUDGES = ("oak", "larch", "pine", "rowan", "aspen")
OF_ITS_OWN = "aspen"
PEOPLE = 3
# Made-up people like birch where they are told nothing, and aspen where they are.
LIKED = {False: {"aspen": 0.0, "birch": 0.6}, True: {"aspen": 0.8, "birch": 0.0}}


def main() -> None:
    path = published("contexteval/queries.jsonl")
    with made_for_it() as folder:
        from tests.judging import endpoint

        with endpoint.serve() as served:
            show(whole(path, served, folder))


def whole(path: Path, served: Any, folder: Path) -> Any:
    """From the file of queries to the report; `folder` is one that may be written to."""
    from analytics.reports.build import build_report
    from evaluation.filters import TOGETHER, Filters
    from evaluation.models import Study
    from tests.judging.generating import make_endpoint

    make_endpoint(served, models=(*GENERATORS, *JURY, *SYSTEMS, *JUDGES))
    manage("import_published", "contexteval", str(path), "--slug", "contexteval")
    queries = ("--queries", str(QUERIES), "--endpoint", "here")
    manage(
        "generate", "contexteval", "--pipeline", "contexts", *queries,
        "--set", f"generators={','.join(GENERATORS)}", "--set", f"jury={','.join(JURY)}", "--set", "sampler=ivy",
        "--set", "jury_rule=majority",
    )  # fmt: skip
    manage(
        "generate", "contexteval", "--pipeline", "responses", *queries,
        "--set", f"writers={','.join(SYSTEMS)}", "--set", "queries=with_context",
    )  # fmt: skip
    responses = Study.objects.get(slug="contexteval").runs.latest("pk")
    manage("generate", "contexteval", "--run", str(responses.pk), "--make", "--slug", "contexteval-pairs")
    manage("launch", "contexteval-pairs", "--confirm")
    models = [word for model in JUDGES for word in ("--model", f"here:{model}")]
    manage("add_judges", "contexteval-pairs", "--preset", "contexteval", *models)
    manage("add_judge", "contexteval-pairs", OF_ITS_OWN, "--own-system", OF_ITS_OWN)
    manage(
        "run_judge", "contexteval-pairs", "--yes", *(word for name in JUDGES for word in ("--judge", name))
    )
    pairs = Study.objects.get(slug="contexteval-pairs")
    simulate_people(pairs, folder)
    return build_report(pairs, replicates=500, filters=Filters(judges=TOGETHER))


def manage(command: str, *arguments: str) -> None:
    """Give a command as one would at a shell, and show it."""
    from django.core.management import call_command

    print(f"\n$ manage.py {' '.join((command, *arguments))}", flush=True)
    call_command(command, *arguments)


def simulate_people(study: Any, folder: Path) -> None:
    from evaluation.demo.simulation import simulate

    liked = {
        f"{item.key}/{system}": worth
        for item in study.items.select_related("arm")
        for system, worth in LIKED[item.arm.context_at_judging].items()
    }
    parameters = {
        "taste": 0.3,
        "preferences": {"preference": {"expected": liked, "noise": 0.5, "tie_within": 0.2}},
        "chances": {"satisfied": {"expected": {"*": 0.6}}},
        "texts": {"justification": {"chance": 1.0, "any": ["It suits the person better."]}},
    }
    file = folder / "people.json"
    file.write_text(json.dumps(parameters), "utf-8")
    print(f"\n{simulate(study, file, per_item=PEOPLE):,} judgments by simulated people.")


def show(report: Any) -> None:
    """Agreement, win rates and flips by arm, of simulated people and of the judges together; what judges left out."""
    found = {(each["figure"], each["group"]): each for each in report["records"]}
    for group in report["groups"]:
        if group["raters"] < 2:
            continue
        print(f"\n== {group['label']} ({group['raters']} raters)")
        for each in found["agreement/percentage", group["key"]]["by_arm"]:
            ties, none = percent(each["with_ties"]), percent(each["without_ties"])
            print(f"agreement in {each['arm']}: {ties}, without ties {none}")
        for each in found["preferences/win_rates", group["key"]]["majority"]:
            cell = each["cell"]
            rates = [f"{cell[side]} {percent(each[side])}" for side in ("system_1", "system_2")]
            print(f"majorities in {cell['arm']}: {', '.join(rates)}, tie {percent(each['tie'])}")
        for each in found["preferences/flips", group["key"]]["pairs"]:
            preferred = f"{each['first_preferred'] or 'none'} and {each['second_preferred'] or 'none'}"
            flip = "a flip" if each["flipped"] else "no flip"
            print(f"{each['first_arm']} and {each['second_arm']}: {preferred} preferred, {flip}")
    print("\n== Judges")
    for judge in report["judges"]:
        counts = [f"{each['n']} {each['outcome']}" for each in judge["outcomes"] if each["n"]]
        print(f"{judge['label']}: {', '.join(counts)}")


def percent(estimate: Any) -> str:
    return "undefined" if estimate["value"] is None else f"{100 * estimate['value']:.1f} %"


if __name__ == "__main__":
    main()
