"""Studies that look like real ones, for tests that look at pages."""

from evaluation.models import Arm, Context, Query, Study, System
from evaluation.services.studies.creation import add_arms, create_study
from tests.factories import launch, make_item

WITHOUT = {"key": "without", "label": "No context"}
WITH = {
    "key": "with",
    "label": "Context throughout",
    "context_at_generation": True,
    "context_at_judging": True,
}

COFFEE = (
    "For most healthy adults three to four cups a day fit well into a balanced diet. Coffee brings antioxidants, "
    "and large cohort studies associate it with a lower risk of type 2 diabetes and some liver conditions.\n\n"
    "With high blood pressure, be careful: caffeine raises it for a few hours after a cup. Measure before and an "
    "hour after, prefer smaller cups, and talk to your doctor if readings stay above 160/100.",
    "Coffee is one of the most studied drinks in the world. Its benefits include:\n\n- better alertness and "
    "concentration,\n- antioxidants,\n- a lower risk of several chronic diseases.\n\n### In short\n\nDrinks with "
    "much sugar or cream add calories. Too much caffeine can disturb sleep, so avoid it in the **evening**.\n\n"
    "| Cup | Caffeine |\n| --- | --- |\n| Espresso | 63 mg |\n| Filter | 95 mg |",
)
SEEDS = (
    "Sow them two centimetres deep in trays on a warm window sill, six weeks before the last frost. Keep the soil "
    "moist, not wet, and turn the tray every day so that the seedlings grow straight.",
    "1. Fill a tray with seed compost.\n2. Press each seed in with a finger.\n3. Water from below.\n4. Move the "
    "plants outside when nights stay above 10 °C; begin with `two hours` a day.",
)
FOLLOW_UPS = [
    ("Do you have high blood pressure?", "Yes"),
    ("How much do you drink in a day?", "One or two cups"),
    ("Would you like sources for the claims?", "No"),
    ("How long should the answer be?", "A short paragraph"),
    ("What do you mostly want to know about: sleep, heart, weight, or everything at once?", "Heart"),
    ("Are you pregnant?", "No"),
    ("Do you take medicines that coffee may interact with?", "Something against high blood pressure"),
    ("Which kind of coffee do you drink?", "Filter"),
    ("Do you smoke?", "No"),
    ("How well do you know medical terms?", "Not at all"),
]


def make_draft(slug: str, *, arms: tuple[dict, ...] = (WITH,), follow_ups: int = 4, **fields) -> Study:
    """A draft with two systems and an arm or two; items are added by `add_item`."""
    fields = {
        "title": "Comparing answers",
        "contact": "research@example.org",
        "completion_codes": {
            "completed": "C1TUA9KX",
            "no_consent": "N0C0NSNT",
            "full": "FU11P1AC",
            "withdrawn": "W1THDRWN",
            "failed_qualification": "QUA11F1C",
            "failed_attention": "ATT3NT10",
        },
        "pay": "3.00",
        "items_per_participant": 3,
        **fields,
    }
    study = create_study(slug=slug, protocol="pairwise", **fields)
    add_arms(study, arms)
    for key in ("aspen", "birch"):
        System.objects.create(study=study, key=key, family="test")
    study.follow_up_count = follow_ups
    return study


def add_item(study: Study, arm: Arm, key: str, text: str, texts: tuple[str, ...], **fields) -> None:
    query = Query.objects.create(study=study, key=f"{key}-{arm.key}", text=text)
    follow_ups = [
        {"question": question, "answers": [answer], "answer": answer}
        for question, answer in FOLLOW_UPS[: study.follow_up_count]
    ]
    context = Context.objects.create(query=query, key="c", follow_ups=follow_ups)
    make_item(
        study, query, context, arm, list(study.systems.all()), key=f"{key}-{arm.key}", texts=texts, **fields
    )


def make_study(slug: str, *, main: int = 4, **fields) -> Study:
    """Live, with every step: training, qualification (one item) and attention checks where the steps say so."""
    study = make_draft(slug, **fields)
    gold = {
        "preference": ["r1"],
        "satisfied": {"f1.r1": 1, "f1.r2": 0},
        "note": "Only the first answer says what coffee does to blood pressure.",
    }
    for arm in study.arms.all():
        for number in range(main):
            name = f"item-{number}"
            if number % 2:
                add_item(study, arm, name, "How do I start tomatoes from seed?", SEEDS)
            else:
                add_item(study, arm, name, "Is coffee good for you?", COFFEE)
        own = gold if arm.context_at_judging else {key: gold[key] for key in ("preference", "note")}
        for role in ("training", "qualification", "attention"):
            add_item(study, arm, role, "Is coffee good for you?", COFFEE, role=role, gold=own)
    return launch(study)
