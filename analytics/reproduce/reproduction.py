"""A reproduction: what one release and its paper publish, and how each of it is computed."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from analytics.reproduce.published_tables import PublishedTable, ReproducedRelease
from analytics.reproduce.release_input import ReleaseInput


class Reproduction(ABC):
    """One release. `key` is its name in the command and among `evaluation.dumps.RELEASES`; `missing` are sentences on
    what the paper has and the files cannot give, `figures` those of the report that are read: no others are computed.
    """

    key: ClassVar[str]
    paper: ClassVar[str]
    missing: ClassVar[tuple[str, ...]] = ()
    figures: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def tables(self, given: ReleaseInput) -> Iterable[PublishedTable]:
        """The paper's tables in its order, ours beside them."""

    def compute(self, given: ReleaseInput) -> ReproducedRelease:
        return ReproducedRelease(self.key, self.paper, tuple(self.tables(given)), self.missing)
