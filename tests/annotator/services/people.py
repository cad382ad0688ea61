"""What these tests ask of participants, and the studies that two of these files need."""

from annotator.models import Participant
from evaluation.services.studies.creation import PAPER_ARMS
from tests.factories import NO_STEPS, launch, make_item, make_query, make_study

ONE_ARM = PAPER_ARMS[1:2]


def now_of(token):
    """Where the participant stands: their step and outcome."""
    participant = Participant.objects.get(token=token)
    return participant.step, participant.outcome


def count_with_checks(there, **rule):
    """Live, in one arm: six items, so many attention checks, and this rule for them."""
    study = make_study("checked", queries=6, arms=ONE_ARM, training=False, checks=there)
    return launch(study, steps=NO_STEPS | {"attention": rule})


def with_pass_mark(**rule):
    """Live, with three qualification items of which two must be passed."""
    study = make_study("qualify", arms=ONE_ARM, training=False, checks=0)
    arm, systems = study.arms.get(), list(study.systems.all())
    for key in ("qualify0", "qualify1", "qualify2"):
        query, context = make_query(study, key)
        gold = {"preference": "r2"}
        make_item(study, query, context, arm, systems, key=key, role="qualification", gold=gold)
    return launch(study, steps=NO_STEPS | {"qualification": {"pass_mark": 2, **rule}})
