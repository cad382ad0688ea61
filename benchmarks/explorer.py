"""The list of items of a large study: pages by filter, order, words and depth, each asked for as a browser does.

Usage: DATABASE_URL=... python -m benchmarks.explorer [JUDGMENTS]

The database is filled once, with a study of so many judgments (100,000): four an item, one of them a judge's, and a
reason with every other one of people's. Words are drawn by Zipf's law, so that some stand in most texts and some in one
or two. Milliseconds are those of whole pages, one after another.
"""

import logging
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from benchmarks.database import migrated

PER_ITEM = 4
ITEMS_PER_QUERY = 4
PEOPLE = 2_000
SYSTEMS = ("alder", "birch", "cedar", "elm", "fir", "hazel")
VOCABULARY = 20_000
REPEATS = 20
BATCH = 5_000
MARK_ALL = "INSERT INTO evaluation_staleitem (study_id, item_id) SELECT study_id, id FROM evaluation_item"


class Texts:
    """Texts of made-up words, some of them common."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        letters = "abcdefghijklmnoprstuvw"
        self.words = [
            "".join(self.random.choices(letters, k=self.random.randint(3, 9))) for _ in range(VOCABULARY)
        ]
        self.total = [0.0]
        for rank in range(1, VOCABULARY + 1):
            self.total.append(self.total[-1] + 1 / rank)
        self.total.pop(0)

    def text(self, n: int) -> str:
        return " ".join(self.random.choices(self.words, cum_weights=self.total, k=n))


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    migrated()
    study = fill(n)
    count(study)
    measure(study)


def fill(n: int) -> Any:
    """The study, unless it is there already."""
    from django.db import DEFAULT_DB_ALIAS

    from evaluation.database.trigrams import make_trigram_indexes
    from evaluation.models import Study

    slug = f"explorer-{n}"
    found = Study.objects.filter(slug=slug).first()
    if found is not None:
        return found
    started = time.perf_counter()
    _drop_word_indexes()
    study = _write(slug, n)
    # As after every migration; row by row while millions are written takes many times as long.
    make_trigram_indexes(using=DEFAULT_DB_ALIAS)
    _analyze()
    print(f"{n:,} judgments written in {time.perf_counter() - started:.0f} s", flush=True)
    return study


def _drop_word_indexes() -> None:
    from django.db import connection

    from evaluation.database.trigrams import SEARCHED

    with connection.cursor() as cursor:
        for table, column in SEARCHED if connection.vendor == "postgresql" else ():
            cursor.execute(f"DROP INDEX IF EXISTS {table}_{column}_words")


def _write(slug: str, n: int) -> Any:
    from django.db import transaction

    from evaluation.models import Item, ItemResponse, Query, Rater, Response, Status, System
    from evaluation.services.studies.creation import PAPER_ARMS, add_arms, create_study
    from evaluation.services.studies.freeze import freeze_spec

    texts = Texts()
    n_items = n // PER_ITEM
    with transaction.atomic():
        study = create_study(slug=slug, title=slug, protocol="pairwise")
        arms = add_arms(study, PAPER_ARMS)
        systems = System.objects.bulk_create(System(study=study, key=key) for key in SYSTEMS)
        people = Rater.objects.bulk_create(Rater(study=study, kind="person") for _ in range(PEOPLE))
        judge = Rater.objects.create(study=study, kind="judge", label="judge")
        study.status, study.study_hash = Status.CLOSED, "0" * 64
        study.save()
        revision = freeze_spec(study)
        queries = saved(
            Query(study=study, key=f"q{at}", text=texts.text(15), category=f"category {at % 8}")
            for at in range(n_items // ITEMS_PER_QUERY)
        )
        responses = saved(
            Response(query=query, system=system, key=system.key, text=texts.text(60))
            for query in queries
            for system in systems
        )
        pairs = [(a, b) for a in range(len(systems)) for b in range(a + 1, len(systems))]
        items, shown = [], []
        for at in range(n_items):
            one, other = pairs[at % len(pairs)]
            query = at % len(queries)
            items.append(
                Item(
                    study=study, key=f"i{at}", query=queries[query], arm=arms[at % len(arms)], position=at,
                    stimulus=_stimulus(arms[at % len(arms)], queries[query], (one, other)),
                    stimulus_hash="0" * 64, lengths="400,400",
                    systems_key=f"{SYSTEMS[one]} | {SYSTEMS[other]}",
                )
            )  # fmt: skip
            shown.append((responses[query * len(systems) + one], responses[query * len(systems) + other]))
        items = saved(items)
        saved(
            ItemResponse(item=item, response=each)
            for item, both in zip(items, shown, strict=True)
            for each in both
        )
        _judge(study, revision, items, people, judge, texts)
    return study


def _stimulus(arm: Any, query: Any, systems: tuple[int, int]) -> dict[str, Any]:
    responses = [
        {"part": f"r{number}", "key": SYSTEMS[each], "system": SYSTEMS[each], "text": "", "html": ""}
        for number, each in enumerate(systems, 1)
    ]
    prompt = {"key": query.key, "text": query.text}
    return {"arm": arm.key, "query": prompt, "context": None, "responses": responses}


def _judge(study: Any, revision: Any, items: Any, people: Any, judge: Any, texts: Texts) -> None:
    from datetime import UTC, datetime, timedelta

    from evaluation.models import AnswerText, Judgment
    from evaluation.protocols import AnswerValue, Kind
    from evaluation.protocols.answers.layout import array_of, layout_of
    from evaluation.services.answers import add_layouts

    plain = [AnswerValue("preference", Kind.PREFERENCE, label="r1")]
    layouts = [layout_of(plain), layout_of([*plain, AnswerValue("justification", Kind.TEXT, text="")])]
    add_layouts(layouts)
    draw, began = texts.random, datetime(2026, 1, 5, tzinfo=UTC)

    def judgments() -> Iterator[Judgment]:
        for at, item in enumerate(items):
            usual = draw.choice(("r1", "r2"))
            for k in range(PER_ITEM):
                label = usual if draw.random() < 0.6 else draw.choice(("r1", "r2", "tie"))
                answers = [AnswerValue("preference", Kind.PREFERENCE, label=label)]
                has_reason = k > 0 and (at + k) % 2 == 0
                yield Judgment(
                    study=study, item=item, revision=revision,
                    rater=judge if k == 0 else people[(at * 3 + k) % len(people)],
                    shown="r1,r2", answer_values=array_of(answers), answer_layout_id=layouts[has_reason].key,
                    judged_at=began + timedelta(seconds=10 * at + k), duration_ms=20_000 + draw.randrange(90_000),
                )  # fmt: skip

    made = saved(judgments())
    saved(
        AnswerText(judgment=each, question="justification", text=texts.text(20))
        for each in made
        if each.answer_layout_id == layouts[1].key
    )


def saved(rows: Iterable[Any]) -> list[Any]:
    """The rows once they are stored, some at a time."""
    found, left = [], iter(rows)
    while some := list(islice(left, BATCH)):
        found += type(some[0])._default_manager.bulk_create(some)
    return found


def count(study: Any) -> None:
    """Count all items, as workers do of a study that was judged before."""
    from django.db import connection

    from evaluation.models import ItemTally
    from evaluation.services.tallies import recount

    if ItemTally.objects.filter(study=study).exists():
        return
    started = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(f"{MARK_ALL} WHERE study_id = %s", [study.pk])
    while recount(study):
        pass
    _analyze()
    print(f"all items counted in {time.perf_counter() - started:.0f} s", flush=True)


def _analyze() -> None:
    """As the server does by itself a while after many rows came: without, plans are those of an empty database."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def measure(study: Any) -> None:
    from django.contrib.auth import get_user_model
    from django.test import Client

    users = get_user_model().objects
    user = users.filter(username="bench").first() or users.create_superuser("bench")
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    texts = Texts()
    logging.disable(logging.WARNING)
    print(f"{'':28}{'p50':>8}{'p95':>8} ms")
    for name, ask in asked(study, texts.words).items():
        times = []
        for at in range(REPEATS):
            address = ask(at)
            started = time.perf_counter()
            response = client.get(address)
            times.append(1000 * (time.perf_counter() - started))
            assert response.status_code == 200, (address, response.content[:500])
        times.sort()
        print(f"{name:28}{times[len(times) // 2]:8.0f}{times[int(0.95 * len(times))]:8.0f}", flush=True)


