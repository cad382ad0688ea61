"""Shares of the codes that models gave to the study's queries or texts, as every report has them."""

from collections.abc import Iterable

import numpy as np

from analytics.figures.document import CodeList, CodingRecord
from analytics.frames.arrays import StudyItems
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.texts.code_shares import code_shares
from evaluation import design
from evaluation.extension import Coding, extensions
from evaluation.models import Study

QUERIES, TEXTS = "queries", "texts"


def codings_of(study: Study) -> list[Coding]:
    """Codes of the study's queries and texts that the other apps know."""
    return [coding for each in extensions() for coding in each.codings(study)]


def codings_record(study: Study, items: StudyItems, codings: Iterable[Coding]) -> list[CodingRecord]:
    """A record per coding of one of the items' queries, or of a text for it."""
    return [record for coding in codings if (record := _record(study, items, coding))]


def _record(study: Study, items: StudyItems, coding: Coding) -> CodingRecord | None:
    place = {key: at for at, key in enumerate(items.queries)}
    rows = [row for row in coding.rows() if row.query in place]
    if not rows:
        return None
    names, system = np.unique(np.array([row.system for row in rows], dtype=object), return_inverse=True)
    systems = [str(name) for name in names]
    query = np.array([place[row.query] for row in rows], dtype=np.int64)
    unit = TEXTS if any(systems) else QUERIES
    resample = ResampleSpec(design.derived_seed(study.seed, "report", "codes", coding.key))
    lists: list[CodeList] = []
    for name, codes in coding.lists.items():
        given = [row.codes.get(name, ()) for row in rows]
        shares = code_shares(given, codes, system, query, systems=len(systems), resample=resample, unit=unit)
        several = any(len(each) > 1 for each in given)
        lists.append({"list": name, "several": several, "codes": plain(shares)})
    return {
        "key": coding.key,
        "title": coding.title,
        "by": coding.by,
        "queries": len(np.unique(query)),
        "systems": systems,
        "lists": lists,
    }
