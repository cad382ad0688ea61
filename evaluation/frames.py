"""From rows to the arrays that analytics take: one frame per study, one group of raters at a time.

Columns come straight from the database (COPY on PostgreSQL), so that a million judgments are a matter of seconds and
of some hundred megabytes.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.csv
from django.db import connection
from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Length

from evaluation.analytics.tidy import MISSING, UNKNOWN_ORDER, Checks, Items, Judgments
from evaluation.models import Answer, Item, Rater, Role, Study
from evaluation.protocols import Kind
from evaluation.selectors import counting_judgments

CHUNK = 50_000
LABELS = {"r1": 0, "r2": 1, "tie": 2}
# Key and kind of the group of all judges, whose members are groups of their own too.
JUDGES = "judges"


@dataclass(frozen=True)
class Readings:
    """A group's judgments before replicates are reduced: what position bias is computed on."""

    item: npt.NDArray[np.int32]
    label: npt.NDArray[np.int8]
    first: npt.NDArray[np.int8]


@dataclass(frozen=True)
class Group:
    """Raters who are read together: all people, all simulated raters, all judges, or one judge."""

    key: str
    label: str
    kind: str
    judgments: Judgments
    readings: Readings
    checks: Checks | None


@dataclass(frozen=True)
class StudyFrame:
    """A pairwise study as arrays."""

    items: Items
    groups: tuple[Group, ...]


def pairwise_frame(study: Study) -> StudyFrame:
    """The study's main items that are not withdrawn, and the counting judgments of each group of raters."""
    items, row_of = _items(study)
    rows = _preferences(study)
    rows = rows[rows["item"].isin(row_of.index)]
    rows["item"] = row_of.loc[rows["item"].to_numpy()].to_numpy()
    raters = {
        pk: (pseudonym, label, kind)
        for pk, pseudonym, label, kind in Rater.objects.filter(study=study).values_list(
            "pk", "pseudonym", "label", "kind"
        )
    }
    checks = _checks(study)
    groups = [
        _group(key, label, kind, rows[rows["rater"].isin(members)], raters, checks)
        for key, label, kind, members in _memberships(raters)
    ]
    return StudyFrame(items, tuple(group for group in groups if len(group.judgments)))


def _memberships(raters: dict[int, tuple[str, str, str]]) -> Iterator[tuple[str, str, str, list[int]]]:
    """People together, simulated raters together and apart from people, judges together and each alone."""
    for kind, label in (("person", "People"), ("simulated", "Simulated raters")):
        members = [pk for pk, (_, _, each) in raters.items() if each == kind]
        if members:
            yield kind, label, kind, members
    judges = [pk for pk, (_, _, kind) in raters.items() if kind == Rater.Kind.JUDGE]
    if len(judges) > 1:
        yield JUDGES, "Judges together", JUDGES, judges
    for pk in judges:
        pseudonym, label, kind = raters[pk]
        yield pseudonym, label or pseudonym, str(kind), [pk]


def _items(study: Study) -> tuple[Items, "pd.Series[int]"]:
    def response(number: int, key: str) -> KeyTextTransform:
        return KeyTextTransform(key, KeyTransform(number, KeyTransform("responses", "stimulus")))

    queryset = (
        Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
        .exclude(stimulus_hash="")
        .annotate(
            system_1=response(0, "system"),
            system_2=response(1, "system"),
            length_1=Length(response(0, "text")),
            length_2=Length(response(1, "text")),
        )
        .order_by("pk")
    )
    names = [
        "pk",
        "key",
        "query__key",
        "arm__key",
        "query__category",
        "system_1",
        "system_2",
        "length_1",
        "length_2",
    ]
    table = _columns(queryset, names)
    query, queries = _codes(table["query__key"])
    # In the study's own order: the first arm is what the others are compared with.
    arms = tuple(study.arms.values_list("key", flat=True))
    arm = table["arm__key"].map({key: code for code, key in enumerate(arms)}).to_numpy(dtype=np.int32)
    category, categories = _codes(table["query__category"])
    system_1, system_2, systems = _shared_codes(table["system_1"], table["system_2"])
    items = Items(
        key=table["key"].to_numpy(dtype=object),
        query=query,
        queries=queries,
        arm=arm,
        arms=arms,
        category=category,
        categories=categories,
        system_1=system_1,
        system_2=system_2,
        systems=systems,
        length_1=table["length_1"].fillna(0).to_numpy(dtype=np.int32),
        length_2=table["length_2"].fillna(0).to_numpy(dtype=np.int32),
    )
    return items, pd.Series(np.arange(len(table)), index=table["pk"].to_numpy(dtype=np.int64))


def _answers(study: Study, kind: Kind) -> QuerySet[Answer]:
    return Answer.objects.filter(kind=kind, judgment__in=counting_judgments(study))


def _preferences(study: Study) -> pd.DataFrame:
    queryset = _answers(study, Kind.PREFERENCE)
    names = ["judgment_id", "judgment__item_id", "judgment__rater_id", "label", "number", "judgment__shown"]
    table = _columns(queryset, names)
    label = table["label"].map(LABELS).fillna(MISSING).to_numpy(dtype=np.int8)
    shown = table["judgment__shown"].fillna("").map({"": UNKNOWN_ORDER, "r1,r2": 0, "r2,r1": 1})
    return pd.DataFrame(
        {
            "judgment": table["judgment_id"].to_numpy(dtype=np.int64),
            "item": table["judgment__item_id"].to_numpy(dtype=np.int64),
            "rater": table["judgment__rater_id"].to_numpy(dtype=np.int64),
            "label": label,
            "number": table["number"].to_numpy(dtype=np.float64),
            "first": shown.fillna(UNKNOWN_ORDER).to_numpy(dtype=np.int8),
        }
    )