def asked(study: Any, words: list[str]) -> dict[str, Callable[[int], str]]:
    """Addresses of pages by what they are asked for; each time something else, so that nothing is still at hand."""
    from urllib.parse import urlencode

    from evaluation.explorer.item_filters import ItemFilters

    def items(**given: str) -> str:
        return f"/studies/{study.slug}/items/?{urlencode(given)}"

    def deep(sort: str) -> int:
        """The item that page 100 begins after."""
        found = ItemFilters.parse(study, {"sort": [sort]}).items(study)
        return int(found.values_list("pk", flat=True)[min(99 * 50, found.count()) - 1])

    positions = {sort: deep(sort) for sort in ("position", "disagreement")}
    keys = list(study.items.order_by("?").values_list("pk", flat=True)[:REPEATS])
    raters = list(study.raters.order_by("?").values_list("pseudonym", flat=True)[:REPEATS])
    return {
        "list": lambda at: items(),
        "by setting": lambda at: items(arm=("NoCtxGen-NoCtxEval", "CtxGen-CtxEval")[at % 2]),
        "by category": lambda at: items(category=f"category {at % 8}"),
        "by systems": lambda at: items(pair=f"{SYSTEMS[at % 5]} | {SYSTEMS[at % 5 + 1]}"),
        "by rater": lambda at: items(rater=raters[at]),
        "by answer": lambda at: items(answer=("preference:tie", "preference:r1")[at % 2]),
        "by preferred system": lambda at: items(winner=f"preference:{SYSTEMS[at % 6]}"),
        "by majority": lambda at: items(majority=("r1", "tie", "none")[at % 3]),
        "people against judge": lambda at: items(vs=("differ", "agree")[at % 2]),
        "counting judgments": lambda at: items(state="counting"),
        "judge said a tie": lambda at: items(by="judge", answer="preference:tie", majority="r1"),
        "with reasons": lambda at: items(texts="yes"),
        "sorted by disagreement": lambda at: items(sort="disagreement"),
        "sorted by judges": lambda at: items(sort="against_judges"),
        "sorted by newest": lambda at: items(sort="newest"),
        "sorted by slowest": lambda at: items(sort="slowest"),
        "differ, by disagreement": lambda at: items(vs="differ", sort="disagreement"),
        "common word": lambda at: items(q=words[at]),
        "word": lambda at: items(q=words[200 + at]),
        "rare word": lambda at: items(q=words[-1 - at]),
        "no such word": lambda at: items(q=f"zzyxq{at}"),
        "two words": lambda at: items(q=f"{words[at]} {words[-1 - at]}"),
        "page 100": lambda at: items(after=str(positions["position"])),
        "page 100 by disagreement": lambda at: items(
            sort="disagreement", after=str(positions["disagreement"])
        ),
        "an item": lambda at: f"/studies/{study.slug}/items/{keys[at]}/",
        "an item of a search": lambda at: f"/studies/{study.slug}/items/{keys[at]}/?q={words[200 + at]}",
    }


if __name__ == "__main__":
    main()
