"""A process of the crowd on SQLite: `make` makes a study, `work SEED` takes part, `finish` sees to the end.

Each prints one line of JSON. A worker says that it is ready and starts when its input says so, so that all start
together.
"""

import json
import sys

import django

django.setup()

from evaluation.models import Study  # noqa: E402 - needs the apps
from evaluation.services.studies.creation import PAPER_ARMS  # noqa: E402
from evaluation.services.studies.verification import verify_study  # noqa: E402
from tests.crowd import (  # noqa: E402
    HONEST,
    Person,
    figures,
    lapse,
    make_crowd_study,
    open_places,
)

PEOPLE_PER_WORKER = 3


def make():
    make_crowd_study("crowd", queries=6, arms=PAPER_ARMS[:2], items_per_participant=4)
    return {}


def work(seed):
    study = Study.objects.get()
    print("ready", flush=True)  # noqa: T201 - how processes talk
    sys.stdin.readline()
    people = [Person(study, int(seed) * 10 + number).live() for number in range(PEOPLE_PER_WORKER)]
    return {habit: sum(person.done[habit] for person in people) for habit in people[0].habits}


def finish():
    study = Study.objects.get()
    for number in range(30):
        lapse(study=study)
        if not open_places(study):
            break
        Person(study, 1_000 + number, HONEST).live()
    return figures(study) | {"open": open_places(study), "verify": list(verify_study(study))}


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    print(json.dumps({"make": make, "work": work, "finish": finish}[command](*arguments)))  # noqa: T201