def _checks(study: Study) -> pd.DataFrame:
    table = _columns(_answers(study, Kind.CHECKLIST), ["judgment_id", "part", "number"])
    part, parts = _codes(table["part"])
    follow_up = np.array([int(name.split(".")[0][1:]) - 1 for name in parts], dtype=np.int16)
    response = np.array([int(name.split(".")[1][1:]) - 1 for name in parts], dtype=np.int8)
    return pd.DataFrame(
        {
            "judgment": table["judgment_id"].to_numpy(dtype=np.int64),
            "follow_up": follow_up[part] if len(parts) else part.astype(np.int16),
            "response": response[part] if len(parts) else part.astype(np.int8),
            "value": table["number"].to_numpy(dtype=np.float64).astype(np.int8),
        }
    )


def _group(
    key: str,
    label: str,
    kind: str,
    rows: pd.DataFrame,
    raters: dict[int, tuple[str, str, str]],
    checks: pd.DataFrame,
) -> Group:
    readings = Readings(
        rows["item"].to_numpy(dtype=np.int32), rows["label"].to_numpy(), rows["first"].to_numpy()
    )
    reduced = reduce_replicates(rows)
    codes, used = pd.factorize(reduced["rater"], sort=True)
    judgments = Judgments(
        item=reduced["item"].to_numpy(dtype=np.int32),
        rater=codes.astype(np.int32),
        raters=tuple(raters[pk][0] for pk in used),
        label=reduced["label"].to_numpy(dtype=np.int8),
        number=reduced["number"].to_numpy(dtype=np.float64),
        first=reduced["first"].to_numpy(dtype=np.int8),
    )
    return Group(key, label, kind, judgments, readings, _group_checks(reduced, checks))


def _group_checks(rows: pd.DataFrame, checks: pd.DataFrame) -> Checks | None:
    """The checklists of these judgments; a reduced judge's stand under its first replicate."""
    position = pd.Index(rows["judgment"]).get_indexer(checks["judgment"])
    here = position >= 0
    if not here.any():
        return None
    chosen = checks[here]
    return Checks(
        judgment=position[here].astype(np.int32),
        follow_up=chosen["follow_up"].to_numpy(),
        response=chosen["response"].to_numpy(),
        value=chosen["value"].to_numpy(),
    )


def reduce_replicates(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per (rater, item): the rule `majority`.

    Of several replicates the most common label stands; without a unique one it is a tie. The probability is their
    mean; the order is unknown where the replicates differ in it.
    """
    repeated = rows.duplicated(["rater", "item"], keep=False)
    if not repeated.any():
        return rows
    merged = [_majority(group) for _, group in rows[repeated].groupby(["rater", "item"], sort=False)]
    return pd.concat([rows[~repeated], pd.DataFrame(merged)], ignore_index=True)


def _majority(replicates: pd.DataFrame) -> dict[str, Any]:
    counts = replicates["label"].value_counts()
    top = counts.index[counts == counts.iloc[0]]
    orders = replicates["first"].unique()
    first = replicates.iloc[0]
    return {
        "judgment": first["judgment"],
        "item": first["item"],
        "rater": first["rater"],
        "label": top[0] if len(top) == 1 else LABELS["tie"],
        "number": replicates["number"].mean(),
        "first": orders[0] if len(orders) == 1 else UNKNOWN_ORDER,
    }


def _codes(column: "pd.Series[Any]") -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    codes, names = pd.factorize(column.fillna("").to_numpy(dtype=object), sort=True)
    return codes.astype(np.int32), tuple(str(name) for name in names)


def _shared_codes(
    first: "pd.Series[Any]", second: "pd.Series[Any]"
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], tuple[str, ...]]:
    codes, names = _codes(pd.concat([first, second], ignore_index=True))
    return codes[: len(first)], codes[len(first) :], names


def _columns(queryset: QuerySet[Any], names: list[str]) -> pd.DataFrame:
    """The named columns of all rows."""
    selected = queryset.values_list(*names)
    if connection.vendor == "postgresql":
        return _copy(selected, names)
    frames = []
    iterator = selected.iterator(chunk_size=CHUNK)
    while chunk := [row for _, row in zip(range(CHUNK), iterator, strict=False)]:
        frames.append(pd.DataFrame(chunk, columns=names))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({name: [] for name in names})


def _copy(selected: QuerySet[Any], names: list[str]) -> pd.DataFrame:
    """The same through COPY, parsed by Arrow: several times faster than rows through Python."""
    sql, params = selected.query.sql_with_params()
    buffer = io.BytesIO()
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT csv)", params) as copy,
    ):
        for block in copy:
            buffer.write(block)
    if not buffer.tell():
        return pd.DataFrame({name: [] for name in names})
    buffer.seek(0)
    table = pyarrow.csv.read_csv(
        buffer,
        read_options=pyarrow.csv.ReadOptions(column_names=names),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=_arrow_types(names), strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _arrow_types(names: list[str]) -> dict[str, Any]:
    """Keys that look like numbers must stay text, and so must empty columns."""
    integers = {"pk", "judgment_id", "judgment__item_id", "judgment__rater_id", "length_1", "length_2"}
    return {
        name: pyarrow.int64()
        if name in integers
        else pyarrow.float64()
        if name == "number"
        else pyarrow.string()
        for name in names
    }
