"""Small studies for the goldens, with figures that neither the demo studies nor the published ones have."""

from datetime import UTC, datetime, timedelta

import numpy as np

from evaluation.dumps.imports.scores import import_scores
from evaluation.models import Rater, Study, System
from tests import factories
from tests.analytics.reports.answering import answered_study, drawn_answers, give, items_of, new_rater
from tests.analytics.reports.judging import answer, judge, main_items, new_judge
from tests.analytics.reports.test_answers import MOOD
from tests.analytics.reports.test_grades import graded_study
from tests.analytics.reports.test_one_interval import irregular
from tests.four_way import four_way_study
from tests.judging.services.derived.build import people, right_in, say, study_in_categories, truth

BEGUN = datetime(2026, 3, 2, 9, tzinfo=UTC)
LABELS = ("r1", "r2", "tie")
SOUND = {
    "key": "sound",
    "label": "Sound, of what was asked about",
    "of": {"question": "sound", "values": ["yes"]},
    "among": {"question": "sound", "values": ["yes", "no"]},
}


def seeded(study):
    """Drawn from its seed, which is random as it is created, the same in every run."""
    Study.objects.filter(pk=study.pk).update(seed=5)
    study.refresh_from_db()
    return study


def drawn_labels(n, draw):
    return [LABELS[at] for at in np.random.default_rng(draw).integers(3, size=n)]


