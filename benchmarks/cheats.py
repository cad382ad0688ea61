"""How many cheats the quality page finds, and how many careful people it flags: simulated participants of every kind.

Each round is a study of its own, in which three of each careful kind and one of each cheating kind judge the same ten
items with two attention checks, by the services that a browser's form comes to. Of two responses of 60 to 220 words the
better one is made up; careful people see it with noise of their own.

Usage: python -m benchmarks.cheats [--rounds N] [--seed N]
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.database import made_for_it

QUERIES, CHECKS, EACH_CAREFUL = 10, 2, 3
WORDS = (
    *(
        "answer",
        "question",
        "reason",
        "detail",
        "example",
        "source",
        "claim",
        "step",
        "number",
        "figure",
        "part",
    ),
    *(
        "word",
        "list",
        "point",
        "fact",
        "case",
        "story",
        "river",
        "garden",
        "winter",
        "market",
        "engine",
        "letter",
    ),
    *(
        "window",
        "bridge",
        "island",
        "method",
        "result",
        "problem",
        "choice",
        "danger",
        "garlic",
        "onion",
        "boil",
    ),
    *(
        "measure",
        "compare",
        "explain",
        "mention",
        "describe",
        "forget",
        "repeat",
        "follow",
        "replace",
        "clear",
    ),
    *(
        "short",
        "long",
        "wrong",
        "right",
        "vague",
        "useful",
        "old",
        "new",
        "first",
        "last",
        "whole",
        "local",
        "simple",
    ),
)
OPENINGS = ("The chosen one", "This one", "Mine", "That response", "What I took", "The better text")
SAYS = ("gives", "explains", "names", "covers", "shows", "mentions", "leaves room for", "sticks to")
ENDINGS = (
    "while the other does not",
    "as was asked",
    "which settles it",
    "without a mistake",
    "in fewer words",
)
TERSE = (
    *("More complete overall", "Clearer explanation", "Fewer mistakes in it", "Answers the question"),
    *(
        "Better example given",
        "The other is wrong",
        "More to the point",
        "Easier to follow",
        "Has the right number",
    ),
    *("Less padding than other", "Names its sources", "Covers both parts", "The other is vague"),
    *("Correct first step", "More useful to me", "No invented facts", "Says why, not only what"),
    *("Better order of steps", "The other repeats itself", "More specific, I think"),
)


@dataclass
class Seen:
    """An item before somebody: the words of its responses by part, the better one, and what was shown first."""

    texts: dict[str, str]
    better: str
    order: list[str]
    words: int


@dataclass
class Work:
    """One form as somebody sends it."""

    label: str
    reason: str
    seconds: float
    visible: float | None = None
    satisfied: Callable[[], str] = lambda: "1"
    pasted: int = 0
    in_view: list[str] = field(default_factory=list)
    layout: str = "columns"
    # The chance that a check is answered as it asks; what it is answered otherwise is `label`.
    passes: float = 0.99


Kind = Callable[[random.Random, Seen], Work]


def chosen(rng: random.Random, seen: Seen, right: float) -> str:
    others = [part for part in seen.texts if part != seen.better]
    return seen.better if rng.random() < right else rng.choice([*others, "tie"])


def reason(rng: random.Random) -> str:
    words = " ".join(rng.sample(WORDS, rng.randint(4, 14)))
    return f"{rng.choice(OPENINGS)} {rng.choice(SAYS)} the {words}, {rng.choice(ENDINGS)}."


def reading(rng: random.Random, seen: Seen, low: float, high: float, share: float = 1.0) -> float:
    return seen.words * share * 60 / rng.uniform(low, high) + rng.uniform(4, 25)


def mixed(rng: random.Random) -> Callable[[], str]:
    return lambda: rng.choice(("1", "1", "1", "0"))


def reads_all(rng: random.Random, seen: Seen) -> Work:
    return Work(chosen(rng, seen, 0.8), reason(rng), reading(rng, seen, 180, 300), satisfied=mixed(rng))


def reads_fast(rng: random.Random, seen: Seen) -> Work:
    seconds = reading(rng, seen, 350, 500, share=0.7) * 0.8
    return Work(chosen(rng, seen, 0.75), reason(rng), seconds, satisfied=mixed(rng))


def says_little(rng: random.Random, seen: Seen) -> Work:
    return Work(chosen(rng, seen, 0.8), rng.choice(TERSE), reading(rng, seen, 220, 340), satisfied=mixed(rng))


def is_interrupted(rng: random.Random, seen: Seen) -> Work:
    """On a phone, with a pause now and then, and with a phrase of the response in most reasons."""
    seconds = reading(rng, seen, 160, 260)
    words = seen.texts[seen.better].split()
    at = rng.randrange(len(words) - 5)
    quoted = f'It says "{" ".join(words[at : at + 4])}", which is {rng.choice(WORDS)} and {rng.choice(WORDS)} to me.'
    away = rng.choice((0, 0, 0, 600))
    return Work(
        chosen(rng, seen, 0.75), quoted, seconds + away, seconds, mixed(rng), in_view=list(seen.texts), layout="tabs"
    )  # fmt: skip


def clicks_at_once(rng: random.Random, seen: Seen) -> Work:
    return Work(rng.choice(list(seen.texts)), "good good good good", rng.uniform(0.2, 1.5), passes=0)


def hurries(rng: random.Random, seen: Seen) -> Work:
    label = rng.choice([*seen.texts, "tie"])
    return Work(label, rng.choice(TERSE), rng.uniform(5, 9), satisfied=mixed(rng), passes=0.8)


def takes_the_first(rng: random.Random, seen: Seen) -> Work:
    return Work(seen.order[0], reason(rng), reading(rng, seen, 200, 320), satisfied=mixed(rng), passes=0.9)


def says_the_same(rng: random.Random, seen: Seen) -> Work:
    said = "this one is better"
    return Work(chosen(rng, seen, 0.5), said, reading(rng, seen, 300, 400), satisfied=mixed(rng), passes=0.9)


def copies(rng: random.Random, seen: Seen) -> Work:
    words = seen.texts[seen.better].split()
    at = rng.randrange(len(words) - 12)
    said = " ".join(words[at : at + 12])
    return Work(chosen(rng, seen, 0.5), said, reading(rng, seen, 300, 400), satisfied=mixed(rng), passes=0.9)


def pastes(rng: random.Random, seen: Seen) -> Work:
    said = reason(rng)
    work = Work(chosen(rng, seen, 0.6), said, reading(rng, seen, 250, 400), satisfied=mixed(rng), passes=0.9)
    work.pasted = len(said)
    return work


def answers_at_random(rng: random.Random, seen: Seen) -> Work:
    label = rng.choice([*seen.texts, "tie"])
    satisfied = lambda: rng.choice("01")  # noqa: E731
    return Work(label, reason(rng), reading(rng, seen, 200, 320), satisfied=satisfied, passes=0)


def reads_one(rng: random.Random, seen: Seen) -> Work:
    """Never scrolls to the second response."""
    label = chosen(rng, seen, 0.5)
    seconds = reading(rng, seen, 250, 400, share=0.5)
    return Work(
        label, reason(rng), seconds, satisfied=mixed(rng), in_view=seen.order[:1], layout="stacked", passes=0.9
    )  # fmt: skip


CAREFUL: dict[str, Kind] = {
    "reads everything": reads_all,
    "reads fast": reads_fast,
    "says little": says_little,
    "is interrupted, quotes": is_interrupted,
}
CHEATS: dict[str, Kind] = {
    "clicks at once, one word over and over": clicks_at_once,
    "hurries": hurries,
    "takes what is shown first": takes_the_first,
    "gives one reason throughout": says_the_same,
    "copies reasons from the screen": copies,
    "pastes reasons": pastes,
    "answers at random, unhurried": answers_at_random,
    "never sees the second response": reads_one,
}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=20)
    asked.add_argument("--seed", type=int, default=1)
    options = asked.parse_args()
    with made_for_it():
        flagged, signs = simulate(options.rounds, random.Random(options.seed))
    print("| who | of | flagged | by which signs |")
    print("| --- | --- | --- | --- |")
    for kinds, each in ((CAREFUL, EACH_CAREFUL), (CHEATS, 1)):
        for name in kinds:
            n = options.rounds * each
            by = "; ".join(f"{sign} ({k})" for sign, k in signs[name].most_common(4))
            print(f"| {name} | {n} | {flagged[name] / n:.0%} | {by} |")
    careful = sum(flagged[name] for name in CAREFUL) / (options.rounds * EACH_CAREFUL * len(CAREFUL))
    print(f"\nOf careful people {careful:.1%} were flagged.")


def simulate(rounds: int, rng: random.Random) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """How many of each kind have a sign, and how often each sign was told of them, without its figures."""
    flagged: Counter[str] = Counter()
    signs: dict[str, Counter[str]] = {name: Counter() for name in (*CAREFUL, *CHEATS)}
    for number in range(rounds):
        for name, told in one_round(number, rng):
            flagged[name] += bool(told)
            signs[name].update(told)
    return flagged, signs


def one_round(number: int, rng: random.Random) -> list[tuple[str, list[str]]]:
    from annotator.services.quality.participant_quality import quality_of
    from evaluation.services.studies.creation import PAPER_ARMS
    from tests import factories
    from tests.crowd import come

    people = [(name, kind) for name, kind in CAREFUL.items() for _ in range(EACH_CAREFUL)] + [*CHEATS.items()]
    study = factories.launch(
        factories.make_study(
            f"cheats-{number}", queries=QUERIES, arms=PAPER_ARMS[1:2], training=False, checks=CHECKS,
            redundancy=len(people), items_per_participant=QUERIES,
        ),
        steps=factories.NO_STEPS | {"attention": {"checks": CHECKS}},
    )  # fmt: skip
    better = write_texts(study, rng)
    who = {}
    for at, (name, kind) in enumerate(people):
        person = come(study, f"person-{at}")
        who[person.pk] = name
        work_through(person, kind, better, random.Random(rng.random()))
    return [(who[each.participant.pk], [named(sign) for sign in each.signs]) for each in quality_of(study)]


def write_texts(study: Any, rng: random.Random) -> dict[int, str]:
    """Give every item responses of its own; the part of the better one, by item."""
    better = {}
    for item in study.items.all():
        for response in item.stimulus["responses"]:
            response["text"] = " ".join(rng.choices(WORDS, k=rng.randint(60, 220)))
        item.save(update_fields=["stimulus"])
        better[item.pk] = rng.choice([each["part"] for each in item.stimulus["responses"]])
    return better


def work_through(person: Any, kind: Kind, better: dict[int, str], rng: random.Random) -> None:
    import json

    from annotator.services.quality.participant_quality import shown_texts
    from annotator.services.work.submit import submit
    from evaluation.models import Judgment
    from evaluation.protocols.answers.parts import checklist_parts
    from tests.crowd import before

    while (assignment := before(person.token)) is not None:
        item, order = assignment.item, assignment.order.split(",")
        texts = {each["part"]: each["text"] for each in item.stimulus["responses"]}
        seen = Seen(texts, better[item.pk], order, len(shown_texts(item.stimulus).split()))
        work = kind(rng, seen)
        if item.gold and rng.random() < work.passes:
            [work.label] = item.gold["preference"]
        given = {
            "preference": work.label,
            "justification": work.reason,
            "satisfied": {part: work.satisfied() for part in checklist_parts(item.stimulus)},
        }
        in_view = dict.fromkeys(work.in_view or texts, 0)
        done = submit(
            person.token, assignment.pk, given, trace={"justification": [{"pasted": work.pasted}]},
            screen=json.dumps({"layout": work.layout, "in_view": in_view}),
        )  # fmt: skip
        took = {"duration_ms": int(work.seconds * 1000)}
        if work.visible is not None:
            took["visible_ms"] = int(work.visible * 1000)
        Judgment.objects.filter(pk=done.judgment_id).update(**took)


def named(sign: str) -> str:
    """A sign without its figures."""
    words = sign.split(" (")[0].split()
    return " ".join(word for word in words if not any(letter.isdigit() for letter in word)).replace(
        " of ", " ", 1
    )


if __name__ == "__main__":
    main()
