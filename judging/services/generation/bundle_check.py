"""The generation's files of a bundle, checked: every prompt and product is there, and as its hash says."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from evaluation.canonical import canonical_hash
from evaluation.extension import BundleCheck, ReadBundle
from judging.generation.pipeline import SourceQuery, UnitFacts
from judging.generation.pipelines import PIPELINES
from judging.generation.prompts import OBJECT
from judging.services.generation.bundle_files import CALLS, FACTS, QUERIES, RUNS

MOST_NAMED = 20
# As long as the shortest word that is blacked out.
BLACKED_OUT = "x" * 8
STUDY = "study.jsonl"


def check_generation(read: ReadBundle) -> BundleCheck | None:
    """The outcome; None of a bundle that has no such files."""
    if (runs := read(RUNS)) is None:
        return None
    try:
        checked = _Checked(read, {each["run"]: each for each in map(orjson.loads, runs)})
        problems = [*checked.units(), *checked.items()]
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as wrong:
        return BundleCheck(
            [], [f"The files of the generation are not of the form that bundles have: {wrong!r}."]
        )
    if len(problems) > MOST_NAMED:
        problems = [*problems[:MOST_NAMED], f"And {len(problems) - MOST_NAMED:,} more."]
    said = f"Generation: {checked.n_prompts:,} prompts and {len(checked.products):,} products checked."
    return BundleCheck([said, *checked.notes()], problems)


class _Checked:
    def __init__(self, read: ReadBundle, runs: Mapping[int, Any]) -> None:
        self.read, self.runs = read, runs
        self.queries = {
            (each["study"], each["key"]): SourceQuery(**{name: each[name] for name in FACTS})
            for each in map(orjson.loads, self.read(QUERIES) or ())
        }
        self.n_prompts = 0
        self.products: set[int] = set()

    def notes(self) -> Iterator[str]:
        for pipeline, version in sorted({(each["pipeline"], each["version"]) for each in self.runs.values()}):
            here = PIPELINES[pipeline].version if pipeline in PIPELINES else None
            if here != version:
                yield (
                    f"The prompts of {pipeline} are of version {version}, here it is {here or 'not known'}: they are "
                    "not composed again."
                )

    def units(self) -> Iterator[str]:
        for line in self.read(CALLS) or ():
            unit = orjson.loads(line)
            name = f"{CALLS}: run {unit['run']}, {unit['step']} {unit['unit']} of {unit['query']}".replace(
                "  ", " "
            )
            for product in unit["products"]:
                self.products.add(product["product"])
                content = product["content"] if product["edited"] is None else product["edited"]
                if canonical_hash(content) != product["sha256"] and not _is_blacked_out(content):
                    yield f"{name}: product {product['product']} was changed: its sha256 is another."
            # Of a unit that was read from a file, or whose run goes on from another's products, no call is known.
            if unit["model"] and "raw" in unit:
                self.n_prompts += 1
                if wrong := self._wrong_prompt(unit):
                    yield f"{name}: {wrong}"

    def _wrong_prompt(self, unit: Any) -> str:
        run = self.runs.get(unit["run"])
        if run is None:
            return f"its run is not in {RUNS}."
        current = run["pipeline"] in PIPELINES and PIPELINES[run["pipeline"]].version == run["version"]
        if unit["messages"] is None:
            return "its prompt is missing." if current else ""
        if _is_blacked_out(unit["messages"]):
            return ""
        if canonical_hash(unit["messages"]) != unit["prompt_sha256"]:
            return "its prompt was changed: its sha256 is another."
        query = self.queries.get((unit["study"], unit["query"]))
        if query is None:
            return f"its query is not in {QUERIES}."
        if current and _composed(run, query, unit) != _said(unit["messages"]):
            return "its prompt is not the one that this version makes of its query."
        return ""

    def items(self) -> Iterator[str]:
        """The products that items name and that are not there."""
        own = {each["study"] for each in self.runs.values()}
        lines = iter(self.read(STUDY) or ())
        study = orjson.loads(next(lines))
        if study.get("origin", {}).get("study") not in own:
            return
        for line in lines:
            item = orjson.loads(line)
            missing = [pk for pk in (item.get("origin") or {}).get("products", ()) if pk not in self.products]
            if missing:
                names = ", ".join(map(str, missing))
                yield f"{STUDY}: item {item['key']} was made of product {names}, which is not in {CALLS}."


def _composed(run: Any, query: SourceQuery, unit: Any) -> str:
    step = PIPELINES[run["pipeline"]].step(unit["step"])
    prompt = step.prompt(UnitFacts(query, unit["unit"], unit["about"], run["options"]))
    return "\n\n".join(filter(None, [prompt.system, prompt.user]))


def _said(messages: Any) -> str:
    """The texts of the messages around the turns before, which stand between them."""
    texts = [each["content"] for each in messages if each["role"] == "system"] + [messages[-1]["content"]]
    return "\n\n".join(texts).partition(f"\n\n{OBJECT}")[0]


def _is_blacked_out(value: Any) -> bool:
    return BLACKED_OUT in orjson.dumps(value).decode()
