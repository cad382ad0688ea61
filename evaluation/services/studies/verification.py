"""`verify`: recomputes every hash of a study and checks what must always hold."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.db.models import Max, Sum

from evaluation.canonical import canonical_hash
from evaluation.counting import counted
from evaluation.extension import extensions
from evaluation.models import AnswerLayout, AnswerText, Item, Outcome, Study
from evaluation.protocols.answers.layout import Layout, is_sound
from evaluation.protocols.answers.measures import declared_measures
from evaluation.seals import open_seal_key
from evaluation.services.seals import JUDGMENT_FIELDS, written_texts
from evaluation.services.studies.freeze import compute_study_hash, hash_added_items
from evaluation.services.studies.seal_check import RecordedJudgments, check_key, check_surroundings

# Judgments whose answers are looked at at once.
CHUNK = 10_000
# Of the values that a judgment's seal covers.
RATER, ITEM, OUTCOME, SHOWN, LAYOUT, ARRAY = (
    JUDGMENT_FIELDS.index(each)
    for each in ("rater_id", "item_id", "outcome", "shown", "answer_layout_id", "answer_values")
)


def verify_study(study: Study) -> Iterator[str]:
    """A sentence for each check that fails."""
    if not study.is_frozen:
        return
    if study.launching_since is not None:
        yield (
            "The launch is unfinished: it is still under way, or was cut short and is resumed by the worker or by "
            f"`manage.py launch {study.slug}`."
        )
        return
    yield from _check_hashes(study)
    yield from check_key(study)
    key = open_seal_key(study.seal_key)
    recorded = RecordedJudgments(study, key) if key else None
    yield from _check_recorded(study, recorded)
    if key and recorded:
        yield from recorded.problems()
        yield from check_surroundings(study, key)
    for each in extensions():
        yield from each.verify(study)


def erased_facts(study: Study) -> Iterator[str]:
    """Sentences on what was erased by the application, and so is neither there nor missing."""
    done = study.erasures.aggregate(
        raters=Sum("n_raters"), judgments=Sum("n_judgments"), items=Sum("n_items"), last=Max("at")
    )
    if done["last"] is None:
        return
    erased = [
        counted(done["raters"], "rater"),
        f"with {counted(done['judgments'], 'judgment')}",
        *([f"and the texts of {counted(done['items'], 'item')}"] if done["items"] else []),
    ]
    yield (
        f"Erased by the application, last on {done['last']:%Y-%m-%d}: {' '.join(erased)}. Whether these were as "
        "recorded can't be told any more, nor whether the erased texts were those of the items' hashes."
    )


def _check_recorded(study: Study, recorded: RecordedJudgments | None) -> Iterator[str]:
    """Check that there are answers where there must be, that they are what their layout says, as the write door leaves
    them, that orders are those of an item's responses, and that every number of a measure is of one that its rater
    declares, and inside its range. `recorded` sees each judgment."""
    used = study.judgments.filter(answer_layout__isnull=False).values("answer_layout")
    layouts = {each.pk: _layout(each) for each in AnswerLayout.objects.filter(pk__in=used)}
    yield from (f"Layout {pk}: was changed." for pk, layout in layouts.items() if layout is None)
    parts = _parts_shown(study)
    stored = study.judgments.order_by("pk").values_list("pk", "seal", *JUDGMENT_FIELDS).iterator(CHUNK)
    ends: dict[tuple[int, str], tuple[float, float]] = {}
    while rows := list(islice(stored, CHUNK)):
        texts = written_texts(
            AnswerText.objects.filter(
                judgment__study=study, judgment__gte=rows[0][0], judgment__lte=rows[-1][0]
            )
        )
        for pk, seal, *values in rows:
            rater, layout_key, array = values[RATER], values[LAYOUT], values[ARRAY]
            ok, shown = values[OUTCOME] == Outcome.OK, values[SHOWN]
            if ok and layout_key is None:
                yield f"Judgment {pk}: is ok but has no answer."
            elif layout_key is not None and not ok:
                yield f"Judgment {pk}: has answers though its outcome is {values[OUTCOME]}."
            if shown and sorted(shown.split(",")) != parts.get(values[ITEM], []):
                yield f"Judgment {pk}: the presented order {shown!r} is not an order of its responses."
            if recorded is not None:
                recorded.see(pk, seal, values, texts.get(pk, ()))
            layout = layouts.get(layout_key)
            if layout is None:
                continue
            if not is_sound(layout, array, {(question, part) for question, part, _ in texts.get(pk, ())}):
                yield f"Judgment {pk}: its answers are not what their layout says."
                continue
            numbers = json.loads(array) if layout.measured else []
            for each in layout.measured:
                # A proper layout has numbers only here.
                assert each.number is not None
                number = numbers[each.number]
                least, most = ends.get((rater, each.question), (number, number))
                ends[rater, each.question] = min(least, number), max(most, number)
    yield from _check_measures(study, ends)


def _layout(stored: AnswerLayout) -> Layout | None:
    """Nothing of one that the write door has not made."""
    try:
        layout = Layout.from_json(stored.places)
    except (TypeError, ValueError):
        return None
    return layout if layout.is_proper and layout.key == stored.pk else None


def _check_measures(study: Study, ends: Mapping[tuple[int, str], tuple[float, float]]) -> Iterator[str]:
    """The least and the greatest number of each measure, by rater."""
    about = dict(study.raters.values_list("pk", "about"))
    for (rater, key), (least, most) in ends.items():
        measure = next((each for each in declared_measures(about[rater]) if each.key == key), None)
        if measure is None:
            yield f"Rater {rater}: {key} is not among the measures that it declares."
            continue
        if (measure.low is not None and least < measure.low) or (
            measure.high is not None and most > measure.high
        ):
            yield f"Rater {rater}: {key} has numbers from {least:g} to {most:g}, outside of its range."


def _check_hashes(study: Study) -> Iterator[str]:
    for revision in study.revisions.all():
        if canonical_hash(revision.spec) != revision.spec_hash:
            yield f"Revision {revision.number}: the spec was changed after it was frozen."
        if hash_added_items(study, revision.number) != revision.items_hash:
            yield f"Revision {revision.number}: its hash does not cover the items that came with it."
    frozen = Item.objects.filter(study=study).only("key", "stimulus", "stimulus_hash", "erased_hash")
    for item in frozen.iterator():
        if item.stimulus is None:
            yield f"Item {item.key}: not frozen."
        elif canonical_hash(item.stimulus) != (item.erased_hash or item.stimulus_hash):
            yield f"Item {item.key}: the stimulus was changed after it was frozen."
    if compute_study_hash(study) != study.study_hash:
        yield "The study hash does not cover the revisions and items that are there."


def _parts_shown(study: Study) -> dict[int, list[str]]:
    """Of every item that was shown in a known order, the parts of its responses, sorted."""
    shown = Item.objects.filter(pk__in=study.judgments.exclude(shown="").values("item"))
    return {
        pk: _parts(responses) for pk, responses in shown.values_list("pk", "stimulus__responses").iterator()
    }


def _parts(responses: Any) -> list[str]:
    """The parts of a stimulus's responses, which may have been tampered with."""
    if not isinstance(responses, list):
        return []
    return sorted(str(each.get("part")) for each in responses if isinstance(each, dict))
