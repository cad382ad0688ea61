"""Generated systems: the names under which models and ways of asking them are systems of a study."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evaluation.canonical import canonical_hash
from judging.generation.pipeline import PlacedModel, Record

MAX_KEY = 120
# Leaves room in the keys of units and responses for what tells a system's apart.
MAX_SYSTEM = 90
VARIANT = re.compile(r"[A-Za-z0-9._-]{1,30}")
# The arm of a study that has only one.
ONE_ARM: Record = {
    "key": "all", "label": "All items", "context_at_generation": False, "context_at_judging": False,
}  # fmt: skip


@dataclass(frozen=True)
class ModelSystem:
    """The system that a model is in a run."""

    key: str
    label: str
    model: PlacedModel

    @property
    def family(self) -> str:
        """The key of the model's name, wherever it is asked."""
        return key_of(self.model.model)

    def record(self) -> Record:
        return {"key": self.key, "label": self.label, "kind": "model"}


@dataclass(frozen=True)
class VariantSystem:
    """The system that a model is under one of several instructions, or under none."""

    key: str
    label: str
    model: PlacedModel
    # Where models are asked under several, the one that they share.
    family: str = ""
    instruction: str = ""

    def record(self) -> Record:
        return {
            "key": self.key, "label": self.label, "kind": "model",
            **({"family": self.family} if self.family else {}),
        }  # fmt: skip


def key_of(name: str) -> str:
    """A name in the characters that keys have."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-") or "model"


def model_systems(models: Iterable[PlacedModel], longest: int = MAX_SYSTEM) -> list[ModelSystem]:
    """The system that each of these models is; a model that is named twice is one.

    It has the model's name. Where others have that name too, such as the same model elsewhere, each says its endpoint.
    """
    different = list(dict.fromkeys(models))
    names = Counter(key_of(model.model)[:longest] for model in different)
    alone = [names[key_of(model.model)[:longest]] == 1 for model in different]
    labels = [model.model if one else str(model) for model, one in zip(different, alone, strict=True)]
    keys = [key_of(label)[:longest] for label in labels]
    again = Counter(keys)
    return [
        ModelSystem(key if again[key] == 1 else marked(key, label, longest), label, model)
        for key, label, model in zip(keys, labels, different, strict=True)
    ]


def clean_variants(lines: Sequence[str]) -> list[str]:
    """Variants as they are stored; ValueError with a sentence where a line is none, or names one again."""
    names = set(map(str.casefold, _variants(lines)))
    if len(names) < len(lines):
        raise ValueError("two variants have the same name.")
    return list(lines)


def _variants(lines: Iterable[str]) -> dict[str, str]:
    """The instruction of each variant, '' of one that has none."""
    found = {}
    for line in lines:
        name, _, instruction = (part.strip() for part in line.partition(":"))
        if not VARIANT.fullmatch(name):
            raise ValueError(
                f"{name[:40]!r} is no name of a variant: at most 30 letters, digits, dots, dashes and underscores."
            )
        found[name] = instruction
    return found


def variant_systems(models: Sequence[PlacedModel], variants: Sequence[str]) -> list[VariantSystem]:
    """Each model under each variant's instruction, a system of its own; without variants each model as it is."""
    if not variants:
        return [VariantSystem(each.key, each.label, each.model) for each in model_systems(models)]
    found = [
        VariantSystem(f"{each.key}-{name}", f"{each.label}, {name}", each.model, each.family, instruction)
        for name, instruction in _variants(variants).items()
        for each in model_systems(models, MAX_SYSTEM - len(name) - 1)
    ]
    # A dash may be the model's or the variant's.
    again = Counter(each.key for each in found)
    return [
        each if again[each.key] == 1 else replace(each, key=marked(each.key, each.label, MAX_SYSTEM))
        for each in found
    ]


def marked(key: str, whole: str, longest: int) -> str:
    """A key that is cut to make room for a mark of the whole that it stands for."""
    return f"{key[: longest - 11]}-{canonical_hash(whole)[:10]}"


def joined_key(*parts: str) -> str:
    """A key made of these parts, which stays apart from others where it has to be cut."""
    whole = "-".join(parts)
    return whole if len(whole) <= MAX_KEY else marked(whole, whole, MAX_KEY)


def systems_once(systems: Iterable[Record]) -> list[Record]:
    """The first system of each key."""
    found: dict[str, Record] = {}
    for each in systems:
        found.setdefault(each["key"], each)
    return list(found.values())
