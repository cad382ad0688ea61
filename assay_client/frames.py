"""Records as a table of pandas, where it is installed."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def to_frame(judgments: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """A row per answer of judgments, with the judgment's own columns; a row without an answer where it has none."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for judgment in judgments:
        own = {
            name: value for name, value in judgment.items() if name not in ("answers", "excluded", "trace")
        }
        own["excluded"] = bool(judgment["excluded"])
        rows += [own | answer for answer in judgment["answers"]] or [own]
    return pd.DataFrame(rows)
