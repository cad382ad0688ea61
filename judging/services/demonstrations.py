"""Worked examples for judges: the study's training items, drawn by its seed.

Items that were withdrawn since are among them, so that a version of a judge goes on asking the same.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluation.models import Item, Role, Study
from evaluation.protocols.attributes import attributes_of
from evaluation.protocols.base import Spec, Stimulus
from evaluation.services.studies.compilation import UNRENDERED, compile_stimulus
from judging.prompting.examples import can_be_shown
from judging.prompting.settings import Example, Settings


def with_examples(study: Study, spec: Spec, settings: Settings) -> Settings:
    """The settings with as many examples for each arm as they ask for, or as there are."""
    if not settings.demonstrations:
        return settings
    return replace(settings, examples=_drawn(study, spec, settings))


def _drawn(study: Study, spec: Spec, settings: Settings) -> Mapping[str, Sequence[Example]]:
    items = Item.objects.filter(study=study, role=Role.TRAINING, gold__isnull=False)
    found: dict[str, list[Example]] = defaultdict(list)
    known = items.select_related("query", "context", "arm")
    for item in sorted(known, key=lambda item: _place(study, item.key)):
        example = Example(stimulus_of(item, spec), item.gold or {})
        if len(found[item.arm.key]) < settings.demonstrations and can_be_shown(
            study.protocol_object, spec, example, settings
        ):
            found[item.arm.key].append(example)
    return dict(found)


def _place(study: Study, key: str) -> bytes:
    return hashlib.sha256(f"{study.seed}\x1fexample\x1f{key}".encode()).digest()


def stimulus_of(item: Item, spec: Spec) -> Stimulus:
    """The item's stimulus; of a draft, what launch would freeze."""
    return item.stimulus or compile_stimulus(
        arm=item.arm.key,
        query=item.query,
        context=item.context,
        clarifying_question=item.clarifying_question,
        responses=list(item.responses.select_related("system")),
        attributes=attributes_of(spec),
        render=UNRENDERED,
    )
