"""However a good dump is broken, it is either still good or refused with sentences; nothing else comes out."""

import copy
import random

import orjson
import pytest
from jsonschema import Draft202012Validator

from evaluation.dumps.imports.checker import DumpChecker
from evaluation.dumps.lines import parse_line
from evaluation.dumps.schemas import _sentence, load_schema, schema_problems
from evaluation.refusals import Refused
from tests.evaluation.dumps.build import context_item, header, item, judgment

ODD = [
    None, True, 0, -1, 1.5, 2**63, 10**18, "", "x", "r1", " ", "\u202e" * 200, [], [1], ["r1"], [[]], {}, {"a": 1},
    {"": None}, {"r1": [1]}, [{"a": {}}],
]  # fmt: skip
# More of them are worth it before a subject is closed.
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.audit) for seed in range(2, 5))]


class Records:
    """A source that is not a file."""

    name = "records"
    format = "records"
    unit = "line"

    def __init__(self, records):
        self.records = records
        self.total = len(records)

    def lines(self):
        for number, record in enumerate(self.records, 1):
            yield parse_line(orjson.dumps(record), number, number)

    def fingerprint(self):
        return ""

    def notes(self):
        return {}


def good():
    answers = {"preference": {"label": "r1", "number": 0.3}, "satisfied": {"f1.r1": 1}, "justification": "x"}
    full = judgment(
        answers=answers,
        excluded=[{"scope": "rater", "reason": "Too fast"}],
        trace={"a": 1},
        day="2024-01-01",
        shown=["r1", "r2"],
        duration_ms=5,
        visible_ms=4,
        revision=2,
    )
    first = header(
        rules={"pay": "1.50", "redundancy": 2, "completion_codes": {"completed": "X"}},
        systems=[{"key": "aspen", "kind": "model"}],
        later_specs=[header()["spec"]],
    )
    gold = {"preference": ["r1"], "satisfied": {"f1.r1": 1}, "note": "n"}
    records = [
        first,
        context_item(1, gold=gold, judgments=[full]),
        item(2, judgments=[judgment("bo", judged_at="2024-01-01T00:00:00Z", replicate=1)]),
    ]
    return copy.deepcopy(records)  # they share parts with other tests


def check(records):
    checker = DumpChecker(Records(records), slug="s", protocol="", title="", render=lambda text, rules: text)
    return checker.run(lambda phase, done, total: None)


def places(value, path=()):
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from places(each, (*path, key))


def mutate(record, rng):
    *path, last = rng.choice(list(places(record)))
    target = record
    for key in path:
        target = target[key]
    draw = rng.random()
    if draw < 0.15:
        del target[last]
    elif draw < 0.25 and isinstance(target, dict):
        target[rng.choice(["", "key", "context", "colour"])] = copy.deepcopy(rng.choice(ODD))
    else:
        target[last] = copy.deepcopy(rng.choice(ODD))


def test_the_unbroken_dump_is_good():
    assert check(good()).items == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_faster_validator_says_what_the_drafts_own_says(seed):
    rng = random.Random(seed)
    schemas = {name: Draft202012Validator(load_schema(name)) for name in ("study", "item")}
    for _ in range(400):
        records = good()
        mutate(rng.choice(records), rng)
        for record, name in zip(records, ("study", "item", "item"), strict=True):
            expected = sorted(_sentence(error) for error in schemas[name].iter_errors(record))
            assert sorted(schema_problems(name, record)) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_mutations(seed):
    rng = random.Random(seed)
    refused = 0
    for _ in range(300):
        records = good()
        mutate(rng.choice(records), rng)
        try:
            check(records)
        except Refused as error:
            refused += bool(error.problems)
    assert refused > 150
