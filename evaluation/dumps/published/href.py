"""HREF: pairs of responses that people judged, judges' annotations of them, and models' results against a baseline.

Repository allenai/href. Its data sets are `href_preference` (the human agreement set) and `href` (the development set),
a Parquet file `dev-...` each; `.jsonl` of the same columns is read, too. Its scripts write annotations in the manner of
AlpacaEval: `human_agreement_analysis/CATEGORY/ANNOTATOR/annotations.json` of the agreement set and
`MODEL/CATEGORY/ANNOTATOR/annotations.json` of the others, below a folder of results that the script is given. No name
of these tells the set, but results of both sets would overwrite each other in one folder, so each set has its own
(`results` by default; the repository ignores a `results_dev`, too). A preference is 1 or 2 for the output that is
better, 0 (or 1.5) for a tie, null where the judge's reply could not be read.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.dumps.release import (
    ConversionResult,
    Record,
    Release,
    ResponseKeys,
    check_entries,
    load_json_lines,
    load_json_list,
    short_key,
    study_record,
    wrong_types,
)
from evaluation.dumps.tables.readers.arrow_rows import read_parquet
from evaluation.refusals import Refused

AGREEMENT, DEVELOPMENT, PRIVATE = "agreement", "dev", "private"
# The arm of results of two sets, whose leaderboards are compared; results of one set have its own.
RESULTS = "results"
ARMS = {
    AGREEMENT: "Human agreement set",
    DEVELOPMENT: "Development set",
    PRIVATE: "Evaluation set",
    RESULTS: "Results of models",
}
# In the order of the repository's scripts; the last three are in the evaluation set alone.
CATEGORIES = (
    "Generation", "Open QA", "Brainstorm", "Rewrite", "Summarize", "Classify", "Closed QA", "Extract",
    "Reasoning Over Numerical Data", "Multi-Document Synthesis", "Fact Checking or Attributed QA",
)  # fmt: skip
EVALUATION_ONLY = frozenset(CATEGORIES[8:])
JUDGED_FILE, OF_PEOPLE = "annotations.json", "human_agreement_analysis"
# What a script makes on its way to a folder per category.
INTERMEDIATE = "_aggregated"
TABLES = (".parquet", ".jsonl")
# By what an annotation says: the place of the output that is better, None for a tie.
LABELS: Mapping[float, int | None] = {0: None, 1: 0, 1.5: None, 2: 1}
MAX_SYSTEM, MAX_PSEUDONYM, MAX_LABEL = 80, 60, 120


@dataclass(frozen=True)
class JudgeFile:
    """One annotator on one category: of the agreement set, or of a model's responses (`model`) to the set `split`."""

    model: str
    category: str
    annotator: str
    entries: Sequence[Record]
    split: str


@dataclass(frozen=True)
class HrefFiles:
    """The rows of both sets, and the files of annotations, as they are released."""

    agreement: Sequence[Record] = ()
    development: Sequence[Record] = ()
    judged: Sequence[JudgeFile] = ()
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def results_splits(self) -> tuple[str, ...]:
        """The sets that models' results are of, one or both."""
        found = {each.split for each in self.judged if each.model}
        return tuple(split for split in (PRIVATE, DEVELOPMENT) if split in found)


def slug_of(category: str) -> str:
    """A category as folders and results name it."""
    return category.lower().replace(" ", "_")


NAMES = {slug_of(name): name for name in CATEGORIES}


def read_files(path: Path) -> HrefFiles:
    """The parts of HREF at `path`, a table or a folder with tables and results; Refused, with the place of each fault,
    where one has another form."""
    tables = [path] if path.is_file() else sorted(_tables(path))
    sets: dict[str, list[Record]] = {AGREEMENT: [], DEVELOPMENT: []}
    for table in tables:
        rows = _rows(table)
        by_people = bool(rows) and "annotations" in rows[0]
        check_entries(rows, _describe_pair if by_people else _describe_baseline, of=str(table))
        sets[AGREEMENT if by_people else DEVELOPMENT] += rows
    left_out: Counter[str] = Counter()
    files = sorted(path.rglob(JUDGED_FILE)) if path.is_dir() else []
    files = [file for file in files if not _is_intermediate(file)]
    of_evaluation = {
        _results_folder(file) for file in files if _model(file) and _category(file) in EVALUATION_ONLY
    }
    judged = [_judge_file(file, of_evaluation, left_out) for file in files]
    if not sets[AGREEMENT] and not judged:
        raise Refused(
            f"{path} has neither HREF's human agreement set (a table with annotations) nor {JUDGED_FILE} "
            "of its scripts."
        )
    return HrefFiles(sets[AGREEMENT], sets[DEVELOPMENT], judged, left_out)


