"""One study: what is read of it, and what is done to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from assay_client.client import Client

Record = dict[str, Any]
# Of a run that has ended, or stands still until somebody does something.
RESTING = ("complete", "stopped", "paused", "cancelled")


@dataclass(frozen=True)
class Study:
    """A study by its slug. Each method is an operation of docs/api.md, with its parameters."""

    client: "Client"
    slug: str

    def at(self, path: str = "") -> str:
        return f"studies/{self.slug}/{path}"

    # --- read ---------------------------------------------------------------------------------------------------------

    def details(self) -> Record:
        found: Record = self.client.get(self.at())
        return found

    def items(self, **filters: Any) -> Iterator[Record]:
        """Its items; with `expand="stimulus"` as people see them."""
        return self.client.pages(self.at("items/"), **filters)

    def raters(self, **filters: Any) -> Iterator[Record]:
        return self.client.pages(self.at("raters/"), **filters)

    def judgments(self, **filters: Any) -> Iterator[Record]:
        """Its judgments with their answers, by `rater`, `item`, `kind`, `outcome` or `since` an id."""
        return self.client.pages(self.at("judgments/"), **{"page_size": 500, **filters})

    def report(self, **view: Any) -> Record:
        """Its figures as they are now, awaited where they are not computed yet."""
        found: Record = self.client.awaited(self.at("report/"), **view)
        return found

    # --- from draft to figures ----------------------------------------------------------------------------------------

    def check(self) -> Record:
        """All that a draft lacks for its launch."""
        found: Record = self.client.get(self.at("check/"))
        return found

    def launch(self, *, confirm: bool = False) -> None:
        """Launch it, and wait until it is live."""
        job = self.client.post(self.at("launch/"), {"confirm": confirm})["job"]
        if job is not None:
            self.client.wait_for(job)

    def pause(self, reason: str) -> Record:
        return self._act("pause", {"reason": reason})

    def resume(self) -> Record:
        return self._act("resume", {})

    def close(self, reason: str) -> Record:
        return self._act("close", {"reason": reason})

    def reopen(self, reason: str) -> Record:
        return self._act("reopen", {"reason": reason})

    def withdraw_item(self, item: str, reason: str) -> Record:
        return self._act("withdrawals", {"item": item, "reason": reason})

    def set_redundancy(self, redundancy: int, reason: str) -> Record:
        found: Record = self.client.put(self.at("redundancy/"), {"redundancy": redundancy, "reason": reason})
        return found

    def exclude(self, reason: str, **which: Any) -> Record:
        """Exclude a `rater` by pseudonym, or one `judgment` by id."""
        return self._act("exclusions", which | {"reason": reason})

    # --- judges -------------------------------------------------------------------------------------------------------

    def judges(self) -> Iterator[Record]:
        """Its judges, each version a judge of its own."""
        return self.client.pages(self.at("judges/"))

    def create_judge(self, name: str, **settings: Any) -> Record:
        return self._act("judges", {"name": name, **settings})

    def start_run(self, judge: int, **limits: Any) -> Record:
        """Start a run of a judge, within `budget`, `max_items` and so on; once, though the answer be lost."""
        found: Record = self.client.post(self.at("runs/"), {"judge": judge, **limits}, once=True)
        return found

    def wait_for_run(self, run: Record, *, every: float = 2.0) -> Record:
        """The run once it rests: complete, stopped, paused or cancelled."""
        while run["state"] not in RESTING:
            self.client.sleep(every)
            run = self.client.get(self.at(f"runs/{run['id']}/"))
        return run

    # --- files --------------------------------------------------------------------------------------------------------

    def export(self, format: str, file: Path | str) -> Path:
        """Have it written in a format, and fetch the file."""
        job = self.client.wait_for(self.client.post(self.at("exports/"), {"format": format}, once=True))
        return self.client.download(f"jobs/{job['id']}/file/", file)

    def report_file(self, path: str, file: Path | str, **view: Any) -> Path:
        """One file of the report: a table, LaTeX, BibTeX; a plot or the zip once they are made."""
        return self.client.download(self.at("report/file/"), file, {"path": path, **view})

    def bundle(self, file: Path | str) -> Path:
        """Have the replication bundle written, unless it is of the study as it is now, and fetch it."""
        found = self.client.get(self.at("bundle/"))
        if not found["current"]:
            found = self.client.post(self.at("bundle/"))
        while found["state"] in ("queued", "running"):
            self.client.sleep(2.0)
            found = self.client.get(self.at("bundle/"))
        return self.client.download(self.at("bundle/file/"), file)

    def item(self, key: str) -> Record:
        found: Record = self.client.get(self.at(f"items/{quote(key, safe='')}/"))
        return found

    def _act(self, path: str, body: Record) -> Record:
        found: Record = self.client.post(self.at(f"{path}/"), body)
        return found
