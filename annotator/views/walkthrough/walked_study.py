"""A study as its participants would meet it now: its spec, and its items compiled one at a time, unsaved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from annotator.models import Step
from annotator.selectors.quota import PLENTY
from annotator.services.work.progress import has_step, next_step
from evaluation import design
from evaluation.demo.items import demo_items
from evaluation.models import ArmPer, Item, OncePer, Role, Study
from evaluation.protocols import Protocol
from evaluation.rendering.box import PAGE_SECONDS, RenderBox
from evaluation.rendering.markdown import render_markdown
from evaluation.services.studies.compilation import ResponseRenderer, compile_spec
from evaluation.services.studies.freeze import freeze_item, select_parts

# Of practice, qualification and checks; nobody walks through more.
MOST = 50
# Every page of an empty draft prepares all demo items anew; their texts are few, and always the same.
_render_demo = lru_cache(maxsize=1024)(render_markdown)


class CannotShow(Exception):
    """An item that can't be judged as it is; the message says why."""


@dataclass(frozen=True)
class WalkedItem:
    """An item with its compiled stimulus; `pk` is None of a demo item."""

    pk: int | None
    key: str
    role: str
    stimulus: Mapping[str, Any]
    gold: Mapping[str, Any]


class WalkedStudy:
    """The study that is walked through. Of a draft without items, the protocol's demo items stand in."""

    def __init__(self, study: Study, arm: str) -> None:
        self.study = study
        latest = study.revisions.order_by("-number").values_list("spec", flat=True).first()
        self.spec: dict[str, Any] = latest or compile_spec(study)
        self._demo: Sequence[Item] = ()
        self.is_demo = False
        if study.status == "draft" and not Item.objects.filter(study=study).exists():
            self.spec, self._demo = demo_items(self.spec, _render_demo)
            self.is_demo = True
        keys = [each["key"] for each in self.spec["arms"]]
        self.arm = arm if arm in keys else next(iter(keys), "")

    @property
    def protocol(self) -> Protocol:
        return self.study.protocol_object

    @property
    def steps(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.spec["steps"]
        return found

    @property
    def skips_allowed(self) -> int:
        allowed: int = self.spec["skips"].get("per_participant", 0)
        return allowed

    # --- the items, by what they are for ----------------------------------------------------------------------------
    @cached_property
    def training(self) -> Sequence[Any]:
        return self._slotless(Role.TRAINING)

    @cached_property
    def qualification(self) -> Sequence[Any]:
        return self._slotless(Role.QUALIFICATION)

    @cached_property
    def checks(self) -> Sequence[Any]:
        """Attention checks: in the setting that is walked through, where participants have one."""
        return self._slotless(Role.ATTENTION, in_arm=self._has_one_arm)

    @cached_property
    def mains(self) -> Sequence[Any]:
        """Items that one participant could be given, each query (or item) once."""
        wanted = self.study.items_per_participant + self.skips_allowed
        by_query = self.spec["once_per"] == OncePer.QUERY
        if self.is_demo:
            rows = [
                (item, item.stimulus["query"]["key"] if by_query and item.stimulus else item.key)
                for item in self._demo
                if item.role == Role.MAIN and (not self._has_one_arm or self._arm_of(item) == self.arm)
            ]
        else:
            items = Item.objects.filter(study=self.study, role=Role.MAIN, withdrawn_at=None)
            items = items.filter(arm__key=self.arm) if self._has_one_arm else items
            once = "query_id" if by_query else "pk"
            rows = list(items.order_by("position", "pk").values_list("pk", once)[: wanted * PLENTY])
        first = {key: item for item, key in reversed(rows)}
        return [item for item, key in rows if first[key] == item][:wanted]

    @property
    def quota(self) -> int:
        return min(self.study.items_per_participant, len(self.mains))

    @property
    def check_positions(self) -> list[int]:
        rule = self.steps.get("attention")
        return design.check_positions(self.spec["seed"], 0, self.quota, rule.get("checks", 1)) if rule else []

    @property
    def _has_one_arm(self) -> bool:
        return self.study.arm_per == ArmPer.PARTICIPANT

    def _arm_of(self, item: Item) -> str:
        return str((item.stimulus or {}).get("arm", ""))

    def _slotless(self, role: str, *, in_arm: bool = False) -> Sequence[Any]:
        if self.is_demo:
            found = [item for item in self._demo if item.role == role]
            return [item for item in found if not in_arm or self._arm_of(item) == self.arm]
        items = Item.objects.filter(study=self.study, role=role, withdrawn_at=None)
        items = items.filter(arm__key=self.arm) if in_arm else items
        return list(items.order_by("position", "pk").values_list("pk", flat=True)[:MOST])

    # --- one of them ------------------------------------------------------------------------------------------------
    def item(self, found: Any) -> WalkedItem:
        """The item as it is frozen, or would be now. Raises CannotShow."""
        item = found if isinstance(found, Item) else select_parts(Item.objects.filter(pk=found)).get()
        if item.stimulus is None:
            with RenderBox(total=PAGE_SECONDS) as box:
                problems = freeze_item(item, self.spec, self.study, ResponseRenderer(self.spec, box.render))
            if problems:
                raise CannotShow("; ".join(map(str, problems)))
        return WalkedItem(item.pk, item.key, item.role, item.stimulus or {}, item.gold or {})

    # --- the steps --------------------------------------------------------------------------------------------------
    @property
    def first(self) -> Step:
        return self._from(Step.INSTRUCTIONS)

    def after(self, step: Step) -> Step:
        return self._from(next_step(self.spec, step))

    def _from(self, step: Step) -> Step:
        """This step, or the next one that has something in it."""
        without = {Step.TRAINING: "training", Step.QUALIFICATION: "qualification", Step.ITEMS: "mains"}
        while not has_step(self.spec, step) or (step in without and not getattr(self, without[step])):
            step = next_step(self.spec, step)
        return step