def _tables(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("dev*") if file.suffix in TABLES and file.is_file())


def _rows(path: Path) -> list[Record]:
    if path.suffix == ".jsonl":
        return load_json_lines(path.parent, path.name, lambda row: "")
    if path.suffix != ".parquet":
        raise Refused(f"{path.name} is neither Parquet nor JSON lines.")
    found = read_parquet(path.read_bytes())
    return [dict(zip(found.names or (), cells, strict=True)) for _, cells in found.rows]


def _is_intermediate(file: Path) -> bool:
    return file.parent.parent.name.endswith(INTERMEDIATE)


def _category(file: Path) -> str:
    name = file.parent.parent.name
    return NAMES.get(name, name.replace("_", " ").capitalize())


def _model(file: Path) -> str:
    """Empty for annotations of the agreement set."""
    name = file.parent.parent.parent.name
    return "" if name == OF_PEOPLE else name


def _results_folder(file: Path) -> Path:
    """The folder with a folder per model: all in it is of one set, and only the evaluation set has some categories."""
    return file.parent.parent.parent.parent


def _judge_file(file: Path, of_evaluation: Container[Path], left_out: Counter[str]) -> JudgeFile:
    """A file that a script filled with several categories at once is read for its own."""
    entries = load_json_list(file)
    check_entries(entries, _describe_judged, of=str(file))
    category = _category(file)
    own = [each for each in entries if each.get("dataset") in (None, f"href_{category}")]
    if len(own) < len(entries):
        left_out["annotations in the folder of another category, left out"] += len(entries) - len(own)
    model = _model(file)
    split = PRIVATE if _results_folder(file) in of_evaluation else DEVELOPMENT
    return JudgeFile(model, category, file.parent.name, own, split if model else AGREEMENT)


def _describe_pair(row: Record) -> str:
    texts = ("category", "instruction", "generator_a", "output_a", "generator_b", "output_b")
    if wrong := wrong_types(row, **dict.fromkeys(texts, str), annotations=list, annotaters=list):
        return wrong
    if row["generator_a"] == row["generator_b"]:
        return f"both outputs are by {row['generator_a']!r}"
    if not row["annotations"] or len(row["annotations"]) != len(row["annotaters"]):
        return "annotations and annotaters are not as many"
    if any(type(each) is not int or each not in (0, 1, 2) for each in row["annotations"]):
        return f"annotations are {row['annotations']!r:.80} and not of 0, 1 and 2"
    return ""


def _describe_baseline(row: Record) -> str:
    return wrong_types(row, category=str, instruction=str, output=str, generator=str)


def _describe_judged(entry: Record) -> str:
    texts = ("instruction", "generator_1", "output_1", "generator_2", "output_2")
    if wrong := wrong_types(entry, **dict.fromkeys(texts, str)):
        return wrong
    if entry["generator_1"] == entry["generator_2"]:
        return f"both outputs are by {entry['generator_1']!r}"
    preference = entry.get("preference", "")
    if preference is not None and (type(preference) not in (int, float) or preference not in LABELS):
        return f"the preference must be 0, 1, 1.5, 2 or null, and is {preference!r:.80}"
    return ""


# --- records ----------------------------------------------------------------------------------------------------------


def read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    return _Conversion(read_files(path)).result()


