"""The demo items of a protocol, as a study of that protocol would freeze them; nothing is stored."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from evaluation.demo.studies import STUDIES
from evaluation.dumps.imports.items import ItemPreparer, expand_items
from evaluation.dumps.problems import LineInvalid
from evaluation.models import Item
from evaluation.protocols.base import Spec
from evaluation.services.studies.compilation import Markdown

Line = Mapping[str, Any]


def demo_items(spec: Spec, markdown: Markdown) -> tuple[dict[str, Any], list[Item]]:
    """The spec with the demo's arms and attributes, and the demo items that fit it, unsaved and with their stimuli.

    Of a study whose questions were changed some may not: they are left out. No demo is no items.
    """
    lines = _lines(spec["protocol"])
    if not lines:
        return dict(spec), []
    header, *records = lines
    fitted = {**spec, "arms": [{"label": arm["key"], **arm} for arm in header["spec"]["arms"]]}
    if "attributes" in header["spec"]:
        fitted["attributes"] = header["spec"]["attributes"]
    return fitted, list(_prepared(fitted, records, markdown))


def _prepared(spec: Spec, records: list[Line], markdown: Markdown) -> Iterator[Item]:
    preparer = ItemPreparer([spec], markdown)
    for record in records:
        for each in expand_items(record):
            try:
                prepared = preparer.prepare(each)
            except LineInvalid:
                continue
            item = prepared.item
            item.stimulus = prepared.stimulus
            yield item


@lru_cache(maxsize=32)
def _lines(protocol: str) -> list[Line]:
    """The demo study's line and those of its items; nothing where the protocol has no demo."""
    for demo in STUDIES:
        lines: list[Line] = [json.loads(line) for line in demo.items.read_text("utf-8").splitlines() if line]
        if lines[0]["spec"]["protocol"] == protocol:
            return lines
    return []
