"""A study whose people have judged, for tests of the choice of a judge."""

import numpy as np
from django.contrib.admin.models import LogEntry

from evaluation.models import Item, Query, Rater
from evaluation.protocols import AnswerValue, Kind
from evaluation.selectors import queries_of_people
from evaluation.services.judgments import JudgmentInput, record_judgments
from judging.models import Run
from judging.services.runs.work import work_on
from tests import factories
from tests.analytics.reports.judging import main_items

OTHER = {"r1": "r2", "r2": "r1"}


def study_with_people(slug="trusted", *, owner=None, queries=140, sample=None, fidelity=0.9):
    """Three people mostly prefer the longer response; queries are of two categories."""
    study = factories.make_study(
        slug, owner=owner, queries=queries, arms=factories.PAPER_ARMS[:1], training=False, checks=0,
        human_sample=sample,
    )  # fmt: skip
    for number, query in enumerate(Query.objects.filter(study=study)):
        Query.objects.filter(pk=query.pk).update(category=("how", "why")[number % 2])
    rng = np.random.default_rng(7)
    for item in Item.objects.filter(study=study):
        texts = ("long " * 30, "short") if rng.random() < 0.5 else ("short", "long " * 30)
        for response, text in zip(item.responses.order_by("system__key"), texts, strict=True):
            response.text = text
            response.save()
    factories.launch(study)
    study.refresh_from_db()
    theirs = queries_of_people(study)
    people = [Rater.objects.create(study=study, kind="person") for _ in range(3)]
    revision = study.revisions.get()
    record_judgments(
        study=study,
        batch=[
            JudgmentInput(
                rater_id=person.pk,
                item_id=item.pk,
                revision_id=revision.pk,
                answers=[
                    AnswerValue("preference", Kind.PREFERENCE, label=_said(item, rng.random() < fidelity))
                ],
                shown=("r1,r2", "r2,r1")[at % 2],
            )
            for item in main_items(study)
            if theirs is None or item.query_id in theirs
            for at, person in enumerate(people)
        ],
    )
    return study


def _said(item, agrees):
    longer = "r1" if int(item.lengths.split(",")[0]) > 20 else "r2"
    return longer if agrees else OTHER[longer]


def run_of(act, study, *args, **options):
    """A run that an act begins, worked on to its end."""
    run = act(study, *args, by=None, queue=False, **options)
    work_on(run.pk)
    return Run.objects.get(pk=run.pk)


def acts_in_history():
    """The first words of what was done on the way, in its order; what led to the study and its judges is left aside."""
    lines = LogEntry.objects.filter(content_type__model="study").order_by("pk")
    said = lines.values_list("change_message", flat=True)
    first = [line.split(" ")[0] for line in said]
    return [word for word in first if word in ("Halved", "Started", "Chose", "Opened")]