class _Conversion:
    """Items by their set, instruction and systems; what was said of the same pair comes together."""

    def __init__(self, files: HrefFiles) -> None:
        self.files = files
        self.converted = ConversionResult(study_record("pairwise", "HREF", "markdown"))
        self.converted.counted |= files.left_out
        self.keys = ResponseKeys()
        self.queries: dict[tuple[str, str], Record] = {}
        self.items: list[Record] = []
        self.known: dict[tuple[str, str, frozenset[str]], Record] = {}
        self.people: dict[str, str] = {}
        self.baselines = {row["instruction"]: row for row in files.development}
        self.several = len(files.results_splits) > 1
        self.written_by = {
            entry["generator_1"]: str(row["generator"])
            for file in files.judged
            if file.split == DEVELOPMENT
            for entry in file.entries
            if (row := self._own_baseline(entry))
        }

    def result(self) -> ConversionResult:
        for row in self.files.agreement:
            self._judged_by_people(row)
        for file in self.files.judged:
            for entry in file.entries:
                self._judged_by(file, entry)
        converted, items = self.converted, self.items
        converted.items = items
        used = dict.fromkeys(item["arm"] for item in items)
        converted.study["spec"]["arms"] = [_arm(key) for key in used]
        common = set.intersection(*(_systems(item) for item in items))
        if len(common) == 1:
            converted.study["spec"]["baseline"] = common.pop()
        converted.counted |= Counter({"items": len(items), "queries": len(self.queries)})
        return converted

    def _judged_by_people(self, row: Record) -> None:
        item = self._item(
            AGREEMENT, row["category"], row["instruction"], row.get("reference"),
            [(row[f"generator_{side}"], row[f"output_{side}"]) for side in "ab"],
        )  # fmt: skip
        shown = [short_key(row[f"generator_{side}"], MAX_SYSTEM) for side in "ab"]
        names: list[str] = []
        for each, label in zip(row["annotaters"], row["annotations"], strict=True):
            # Their names on the platform are no concern of a study.
            name = self.people.setdefault(str(each), f"annotator {len(self.people) + 1}")
            while name in names:
                name = f"{name}, again"
                self.converted.counted["annotators who stand twice with a pair, read as two"] += 1
            names.append(name)
            item["judgments"].append(
                {
                    "rater": name.replace(", ", "-").replace(" ", "-"),
                    "label": name,
                    "kind": "person",
                    "answers": {"preference": _label(item, shown, label)},
                }
            )

    def _judged_by(self, file: JudgeFile, entry: Record) -> None:
        split = file.split
        generators = [self._baseline_of(entry, split), entry["generator_2"]]
        shown = [short_key(each, MAX_SYSTEM) for each in generators]
        known = (split, entry["instruction"], frozenset(shown))
        if not file.model and known not in self.known:
            self.converted.counted["annotations of pairs that are not in the agreement set, left out"] += 1
            return
        texts = [(each, entry[f"output_{at}"]) for at, each in enumerate(generators, 1)]
        reference = self.baselines.get(entry["instruction"], {}).get("reference") if file.model else None
        item = self.known.get(known) or self._item(
            split, file.category, entry["instruction"], reference, texts
        )
        rater = short_key(file.annotator, MAX_PSEUDONYM)
        judgment: Record = {"rater": rater, "label": file.annotator[:MAX_LABEL], "kind": "judge"}
        if replicate := sum(each["rater"] == rater for each in item["judgments"]):
            judgment["replicate"] = replicate
            self.converted.counted["repeated annotations, read as replicates"] += 1
        if entry["preference"] is None:
            self.converted.counted["failed judgments"] += 1
            item["judgments"].append(judgment | {"outcome": "failed"})
        else:
            label = _label(item, shown, entry["preference"])
            item["judgments"].append(judgment | {"answers": {"preference": label}})

    def _baseline_of(self, entry: Record, split: str) -> str:
        """The script calls every baseline by one name; the development set knows who wrote its own, and the same model
        wrote the evaluation set's (section 4.1)."""
        named = str(entry["generator_1"])
        if split == AGREEMENT:
            return named
        if row := self._own_baseline(entry):
            return str(row["generator"])
        return self.written_by.get(named, named) if split == PRIVATE else named

    def _own_baseline(self, entry: Record) -> Record | None:
        """The row of the development set whose response the annotation compares with."""
        row = self.baselines.get(entry["instruction"])
        return row if row is not None and row["output"] == entry["output_1"] else None

    def _item(
        self,
        split: str,
        category: str,
        instruction: str,
        reference: str | None,
        written: Sequence[tuple[str, str]],
    ) -> Record:
        number = len(self.queries) + 1
        query = self.queries.setdefault(
            (split, instruction),
            {"key": f"{split}-{number:04}", "text": instruction, "category": category, "split": split}
            | {"source": "HREF"}
            | ({"references": [reference]} if reference else {}),
        )
        responses = [
            {"system": system, "key": self.keys.key(query["key"], system, text), "text": text}
            for system, text in ((short_key(generator, MAX_SYSTEM), text) for generator, text in written)
        ]
        item = {
            "key": f"{query['key']}-{len(self.items) + 1:05}",
            "arm": RESULTS if self.several and split != AGREEMENT else split,
            "query": query,
            "responses": sorted(responses, key=lambda each: each["system"]),
            "judgments": [],
        }
        self.items.append(item)
        self.known.setdefault((split, instruction, frozenset(_systems(item))), item)
        return item


def _arm(key: str) -> Record:
    return {"key": key, "label": ARMS[key], "context_at_generation": False, "context_at_judging": False}


def _systems(item: Record) -> set[str]:
    return {each["system"] for each in item["responses"]}


def _label(item: Record, shown: Sequence[str], said: float) -> str:
    """In canonical order, which is that of the systems' names."""
    place = LABELS[said]
    if place is None:
        return "tie"
    return f"r{1 + [each['system'] for each in item['responses']].index(shown[place])}"


RELEASE = Release("href", read)