def measured_study(tmp_path):
    """A measure of rated responses, which is nDCG, beside that of other searches, and a question of one's own."""
    study = answered_study("aspects", queries=12, questions=[MOOD], slug="measured")
    for number in range(2):
        give(study, new_rater(study, f"person {number}"), drawn_answers(study, number))
    drawn, lines = np.random.default_rng(6), ["item,system,name,score"]
    for item in items_of(study):
        lines += [f"{item.key},,ndcg_10_{searched},{drawn.random()!r}" for searched in ("query", "question")]
        lines += [
            f"{item.key},{response['system']},ndcg_10,{drawn.random()!r}"
            for response in item.stimulus["responses"]
        ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    import_scores(study, path, judge="script", low=0.0, high=1.0)
    return seeded(study)


def settings_study(tmp_path):
    """One model in two settings and another in one of them, rated and measured, with a question of one's own."""
    study = answered_study("custom", queries=10, slug="settings")
    settings = {"aspen": ("oak", "alone"), "birch": ("oak", "with documents"), "cedar": ("elm", "alone")}
    for key, (base, setting) in settings.items():
        System.objects.filter(study=study, key=key).update(base=base, setting=setting)
    give(study, new_rater(study, "person"), drawn_answers(study, 3))
    drawn, lines = np.random.default_rng(8), ["item,system,name,score"]
    lines += [
        f"{item.key},{response['system']},rouge,{drawn.random()!r}"
        for item in items_of(study)
        for response in item.stimulus["responses"]
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    import_scores(study, path, judge="script", low=0.0, high=1.0)
    return seeded(study)


def calibrated_study():
    """A judge that gives probabilities, beside people."""
    study = factories.launch(factories.make_study("calibrated", queries=12, training=False, checks=0))
    judge(study, raters=3)
    sure = new_judge(study, "sure")
    chances = np.random.default_rng(9).random(len(main_items(study)))
    for item, chance in zip(main_items(study), chances.tolist(), strict=True):
        label = "r2" if chance > 0.5 else "r1"
        answer(study, sure, item, label, number=round(chance, 3), shown="r1,r2")
    return seeded(study)


def entries_study(tmp_path):
    """Sets whose entries are scored one by one, as the response as a whole is."""
    study = answered_study("condition_calibration", queries=6, slug="entries")
    drawn, lines = np.random.default_rng(7), ["item,system,part,name,score"]
    for item in items_of(study):
        for response in item.stimulus["responses"]:
            where = f"{item.key},{response['system']}"
            lines.append(f"{where},,score,{drawn.random()!r}")
            lines += [f"{where},e{number},entry_score,{drawn.random()!r}" for number in (1, 2)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    import_scores(study, path, judge="script", low=0.0, high=1.0)
    return seeded(study)


def ordered_study():
    """Two people at work in orders of their own, a judge that is one of the systems, and a share of the study's own."""
    study = answered_study("custom", queries=9, shares=[SOUND], slug="ordered")
    items = items_of(study)
    for number in range(2):
        rater = new_rater(study, f"person {number}")
        give(study, rater, drawn_answers(study, number))
        place = {item.pk: at for at, item in enumerate(items[::-1] if number else items)}
        for judgment in rater.judgments.all():
            judgment.judged_at = BEGUN + timedelta(minutes=place[judgment.item_id])
            judgment.save(update_fields=["judged_at"])
    own = new_rater(study, "own", "judge", model="cedar-7b", own_system="cedar")
    give(study, own, drawn_answers(study, 7))
    return seeded(study)


def judges_study():
    """A composite judge and its members, two prompts of one judge, one in both orders, and a judge that drifts."""
    study = study_in_categories({"facts": 20, "style": 10}, slug="judges")
    people(study)
    right_in(study, "alpha", "facts")
    right_in(study, "beta", "style")
    derived = {
        "kind": "composite",
        "questions": ["preference"],
        # As they are called in the goldens: after three people.
        "members": {"alpha": "the judge 4", "beta": "the judge 5"},
        "otherwise": "alpha",
        "fitted": True,
        "categories": {"facts": "alpha", "style": "beta"},
        "folds": [{"facts": "beta", "style": "beta"}, *[{"facts": "alpha", "style": "beta"}] * 4],
    }
    say(study, new_judge(study, "best", derived=derived), [truth(at) for at in range(30)])
    say(study, new_judge(study, "basic", judge="href-basic"), drawn_labels(30, 1))
    full = new_judge(
        study, "guideline-examples", judge="href-guideline-examples", orders="both", reduction="both_ways"
    )
    for item, *labels in zip(main_items(study), drawn_labels(30, 2), drawn_labels(30, 3), strict=True):
        for replicate, (label, shown) in enumerate(zip(labels, ("r1,r2", "r2,r1"), strict=True)):
            answer(study, full, item, label, replicate=replicate, shown=shown)
    for number in range(3):
        rater = a_pass(study, number)
        say(study, rater, [*drawn_labels(30 - 4 * number, 4), *drawn_labels(4 * number, 5)])
    return seeded(study)


def a_pass(study, number):
    """One of a judge's complete runs, the first of them its main one."""
    return Rater.objects.create(
        study=study,
        kind="judge",
        label="oak v1",
        pseudonym=f"pass {number}",
        in_figures=not number,
        about={
            "judge": "oak",
            "version": 1,
            "purpose": "anchor" if number else "main",
            "finished": f"2026-01-0{number + 1}T00:00:00Z",
        },
    )


def ranked_study():
    """People rank, and a judge in three passes."""
    study = answered_study("ranking", queries=12, slug="ranked")
    for number in range(2):
        give(study, new_rater(study, f"person {number}"), drawn_answers(study, number))
    for number in range(3):
        give(study, a_pass(study, number), drawn_answers(study, 5 + number))
    return seeded(study)


def grades_study():
    drawn = np.random.default_rng(7).integers(-2, 3, (3, 12))
    return seeded(graded_study(*drawn.tolist()))


def settled_study():
    """Pairs judged by people and a judge, some of them settled by two members, who differ on some."""
    study = factories.launched_pairs("settled", 14)
    for kind, raters in (("person", 3), ("judge", 1)):
        judge(study, raters=raters, kind=kind)
    for number, labels in enumerate(("r1 tie r2 r1 r1 r2 r1 tie r1", "r1 tie r1 r1 r2 r2")):
        settler = Rater.objects.create(
            study=study,
            kind="settled",
            label=f"member {number}",
            pseudonym=f"settler-{number}",
            in_figures=False,
        )
        for item, label in zip(main_items(study), labels.split(), strict=False):
            answer(study, settler, item, label)
    return seeded(study)


def settled_sets_study():
    """Sets of entries by people and a judge, some of which two members settled, too."""
    study = answered_study("condition_calibration", queries=6, slug="settled-sets")
    raters = [new_rater(study, f"person {number}") for number in range(2)]
    raters += [new_rater(study, "oak", Rater.Kind.JUDGE, judge="oak", version=1, model="oak-7b")]
    raters += [
        Rater.objects.create(
            study=study, kind="settled", label=name, pseudonym=f"settler-{name}", in_figures=False
        )
        for name in ("ada", "bo")
    ]
    for number, (rater, n) in enumerate(zip(raters, (6, 6, 6, 4, 3), strict=True)):
        drawn = drawn_answers(study, number)
        give(study, rater, [each if at < n else None for at, each in enumerate(drawn)])
    return seeded(study)


def stopping_study():
    """Three systems and a rule for stopping, of which two raters' leaderboards are correlated."""
    study = factories.make_study(
        "stopping",
        queries=12,
        training=False,
        checks=0,
        arms=factories.PAPER_ARMS[:1],
        systems=("aspen", "birch", "cedar"),
        items_per_query=3,
    )
    study.stopping = {"figure": "win_rate", "half_width": 0.1}
    study.save()
    study = factories.launch(study)
    judge(study, raters=3, choose=irregular)
    judge(study, raters=2, kind="judge", choose=lambda rater, at: irregular(5 + rater, at))
    return seeded(study)


def four_way_votes():
    """People and a judge in both orders, who also say that both responses are bad."""
    study = four_way_study(
        queries=12,
        arms=factories.PAPER_ARMS[:2],
        systems=("aspen", "birch", "cedar"),
        items_per_query=3,
    )
    votes = (*LABELS, "both_bad")

    def drawn(seed):
        return [votes[at] for at in np.random.default_rng(seed).integers(4, size=len(main_items(study)))]

    # The first two people agree more often than chance.
    first = drawn(1)
    same = np.random.default_rng(2).random(len(first)) < 0.6
    second = [one if alike else other for one, other, alike in zip(first, drawn(3), same, strict=True)]
    said = (first, second, drawn(4))
    judge(study, raters=3, choose=lambda rater, at: said[rater][at])
    both = new_judge(study, "both", orders="both", reduction="both_ways")
    for item, *labels in zip(main_items(study), drawn(5), first, strict=True):
        for replicate, (label, shown) in enumerate(zip(labels, ("r1,r2", "r2,r1"), strict=True)):
            answer(study, both, item, label, replicate=replicate, shown=shown)
    return seeded(study)


MAKERS = {
    "measured": measured_study,
    "settings": settings_study,
    "calibrated": lambda tmp_path: calibrated_study(),
    "entries": entries_study,
    "ordered": lambda tmp_path: ordered_study(),
    "judges": lambda tmp_path: judges_study(),
    "ranked": lambda tmp_path: ranked_study(),
    "grades": lambda tmp_path: grades_study(),
    "stopping": lambda tmp_path: stopping_study(),
    "settled": lambda tmp_path: settled_study(),
    "settled_sets": lambda tmp_path: settled_sets_study(),
    "four_way": lambda tmp_path: four_way_votes(),
}
