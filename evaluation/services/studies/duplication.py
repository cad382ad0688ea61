"""A copy of a study: its settings alone, with its items, or with its items and judges.

Of its recruitment comes along what is asked for (`ALONG`), never anything of the people who judged, of the judgments,
or of what the panel knows: a copy is a draft that nobody has been in. Items that were withdrawn stay behind.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.admin.models import ADDITION
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.text import slugify

from evaluation.extension import Duplication, extensions
from evaluation.models import Arm, Context, Item, ItemResponse, Query, Response, Status, Study, System
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import create_study, write_attributes, write_questions_and_texts
from evaluation.services.studies.origin import origin_of

# Fields of a study that are its own: what names it, where it stands, and the codes of its panel.
OWN_FIELDS = frozenset(
    ("id", "slug", "title", "status", "created_at", "created_by_import", "launching_since", "study_hash",
     "corrections", "simulated", "completion_codes", "origin", "rehearsal_of", "seal_key", "sealed_count",
     "sealed_digest", "sealed_before", "settled_as_gold", "archived_at", "closed_at", "ids_deleted_at")
)  # fmt: skip
# What an item's frozen form and its way through the study have set.
FROZEN_FIELDS = frozenset(
    (
        "id",
        "stimulus",
        "stimulus_hash",
        "systems_key",
        "lengths",
        "start_order",
        "withdrawn_at",
        "dump",
        "origin",
    )
)
MAX_SLUG, MAX_TITLE = 80, 200
# What a copy can have, by the name that pages, commands and the API call it by: whether items, whether judges.
EXTENTS = {"settings": (False, False), "items": (True, False), "judges": (True, True)}
# What can come along of its recruitment, by what pages, commands and the API call it. Codes are known to the study's
# participants, who could claim to have completed another one that has the same.
ALONG = ("platform", "eligibility", "codes")
USUALLY_ALONG = ("platform", "eligibility")
ALONG_LABELS = {"platform": "recruitment platform", "eligibility": "eligibility", "codes": "completion codes"}


def duplicate_study(
    study: Study,
    *,
    by: Any = None,
    items: bool = True,
    judges: bool = False,
    along: Collection[str] = USUALLY_ALONG,
    title: str = "",
    slug: str = "",
    reason: str = "",
) -> Study:
    """A draft with the study's settings, of its latest revision, which `by` owns. None is whoever runs the server, and
    leaves it without members.

    Refused says why there is none; then nothing was made. Without a slug or title, those of the study are varied.
    """
    if by is not None:
        get_study_for(by, study.slug, right="write")
    asking = by or server_account()
    with transaction.atomic():
        copy = copy_study(study, by=by, items=items, judges=judges, along=along, title=title, slug=slug)
        log_action(study=copy, by=asking, message=f"Copied from {study.title}.", flag=ADDITION)
        log_action(study=study, by=asking, message=f"Duplicated as {copy.title}.", reason=reason)
    return copy


def copy_study(
    study: Study,
    *,
    by: Any = None,
    items: bool = True,
    judges: bool = False,
    along: Collection[str] = ("eligibility",),
    title: str = "",
    slug: str = "",
) -> Study:
    """The draft alone, for whoever copies a study for a purpose of their own."""
    if judges and not items:
        raise Refused("Judges are copied with the items that they are set up for.")
    with transaction.atomic():
        if study.status == Status.DRAFT:  # whose items are not replaced meanwhile
            study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        parts = [name for name, wanted in (("items", items), ("judges", judges)) if wanted]
        copy = copy_settings(
            study,
            by=by,
            slug=slug or free_slug(f"{study.slug[: MAX_SLUG - 9]}-copy"),
            title=title or f"{study.title[: MAX_TITLE - 7]} (copy)",
            origin=origin_of(study, "duplicate", parts=parts),
        )
        if items:
            _copy_items(study, copy)
        duplication = Duplication(study, copy, judges, along, by)
        came = {part for each in extensions() for part in each.duplicate(duplication)}
        if "codes" in along and study.completion_codes:
            copy.completion_codes = study.completion_codes
            came.add("codes")
        copy.origin["parts"] += [part for part in ALONG if part in came]
        copy.save(update_fields=["completion_codes", "origin"])
    return copy


def what_came_along(copy: Study) -> str:
    """Sentences on what a copy has of its source's recruitment, and what not."""
    came = [ALONG_LABELS[each] for each in ALONG if each in copy.origin["parts"]]
    behind = [ALONG_LABELS[each] for each in ALONG if each not in copy.origin["parts"]]
    found = [f"Came along: {', '.join(came)}."] if came else []
    return " ".join([*found, f"Not set: {', '.join(behind)}."] if behind else found)


