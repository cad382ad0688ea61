"""Small dumps to read, and studies compared by everything that a dump carries."""

import io
from pathlib import Path
from typing import Any

import orjson

from evaluation.dumps.exports.study_export import export_study
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.models import Exclusion, Import, Item, Judgment, Rater, Study

ARM = {"key": "plain", "label": "Plain", "context_at_generation": False, "context_at_judging": False}
WITH_CONTEXT = {"key": "both", "label": "Both", "context_at_generation": True, "context_at_judging": True}
FOLLOW_UPS = [
    {"question": "For how many?", "answers": ["Two", "Six"], "answer": "Six"},
    {"question": "Any allergies?", "answers": ["None", "Nuts"], "answer": "None"},
]


def header(**changes: Any) -> dict[str, Any]:
    spec = {"protocol": "pairwise", "title": "Soups", "arms": [ARM, WITH_CONTEXT], **changes.pop("spec", {})}
    return {"assay": 1, "spec": spec, **changes}


def item(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "key": f"i{number}",
        "arm": "plain",
        "query": {"key": f"q{number}", "text": f"Which soup for {number}?"},
        "responses": [{"system": "aspen", "text": f"Leek, {number}"}, {"system": "birch", "text": "Pea"}],
        **changes,
    }


def context_item(number: int = 1, **changes: Any) -> dict[str, Any]:
    return item(number, arm="both", context={"key": "c", "follow_ups": FOLLOW_UPS}, **changes)


def judgment(rater: str = "ada", **changes: Any) -> dict[str, Any]:
    return {"rater": rater, "kind": "person", "answers": {"preference": "r1"}, **changes}


def with_judgments(*judgments: Any, number: int = 1) -> dict[str, Any]:
    return item(number, judgments=list(judgments))


def write(path: Path, *records: Any) -> Path:
    """A file of these lines; bytes stand as they are."""
    lines = [record if isinstance(record, bytes) else orjson.dumps(record) for record in records]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def read_in(path: Path, slug: str = "soups", **options: Any) -> Study:
    return import_dump(FileSource(path), slug=slug, **options)


def export_bytes(study: Study, format: str = "jsonl") -> bytes:
    out = io.BytesIO()
    export_study(study, format=format, out=out)
    return out.getvalue()


def nothing_left() -> bool:
    tables = (Study, Import, Item, Judgment, Rater, Exclusion)
    return not any(table.objects.exists() for table in tables)


def content(study: Study) -> dict[str, Any]:
    """Everything that must survive a round trip."""
    return {
        "hash": study.study_hash,
        "specs": list(study.revisions.values_list("spec_hash", flat=True)),
        "simulated": study.simulated,
        "rules": [getattr(study, name) for name in ("redundancy", "pay", "contact", "completion_codes")],
        "systems": list(study.systems.values_list("key", "label", "family", "kind").order_by("key")),
        "items": _items(study),
        "raters": list(
            study.raters.values_list("pseudonym", "kind", "source", "label", "in_figures", "about").order_by(
                "pseudonym"
            )
        ),
        "judgments": _judgments(study),
        "exclusions": sorted(
            study.exclusions.filter(undone_at=None).values_list(
                "rater__pseudonym", "judgment__rater__pseudonym", "judgment__item__key", "reason"
            ),
            key=str,
        ),
    }


def _items(study: Study) -> list[Any]:
    fields = (
        "key", "arm__key", "role", "query__key", "context__key", "clarifying_question", "clarifying_source", "gold",
        "stimulus_hash", "systems_key", "lengths", "start_order",
    )  # fmt: skip
    return list(study.items.values_list(*fields))


def _judgments(study: Study) -> list[Any]:
    return [
        (
            row.rater.pseudonym, row.item.key, row.revision.number, row.replicate, row.outcome, row.shown,
            row.surplus, row.duration_ms, row.visible_ms, row.judged_at and row.judged_at.date(), row.trace,
            sorted(row.answers.values_list("question", "part", "kind", "number", "label", "text"), key=str),
        )
        for row in study.judgments.select_related("rater", "item", "revision").order_by("pk")
    ]  # fmt: skip
