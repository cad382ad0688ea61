"""The item on which a draft's form is shown: one of the study's own, or of the protocol's demo where it has none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.demo.sample_items import sample_item
from evaluation.models import Arm, Item, Role, Study
from evaluation.protocols.base import Spec
from evaluation.rendering.box import PAGE_SECONDS, RenderBox
from evaluation.services.studies.compilation import ResponseRenderer
from evaluation.services.studies.freeze import freeze_item, select_parts

MOST = 50


class NothingToShow(Exception):
    """No item can be shown with this form; the message says why."""


@dataclass(frozen=True)
class Sample:
    """A stimulus, with the item's id where the study has it."""

    stimulus: dict[str, Any]
    item: int | None = None


def sample_choices(study: Study, arms: Sequence[Arm]) -> list[tuple[str, str]]:
    """Keys and labels of what can be shown: the study's first items; without any, a demo item in each arm."""
    items = Item.objects.filter(study=study, role=Role.MAIN).order_by("position", "pk")
    own = [(f"item:{pk}", key) for pk, key in items.values_list("pk", "key")[:MOST]]
    if own or len(arms) == 1:
        return own or [(f"arm:{arms[0].key}", "Demo item")]
    return [(f"arm:{arm.key}", f"Demo item, {arm.label or arm.key}") for arm in arms]


def take_sample(study: Study, arms: Sequence[Arm], spec: Spec, choice: str) -> Sample:
    """The chosen item as the form would make it, by default the first; NothingToShow where it can't be judged."""
    kind, _, key = choice.partition(":")
    items = select_parts(Item.objects.filter(study=study, role=Role.MAIN).order_by("position", "pk"))
    chosen = items.filter(pk=int(key)).first() if kind == "item" and key.isdigit() else None
    item = chosen or items.first()
    if item is None:
        return _demo_item(spec, key if key in {arm.key for arm in arms} else arms[0].key)
    arm = next((each for each in arms if each.pk == item.arm_id), None)
    if arm is None:
        raise NothingToShow(f"Item {item.key} would have no arm.")
    item.arm = arm
    with RenderBox(total=PAGE_SECONDS) as box:
        problems = freeze_item(item, spec, study, ResponseRenderer(spec, box.render))
    if item.stimulus is None:
        raise NothingToShow(f"Item {item.key}: {'; '.join(map(str, problems))}.")
    return Sample(item.stimulus, item.pk)


def _demo_item(spec: Spec, arm: str) -> Sample:
    found = sample_item(spec, arm)
    if found is None:
        raise NothingToShow("Upload items to see them here: this protocol has no demo item.")
    if found.problems or found.item.stimulus is None:
        raise NothingToShow(f"The demo item can't be shown: {'; '.join(found.problems)}.")
    return Sample(found.item.stimulus)
