"""The rows of all tables that belong to a study, and their deletion with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import Q

from evaluation.extension import Watch
from evaluation.models import Import, Study

Model = type[models.Model]
CHUNK = 500


@dataclass(frozen=True)
class StudyTables:
    """The models whose rows belong to a study, by the number of steps to it, with the paths that lead there; and those
    whose rows stay when it goes, with the keys that are emptied then."""

    levels: list[dict[Model, list[str]]]
    staying: dict[Model, dict[str, list[str]]]


def delete_rows(study: Study, watch: Watch = lambda phase, done, total: None) -> None:
    """Delete a study with all that belongs to it, and the history of all that.

    To be called in a transaction, at whose end the database checks that no row refers to what is gone.
    """
    tables = study_tables()
    dumps = _imports_of(study)
    _delete_history(study)
    for model, keys in tables.staying.items():
        for key, paths in keys.items():
            _rows(model, paths, study).update(**{key: None})
    total = sum(map(len, tables.levels))
    done = 0
    # Those first that lead to the study by the longest way.
    for level in reversed(tables.levels):
        for model, paths in level.items():
            rows = _rows(model, paths, study)
            rows._raw_delete(rows.db)
            done += 1
            watch("deleting", done, total)
    of_study = Study.objects.filter(pk=study.pk)
    of_study._raw_delete(of_study.db)
    Import.objects.filter(pk__in=dumps).delete()


@cache
def study_tables() -> StudyTables:
    """The tables by their keys. A row belongs where a key that it can't be without leads; where all may be empty,
    wherever one of them leads, unless that one is emptied as what it names goes (`SET_NULL`)."""
    known: dict[Model, list[str]] = {Study: [""]}
    levels: list[dict[Model, list[str]]] = []
    staying: set[Model] = set()
    while True:
        level: dict[Model, list[str]] = {}
        for model in apps.get_models(include_auto_created=True):
            if model in known or model._meta.proxy or not model._meta.managed:
                continue
            keys = _keys(model, known)
            needed = [key for key in keys if not key.null][:1]
            if not needed:
                needed = [key for key in keys if key.remote_field.on_delete is not models.SET_NULL]
            if paths := _paths(needed, known):
                level[model] = paths
            elif keys:
                staying.add(model)
        if not level:
            break
        levels.append(level)
        known |= level
    return StudyTables(
        levels,
        {
            model: {key.name: _paths([key], known) for key in _keys(model, known)}
            for model in staying
            if model not in known
        },
    )


def _keys(model: Model, known: dict[Model, list[str]]) -> list[Any]:
    fields = model._meta.concrete_fields
    return [field for field in fields if field.is_relation and field.related_model in known]


def _paths(keys: list[Any], known: dict[Model, list[str]]) -> list[str]:
    return [f"{key.name}__{path}" if path else key.name for key in keys for path in known[key.related_model]]


def _rows(model: Model, paths: list[str], study: Study) -> models.QuerySet[Any]:
    mine = Q()
    for path in paths:
        mine |= Q(**{path: study.pk})
    return model._default_manager.filter(mine).order_by()


def _owned(study: Study) -> Iterator[models.QuerySet[Any]]:
    yield Study.objects.filter(pk=study.pk)
    for level in study_tables().levels:
        for model, paths in level.items():
            yield _rows(model, paths, study)


def _imports_of(study: Study) -> set[int]:
    """The files that it or anything in it was read from."""
    return {
        dump
        for rows in _owned(study)
        for key in rows.model._meta.concrete_fields
        if key.is_relation and key.related_model is Import
        for dump in rows.exclude(**{key.name: None}).values_list(key.attname, flat=True).distinct()
    }


def _delete_history(study: Study) -> None:
    """Delete every line about the study or about something in it."""
    logged = set(LogEntry.objects.order_by().values_list("content_type", flat=True).distinct())
    for rows in _owned(study):
        kind = ContentType.objects.get_for_model(rows.model).pk
        if kind not in logged:
            continue
        lines = LogEntry.objects.filter(content_type=kind).order_by()
        told = list(lines.values_list("object_id", flat=True).distinct())
        for start in range(0, len(told), CHUNK):
            gone = rows.filter(pk__in=told[start : start + CHUNK]).values_list("pk", flat=True)
            lines.filter(object_id__in=[str(pk) for pk in gone]).delete()