def copy_settings(study: Study, *, by: Any, slug: str, title: str, origin: dict[str, Any]) -> Study:
    """A draft with the study's rules, questions, texts, attributes and arms, and without items."""
    names = [field.name for field in Study._meta.concrete_fields if field.name not in OWN_FIELDS]
    values = {name: getattr(study, name) for name in names if name != "protocol"}
    try:
        copy = create_study(
            slug=slug, title=title, protocol=study.protocol, owner=by, origin=origin, **values
        )
    except ValidationError as invalid:
        raise Refused(*invalid.messages) from None
    spec = compile_spec(study)
    write_questions_and_texts(copy, spec)
    write_attributes(copy, spec.get("attributes", []))
    Arm.objects.bulk_create(Arm(study=copy, position=n, **arm) for n, arm in enumerate(spec["arms"]))
    return copy


def free_slug(wanted: str) -> str:
    """The slug, or with a number behind it the first that no study has."""
    taken = set(Study.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    return next(
        slug for slug in (wanted if n == 1 else f"{wanted}-{n}" for n in count(1)) if slug not in taken
    )


def slug_of_file(name: str) -> str:
    """The slug that a file's name suggests for a new study."""
    return free_slug(slugify(Path(name).stem)[: MAX_SLUG - 5] or "study")


def _copy_items(study: Study, copy: Study) -> None:
    arms = _by_key(Arm, study, copy)
    systems = _copy_rows(System.objects.filter(study=study), lambda row: {"study_id": copy.pk})
    queries = _copy_rows(Query.objects.filter(study=study), lambda row: {"study_id": copy.pk, "dump": None})
    contexts = _copy_rows(
        Context.objects.filter(query__study=study), lambda row: {"query_id": queries[row.query_id]}
    )
    responses = _copy_rows(
        Response.objects.filter(query__study=study),
        lambda row: {
            "query_id": queries[row.query_id],
            "system_id": systems[row.system_id],
            "context_id": row.context_id and contexts[row.context_id],
        },
    )
    standing = Item.objects.filter(study=study, withdrawn_at=None)
    items = _copy_rows(
        standing.defer("stimulus"),
        lambda row: {
            "study_id": copy.pk,
            "arm_id": arms[row.arm_id],
            "query_id": queries[row.query_id],
            "context_id": row.context_id and contexts[row.context_id],
        },
        leave=FROZEN_FIELDS,
    )
    _copy_rows(
        ItemResponse.objects.filter(item__study=study, item__withdrawn_at=None),
        lambda row: {"item_id": items[row.item_id], "response_id": responses[row.response_id]},
    )


def _by_key(model: Any, study: Study, copy: Study) -> dict[int, int]:
    new = dict(model.objects.filter(study=copy).values_list("key", "pk"))
    return {pk: new[key] for pk, key in model.objects.filter(study=study).values_list("pk", "key")}


def _copy_rows(
    rows: models.QuerySet[Any],
    changed: Callable[[Any], dict[str, Any]],
    leave: Iterable[str] = ("id",),
) -> dict[int, int]:
    """Write copies of the rows, in batches, with these values instead of theirs; old keys to new ones."""
    model, leave = rows.model, frozenset(leave)
    names = [field.attname for field in model._meta.concrete_fields if field.name not in leave]
    found: dict[int, int] = {}
    last = 0
    while batch := list(rows.filter(pk__gt=last).order_by("pk")[: settings.ASSAY_BATCH_SIZE]):
        new: Sequence[Any] = [
            model(**{**{name: getattr(row, name) for name in names}, **changed(row)}) for row in batch
        ]
        for old, made in zip(batch, model._default_manager.bulk_create(new), strict=True):
            found[old.pk] = made.pk
        last = batch[-1].pk
    return found
