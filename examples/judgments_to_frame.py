"""Downloads a study's judgments as a table, a row per answer, and tells how often each answer was given.

ASSAY_URL=https://assay.example.org ASSAY_TOKEN=assay_... python -m examples.judgments_to_frame STUDY FILE.csv
"""

import os
import sys

from assay_client import Client, Problem, to_frame


def main(slug: str, file: str) -> None:
    with Client(os.environ["ASSAY_URL"], os.environ["ASSAY_TOKEN"]) as client:
        try:
            frame = to_frame(client.study(slug).judgments(outcome="ok"))
        except Problem as problem:
            sys.exit(str(problem))
    frame = frame[~frame["excluded"] & (frame["role"] == "main")]
    frame.to_csv(file, index=False)
    print(f"{frame['id'].nunique():,} judgments by {frame['rater'].nunique():,} raters, in {file}")
    print(frame.groupby(["question", "rater_kind"])["label"].value_counts().to_string())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
