"""From a table of responses to figures and back: a study is made, launched, judged, watched, reported and exported.

ASSAY_URL=https://assay.example.org ASSAY_TOKEN=assay_... python -m examples.study_by_script FOLDER
"""

import os
import sys
from pathlib import Path

import pandas as pd

from assay_client import Client, JobFailed, Problem, Study, to_frame

RESPONSES = pd.DataFrame(
    [
        ("soup", "Which soup can I make today?", "Leek soup, if you have an hour.", "Soup."),
        ("eggs", "How long do eggs boil?", "Six minutes.", "It depends: between six and ten minutes."),
        ("leek", "What goes with leek?", "Potatoes, cream and nutmeg.", "Fish."),
        ("salt", "Why salt pasta water?", "For taste.", "The salt goes into the dough, where it is tasted."),
    ],
    columns=["item", "prompt", "aspen", "birch"],
)


def make(client: Client) -> Study:
    """A launched study of the table; every row that is wrong is named."""
    try:
        study = client.import_study(RESPONSES.to_csv(index=False).encode(), name="soups.csv", title="Soups")
    except JobFailed as failed:
        sys.exit("\n".join(f"row {fault.row}: {fault.message}" for fault in failed.faults))
    for missing in study.check()["missing"]:
        print(f"{missing['weight']}: {missing['text']}")
    study.launch(confirm=True)
    return study


def judge(study: Study) -> None:
    """Two judges that need no model; people come in by the study's link meanwhile."""
    for backend in ("longer", "random"):
        run = study.start_run(study.create_judge(backend, backend=backend)["id"])
        print(f"{backend}: {study.wait_for_run(run)['state']}")


def main(folder: str) -> None:
    out = Path(folder)
    with Client(os.environ["ASSAY_URL"], os.environ["ASSAY_TOKEN"]) as client:
        try:
            study = make(client)
            judge(study)
            counts = study.details()["counts"]
            print(f"{study.slug}: {counts['items']} items, {counts['counting']} judgments that count")
            print(f"Figures of {len(study.report()['groups'])} groups of raters:")
            print(pd.read_csv(study.report_file("tables/win-rates.csv", out / "win-rates.csv")).T)
            study.export("jsonl", out / "study.jsonl")
            judged = to_frame(study.judgments(outcome="ok"))
        except Problem as problem:
            sys.exit("\n".join(map(str, problem.faults or [problem])))
    # Back beside the responses: a column for each rater.
    votes = judged[judged["kind"] == "preference"].pivot(index="item", columns="rater", values="label")
    table = RESPONSES.merge(votes, left_on="item", right_index=True)
    table.to_csv(out / "judged.csv", index=False)
    print(table.to_string())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
