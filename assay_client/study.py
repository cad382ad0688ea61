"""One study: what is read of it, and what is done to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from assay_client.uploads import send_file

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

    def progress(self) -> Record:
        """How far it is, and what of it waits for a member."""
        found: Record = self.client.get(self.at("progress/"))
        return found

    def participants(self, **filters: Any) -> Iterator[Record]:
        """Who takes part; with `expand="signs"` also what of their work somebody should look at."""
        return self.client.pages(self.at("participants/"), **filters)

    def quality(self) -> Iterator[Record]:
        """Each participant's care, in figures."""
        return self.client.pages(self.at("quality/"))

    def exclusions(self, **filters: Any) -> Iterator[Record]:
        """What was excluded, and what of that was undone; with `standing=True` the former alone."""
        return self.client.pages(self.at("exclusions/"), **filters)

    def flags(self) -> Iterator[Record]:
        """Items that somebody reported or many skipped."""
        return self.client.pages(self.at("flags/"))

    def jobs(self, **filters: Any) -> Iterator[Record]:
        return self.client.pages(self.at("jobs/"), **filters)

    # --- a draft ------------------------------------------------------------------------------------------------------

    def design(self) -> Record:
        """Its `spec` and `rules`, as on the first line of a dump."""
        found: Record = self.client.get(self.at("design/"))
        return found

    def change_design(self, *, spec: Record | None = None, rules: Record | None = None) -> Record:
        """Change these parts; of a running study rules alone."""
        found: Record = self.client.patch(self.at("design/"), {"spec": spec or {}, "rules": rules or {}})
        return found

    def import_items(self, file: Path | bytes, *, name: str = "", **wanted: Any) -> Record:
        """Put a file's items in place of those that a draft has, and return the job that did."""
        return self.client.wait_for(self.client.begin_import(self.at("imports/"), file, name, wanted))

    def add_queries(self, queries: Sequence[Record]) -> Record:
        """Add queries to a draft, for pipelines to generate from."""
        return self._act("queries", {"queries": list(queries)})

    def entry_rules(self) -> Record:
        """Who may take part, by how they fared in other studies."""
        found: Record = self.client.get(self.at("entry-rules/"))
        return found

    def set_entry_rules(self, rules: Sequence[Record], reason: str) -> Record:
        """Replace them; each has `kind`, `study` and `outcome`."""
        found: Record = self.client.put(self.at("entry-rules/"), {"rules": list(rules), "reason": reason})
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

    def revise(self, spec: Record, reason: str = "", *, preview: bool = False) -> Record:
        """Give it a revision with these parts changed, once; with `preview` say what would change."""
        body = {"spec": spec, "reason": reason, "preview": preview}
        found: Record = self.client.post(self.at("revisions/"), body, once=True)
        return found

    def add_items(self, items: Sequence[Record], **wanted: Any) -> Record:
        """Add items, or a new `system`'s responses, to a running study; with `preview=True` count them alone."""
        return self._act("additions", {"items": list(items), **wanted})

    def add_items_of_file(self, file: Path | bytes, *, name: str = "", **wanted: Any) -> Record:
        """The job that has counted what a file would add, with its `preview`; `confirm` has it added."""
        return self.client.wait_for(send_file(self.client, self.at("additions/file/"), file, name, wanted))

    def confirm(self, job: Record) -> Record:
        """Have the items of a staged addition added."""
        return self.client.wait_for(self.client.post(f"jobs/{job['id']}/confirm/"))

    def withdraw_item(self, item: str, reason: str) -> Record:
        return self._act("withdrawals", {"item": item, "reason": reason})

    def bring_back_item(self, item: str, reason: str) -> Record:
        return self._act("withdrawals/undo", {"item": item, "reason": reason})

    def resolve_flag(self, flag: int, reason: str) -> Record:
        """Resolve a flag; the reason is what you found."""
        return self._act(f"flags/{flag}/resolve", {"reason": reason})

    def set_redundancy(self, redundancy: int, reason: str) -> Record:
        found: Record = self.client.put(self.at("redundancy/"), {"redundancy": redundancy, "reason": reason})
        return found

    def exclude(self, reason: str, **which: Any) -> Record:
        """Exclude a `rater` by pseudonym, or one `judgment` by id."""
        return self._act("exclusions", which | {"reason": reason})

    def undo_exclusion(self, exclusion: int, reason: str) -> Record:
        return self._act(f"exclusions/{exclusion}/undo", {"reason": reason})

    def recollect(self, reason: str) -> Record:
        """Open a slot for every excluded judgment that has none yet; once, though the answer be lost."""
        found: Record = self.client.post(self.at("replacements/"), {"reason": reason}, once=True)
        return found

    def settle_item(self, item: str, answers: Record, reason: str = "") -> Record:
        """Settle an item by your answers; without a reason it is the text that the form asks for."""
        given = {"reason": reason} if reason else {}
        return self._act("settled", {"item": item, "answers": answers, **given})

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

    def estimate_run(self, judge: int, **limits: Any) -> Record:
        """What a run would take, before anything is spent."""
        found: Record = self.client.get(self.at(f"judges/{judge}/estimate/"), **limits)
        return found

    def runs(self, **filters: Any) -> Iterator[Record]:
        return self.client.pages(self.at("runs/"), **filters)

    def pause_run(self, run: Record) -> Record:
        return self._act(f"runs/{run['id']}/pause", {})

    def resume_run(self, run: Record, **limits: Any) -> Record:
        """Resume it, with another `budget` if need be."""
        return self._act(f"runs/{run['id']}/resume", limits)

    def cancel_run(self, run: Record) -> Record:
        return self._act(f"runs/{run['id']}/cancel", {})

    def import_scores(self, judge: str, scores: Sequence[Record], measures: Sequence[Record] = ()) -> Record:
        """Take scores that a script has computed as the measures of a judge of this name."""
        return self._act("scores", {"judge": judge, "scores": list(scores), "measures": list(measures)})

    def import_scores_of_file(
        self, judge: str, file: Path | bytes, *, measure: str = "", name: str = "", **about: Any
    ) -> Record:
        """The same of a table, and the job that took it. `measure` names it where no column does, `name` the file;
        `direction`, `low` and `high` are the measure's."""
        wanted = {"judge": judge, **({"name": measure} if measure else {}), **about}
        return self.client.wait_for(send_file(self.client, self.at("scores/file/"), file, name, wanted))

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
