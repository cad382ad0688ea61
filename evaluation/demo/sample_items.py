"""Items of the demo studies, to show what a study's form looks like before it has items of its own."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from evaluation.demo.studies import STUDIES
from evaluation.dumps.imports.items import ItemCheck, ItemPreparer, expand_items
from evaluation.models import Role
from evaluation.protocols.base import Spec, arm_of
from evaluation.rendering.markdown import render_markdown

Record = Mapping[str, Any]
# What belongs to the demo study, whose questions may be other ones.
OF_THE_DEMO = ("gold", "judgments", "start_order", "stimulus_hash")


def sample_item(spec: Spec, arm: str) -> ItemCheck | None:
    """A demo item of the spec's protocol in one of its arms, checked by its questions; None where there is none."""
    with_context = bool(arm_of(spec, arm)["context_at_judging"])
    records = _main_records(spec["protocol"])
    fitting = [each for each in records if bool(each.get("context")) == with_context]
    chosen = next(iter([*fitting, *records]), None)
    if chosen is None:
        return None
    return ItemPreparer([spec], render_markdown).examine({**chosen, "arm": arm})


@lru_cache(maxsize=16)
def _main_records(protocol: str) -> tuple[Record, ...]:
    found: list[Record] = []
    for study in STUDIES:
        header, *lines = study.items.read_bytes().splitlines()
        if orjson.loads(header)["spec"]["protocol"] != protocol:
            continue
        for line in lines:
            record = orjson.loads(line)
            if record.get("role", Role.MAIN) == Role.MAIN:
                found += expand_items({key: value for key, value in record.items() if key not in OF_THE_DEMO})
    return tuple(found)
