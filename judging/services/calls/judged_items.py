"""The items that a run judges, and draws from them."""

import hashlib

from django.db.models import QuerySet

from evaluation.models import Item, Role, Study
from judging.models import JudgeValidation


def judged_items(study: Study) -> QuerySet[Item]:
    """Main items that are frozen and not withdrawn, in the order of their rows."""
    return (
        Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
        .exclude(stimulus_hash="")
        .order_by("pk")
    )


def items_of_half(study: Study, half: str) -> QuerySet[Item]:
    """The judged items whose queries are in that half (`JudgeValidation`), or all of them."""
    items = judged_items(study)
    if not half:
        return items
    keys: list[str] = JudgeValidation.objects.values_list(half, flat=True).get(study=study)
    queries = study.queries.filter(key__in=keys).values("pk")
    return items.filter(query__in=list(queries.values_list("pk", flat=True)))


def drawn_items(study: Study, max_items: int) -> list[int]:
    """A number of the items, drawn by the study's seed; an item's place in the draw depends on its key alone."""

    def place(row: tuple[int, str]) -> bytes:
        return hashlib.sha256(f"{study.seed}\x1fdraw\x1f{row[1]}".encode()).digest()

    rows = sorted(judged_items(study).values_list("pk", "key"), key=place)
    return sorted(pk for pk, _ in rows[:max_items])


def judged_by(study: Study, max_items: int | None, half: str = "") -> QuerySet[Item]:
    """The items that a run of so many at most, or of one half, would judge."""
    if max_items is None:
        return items_of_half(study, half)
    return Item.objects.filter(pk__in=drawn_items(study, max_items))


def repeated_queries(study: Study, share: float) -> frozenset[str]:
    """Keys of so large a share of the queries that are judged, drawn by the study's seed; of any share at least one."""

    def place(key: str) -> bytes:
        return hashlib.sha256(f"{study.seed}\x1frepeated\x1f{key}".encode()).digest()

    keys = sorted(set(judged_items(study).values_list("query__key", flat=True)), key=place)
    return frozenset(keys[: max(1, round(share * len(keys)))])


def sample_items(study: Study, max_items: int | None, size: int, half: str = "") -> tuple[int, list[Item]]:
    """The number of items a run would judge, and up to `size` of them, drawn by the seed, with their stimuli."""
    if half:
        items = items_of_half(study, half)
        return items.count(), list(items[:size])
    total = judged_items(study).count()
    total = total if max_items is None else min(total, max_items)
    drawn = drawn_items(study, min(size, total))
    return total, list(Item.objects.filter(pk__in=drawn).order_by("pk"))
