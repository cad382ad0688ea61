"""Studies of every protocol that look like real ones, made through the services that researchers' actions use.

Each `make_<protocol>_study` gives a live study; `draft` leaves it open for more.
"""

import json

from evaluation.models import Context, Item, ItemResponse, Query, Response, Study, System
from evaluation.protocols.codebooks import codebook_question
from evaluation.services.studies.creation import add_arms, create_study
from tests.factories import launch

ARM = {"key": "all", "label": "All items"}
CODES = {"completed": "C1TUA9KX", "no_consent": "N0C0NSNT", "full": "FU11P1AC", "withdrawn": "W1THDRWN"}
ITEMS_ONLY = {
    "consent": True,
    "instructions": False,
    "training": False,
    "qualification": None,
    "attention": None,
    "comments": False,
}


def make_protocol_draft(protocol: str, slug: str, *, systems: tuple[str, ...], **fields) -> Study:
    """A draft of that protocol with one arm and these systems."""
    fields = {
        "title": "Rating answers",
        "contact": "research@example.org",
        "completion_codes": CODES,
        "pay": "3.00",
        "steps": ITEMS_ONLY,
        "items_per_participant": 2,
        "redundancy": 3,
        **fields,
    }
    study = create_study(slug=slug, protocol=protocol, **fields)
    add_arms(study, (ARM,))
    for key in systems:
        System.objects.create(study=study, key=key, family="test")
    return study


def add_protocol_item(
    study: Study,
    key: str,
    text: str,
    texts: tuple[str, ...],
    *,
    follow_ups: list[dict] | None = None,
    documents: list | None = None,
    role: str = "main",
    gold: dict | None = None,
    clarifying_question: str = "",
    information_need: str = "",
) -> Item:
    """An item with a response of each of the study's first systems."""
    query = Query.objects.create(
        study=study, key=key, text=text, documents=documents or [], information_need=information_need
    )
    context = Context.objects.create(query=query, key="c", follow_ups=follow_ups) if follow_ups else None
    item = Item.objects.create(
        study=study,
        key=key,
        query=query,
        context=context,
        arm=study.arms.get(),
        role=role,
        gold=gold,
        clarifying_question=clarifying_question,
    )
    responses = Response.objects.bulk_create(
        Response(query=query, key=system.key, system=system, text=body)
        for system, body in zip(study.systems.order_by("key"), texts, strict=False)
    )
    ItemResponse.objects.bulk_create(ItemResponse(item=item, response=each) for each in responses)
    return item


# --- aspects ----------------------------------------------------------------------------------------------------------

SKY = "Why does the sky look blue in the day but red when the sun goes down?"
SKY_ANSWERS = (
    "Sunlight holds all colours. Air scatters short waves much more than long ones, so that blue reaches your eyes "
    "from every direction. In the evening the light takes a longer way through the air: most of the blue is scattered "
    "out of it, and what is left looks red.",
    "cause the air kinda bounces blue around more lol. at sunset theres more air in the way so u just get red stuff",
    "The phenomenon is known as Rayleigh scattering, whose intensity is inversely proportional to the fourth power of "
    "the wavelength.\n\n- Blue light (about 450 nm) is scattered some five times as much as red light (about 700 nm).\n"
    "- At low solar elevation the optical path grows by more than an order of magnitude.\n\nConsequently the direct "
    "beam is depleted of short wavelengths.",
    "The sky is blue because it reflects the oceans. In the evening the sun is further away, and red light travels "
    "furthest.",
)
BREAD = "How do I keep bread from going stale?"
BREAD_ANSWERS = (
    "Keep it in a paper bag or a bread box at room temperature, cut side down. What you can't eat in two days, slice "
    "and freeze.",
    "Put it in the fridge. Always.",
    "Staling is the recrystallisation of starch, which is fastest just above freezing: the fridge makes it worse.",
    "just buy less bread",
)
DOCUMENTS = [
    {
        "title": f"{title} ({number})",
        "url": f"https://www.{site}/{number}",
        "snippet": f"{text} (No. {number})",
    }
    for number in range(1, 6)
    for title, site, text in (
        (
            "How air scatters light",
            "optics.example",
            "The strength of Rayleigh scattering grows with the fourth power of the frequency, which favours blue.",
        ),
        (
            "Why sunsets are red",
            "weather.example",
            "Near the horizon light takes a way some forty times as long through the atmosphere.",
        ),
    )
]


def make_aspects_study(
    slug: str = "aspects", *, main: int = 2, documents: list | None = None, sky: str = SKY, **fields
) -> Study:
    """Four answers each; with ten documents unless others are given; training says which answer is false."""
    study = make_protocol_draft("aspects", slug, systems=("aspen", "birch", "cedar", "dogwood"), **fields)
    documents = DOCUMENTS if documents is None else documents
    for number in range(main):
        if number % 2:
            add_protocol_item(study, f"bread-{number}", BREAD, BREAD_ANSWERS, documents=documents)
        else:
            add_protocol_item(study, f"sky-{number}", sky, SKY_ANSWERS, documents=documents)
    gold = {
        "factuality": {"r1": 3, "r4": [0, 1]},
        "amount_info": {"r2": -1},
        "best": ["r1", "r3"],
        "none_appropriate": 0,
        "note": "The sky reflects nothing; the fourth answer is made up.",
    }
    add_protocol_item(study, "training", SKY, SKY_ANSWERS, documents=documents, role="training", gold=gold)
    return launch(study)


# --- question quality -------------------------------------------------------------------------------------------------


def make_question_quality_study(slug: str = "quality", *, main: int = 2, **fields) -> Study:
    """One clarifying question each."""
    fields = {"title": "Rating questions", **fields}
    study = make_protocol_draft("question_quality", slug, systems=("aspen",), **fields)
    asked = (
        ("dinosaurs", "Are you interested in a certain kind of dinosaur, or in how they died out?"),
        ("cheap flights", "Where do you want to fly to, and when?"),
    )
    for number in range(main):
        query, question = asked[number % 2]
        add_protocol_item(study, f"query-{number}", query, (question,))
    return launch(study)


# --- relevance --------------------------------------------------------------------------------------------------------

ATTRIBUTES = [
    {
        "question": "How much do you know about the subject?",
        "answers": ["Nothing", "A little", "I am an expert"],
    },
    {"question": "Where do you live?", "answers": ["In a hot, dry place", "In a place with cold winters"]},
    {
        "question": "What can you spend?",
        "answers": ["Next to nothing", "A few hundred euros", "Money is no matter"],
    },
]


def make_relevance_study(slug: str = "relevance", *, main: int = 2, chosen: bool = False, **fields) -> Study:
    """A default response for all values of three attributes, or an adapted one for the one value it was written for."""
    fields = {"title": "Whom does it suit?", **fields}
    study = make_protocol_draft("relevance", slug, systems=("aspen",), **fields)
    follow_ups = [ATTRIBUTES[0] | {"answer": "Nothing"}] if chosen else ATTRIBUTES
    answer = (
        "Start with a raised bed of about one by two metres in full sun. Fill it with compost, plant tomatoes, beans "
        "and courgettes after the last frost, and water in the morning.\n\nA drip line on a timer saves an hour a day."
    )
    for number in range(main):
        query = f"How do I start a vegetable garden of {number + 2} beds?"
        add_protocol_item(study, f"garden-{number}", query, (answer,), follow_ups=follow_ups)
    return launch(study)


# --- ranking ----------------------------------------------------------------------------------------------------------

SEARCHES = (
    (
        "dinosaurs",
        (
            "Are you interested in a certain kind of dinosaur, or in how they died out?",
            "Would you like to see skeletons in a museum near you?",
            "Which period of the Mesozoic era, that is to say the Triassic, the Jurassic or the Cretaceous, should the "
            "results be limited to, and are you looking for taxonomic, stratigraphic or popular sources?",
            "Is it for a child? If so, how old is it?",
            "What do you want to know?",
            "Do you mean the film?",
        ),
    ),
    (
        "cheap flights",
        (
            "Where do you want to fly to, and when?",
            "Do you like to travel?",
            "Are your dates fixed, or could you fly a few days earlier or later?",
            "How much luggage will you take?",
            "From which airport do you want to leave?",
            "Have you flown before?",
        ),
    ),
    (
        "bread goes stale",
        (
            "Do you want to keep bread fresh, or to use what is stale already?",
            "What kind of bread is it?",
            "How do you keep it now?",
            "Do you have a freezer?",
            "Are you asking about the chemistry of staling?",
            "Do you bake it yourself?",
        ),
    ),
)
RANKED = ("aspen", "birch", "cedar", "dogwood", "elm", "fir")


def make_ranking_study(
    slug: str = "ranking", *, n: int = 5, main: int = 3, ties: bool = False, training: bool = False, **fields
) -> Study:
    """Searches with n clarifying questions each; training wants the first of them at the top."""
    fields = {"title": "Ranking questions", "items_per_participant": main, **fields}
    study = make_protocol_draft("ranking", slug, systems=RANKED[:n], **fields)
    if ties:
        study.questions.filter(key="ranking").update(options={"form": {"ties": True}})
    for number in range(main):
        search, asked = SEARCHES[number % len(SEARCHES)]
        add_protocol_item(study, f"search-{number}", search, asked)
    if training:
        gold = {"ranking": {"r1": 1}, "note": "It asks for what matters most."}
        add_protocol_item(study, "training", *SEARCHES[0], role="training", gold=gold)
    return launch(study)


# --- context validation -----------------------------------------------------------------------------------------------

COFFEE_QUESTIONS = [
    {
        "question": "Do you have any health conditions that coffee may affect?",
        "answers": [
            "High blood pressure",
            "Anxiety",
            "Heartburn",
            "A heart condition",
            "None that I know of",
        ],
    },
    {
        "question": "How many cups do you drink in a day?",
        "answers": ["None so far", "One or two", "Three or more"],
    },
    {
        "question": "What would you like to know about?",
        "answers": ["Sleep", "Heart", "Weight", "Concentration"],
    },
]
SEED_QUESTIONS = [
    {"question": "Where will the plants grow?", "answers": ["In a garden bed", "In pots", "In a greenhouse"]},
    {"question": "Have you grown vegetables before?", "answers": ["Never", "A few times", "Every year"]},
]


def make_context_validation_study(slug: str = "validation", *, main: int = 3, **fields) -> Study:
    """Three follow-up questions on the first item, two on the second, and so on."""
    fields = {"title": "Questions worth asking", "items_per_participant": 3, **fields}
    study = make_protocol_draft("context_validation", slug, systems=(), **fields)
    for number in range(main):
        query = "How do I start tomatoes from seed?" if number % 2 else "Is coffee good for you?"
        asked = SEED_QUESTIONS if number % 2 else COFFEE_QUESTIONS
        add_protocol_item(study, f"query-{number}", query, (), follow_ups=asked)
    return launch(study)


# --- answer pairs -----------------------------------------------------------------------------------------------------


def make_answer_pairs_study(slug: str = "answers", *, main: int = 3, **fields) -> Study:
    """A person's answer and a simulated user's."""
    fields = {"title": "Comparing answers", "items_per_participant": 3, **fields}
    study = make_protocol_draft("answer_pairs", slug, systems=("people", "simulated"), **fields)
    dinosaurs = {
        "text": "dinosaurs",
        "texts": (
            "in a museum, somewhere around chicago",
            "I am looking for museums that show models and pictures of dinosaurs, best of all some that I can "
            "reach from Chicago and back in one day.",
        ),
        "information_need": "Pictures and models of dinosaurs in museums near Chicago.",
        "clarifying_question": "Do you want to see dinosaurs in a museum, or read about a certain one?",
    }
    kiwi = {
        "text": "kiwi",
        "texts": ("the bird", "The bird, and in particular how it brings up its chicks."),
        "information_need": "How the kiwi, the bird, raises its young.",
        "clarifying_question": "Are you interested in the fruit or in the bird?",
    }
    for number in range(main):
        add_protocol_item(study, f"pair-{number}", **(kiwi if number % 2 else dinosaurs))
    return launch(study)


# --- justification coding ---------------------------------------------------------------------------------------------

REASONS = (
    (
        "Is coffee good for you?",
        "Response 1 says what coffee does to blood pressure, which is what this person worries about. The other one is "
        "longer and has a nice list, but it never mentions it, and the claim about the liver is wrong.",
    ),
    ("How do I start tomatoes from seed?", "It is shorter and much easier to read."),
)


def make_justification_coding_study(
    slug: str = "reasons", *, main: int = 3, codebook: str = "", **fields
) -> Study:
    """One reason each; with another codebook than the protocol's own if one is named."""
    fields = {"title": "What reasons are about", "items_per_participant": 3, **fields}
    study = make_protocol_draft("justification_coding", slug, systems=("people",), **fields)
    if codebook:
        study.questions.update(options=codebook_question(codebook).options)
    for number in range(main):
        text, reason = REASONS[number % 2]
        add_protocol_item(study, f"reason-{number}", text, (reason,))
    return launch(study)


# --- condition calibration --------------------------------------------------------------------------------------------

BOILING = "At what temperature does water boil?"
BOILING_FRAGMENTS = [
    {"title": title, "text": text}
    for title, text in (
        (
            "Boiling point",
            "At a pressure of one atmosphere pure water boils at very nearly 100 °C, or 212 °F.",
        ),
        (
            "Cooking at altitude",
            "For every 300 metres of height the boiling point of water falls by about 1 °C.",
        ),
        (
            "Mount Everest",
            "On the summit, 8,849 metres high, water boils at roughly 70 °C; tea made there is weak.",
        ),
        (
            "Pressure cooker",
            "A valve keeps the pressure at about two atmospheres. Water in the pot then boils at 120 °C, so that beans "
            "are done in a third of the time.",
        ),
        (
            "Celsius",
            "The scale of Celsius once ran from the boiling point of water, 0, to its freezing point, 100.",
        ),
        (
            "Salt in the pot",
            "A spoon of salt in a litre raises the boiling point by less than a fifth of a degree.",
        ),
        ("La Paz", "In the highest capital, at 3,640 metres, a pot of potatoes boils at 88 °C."),
        ("Vacuum", "Close to a vacuum water boils at room temperature, and cools until it freezes."),
        (
            "Superheating",
            "In a smooth cup in a microwave oven water may pass its boiling point without a bubble.",
        ),
        ("Sea level", "The pressure of the air at the level of the sea is on average 1,013 hectopascals."),
        ("Steam engine", "Boilers of steam engines worked at ten atmospheres, where water boils at 180 °C."),
        ("Fahrenheit", "On the scale of Fahrenheit water freezes at 32 degrees and boils at 212."),
    )
]
BOILING_DRAFT = (
    {
        "condition": "At sea level, under the normal pressure of the air",
        "answers": ["100 °C", "212 °F"],
        "citations": [1, 12],
        "reason": "Fragment 1 gives it for one atmosphere.",
    },
    {
        "condition": "On a high mountain",
        "answers": ["About 70 °C on the summit of Mount Everest"],
        "citations": [3],
        "reason": "The pressure of the air falls with height.",
    },
    {"condition": "Under normal pressure", "answers": ["100 °C"], "citations": [10], "reason": ""},
    {
        "condition": "In salted water",
        "answers": ["Far above 100 °C"],
        "citations": [6],
        "reason": "Salt raises the boiling point.",
    },
)
# What another calibrator made of it.
BOILING_OTHER = (
    BOILING_DRAFT[0],
    {
        "condition": "On a high mountain or in a high city",
        "answers": ["About 70 °C on the summit of Mount Everest", "88 °C in La Paz"],
        "citations": [2, 3, 7],
        "reason": "The pressure of the air falls with height.",
    },
    {
        "condition": "In a pressure cooker",
        "answers": ["120 °C"],
        "citations": [4],
        "reason": "Two atmospheres, as fragment 4 says.",
    },
)
BREAD_FRAGMENTS = [
    {"title": "Rye bread", "text": "A loaf of rye keeps for ten days."},
    {"title": "Baguette", "text": "A baguette is best on the day it was baked, and hard on the next."},
    {"title": "Freezing bread", "text": "Frozen in slices, bread keeps for three months."},
]


def make_condition_calibration_study(
    slug: str = "conditions",
    *,
    main: int = 2,
    drafts: tuple[tuple[dict, ...], ...] = (BOILING_DRAFT,),
    training: bool = False,
    **fields,
) -> Study:
    """A drafted set with twelve fragments, and a question without a draft; training has an entry to reject.

    With several drafts each is a calibrator's, and who judges settles.
    """
    fields = {"title": "Conditions and answers", "items_per_participant": main, **fields}
    systems = ("aspen", "birch", "cedar")[: len(drafts)]
    study = make_protocol_draft("condition_calibration", slug, systems=systems, **fields)
    sets = tuple(json.dumps(each) for each in drafts)
    for number in range(main):
        if number % 2:
            add_protocol_item(
                study, f"bread-{number}", "How long does bread keep?", (), documents=BREAD_FRAGMENTS
            )
        else:
            add_protocol_item(study, f"boiling-{number}", BOILING, sets, documents=BOILING_FRAGMENTS)
    if training:
        gold = {
            "entries": {"r1.e1": "accepted", "r1.e4": "rejected"},
            "note": "Fragment 6 says the contrary.",
        }
        add_protocol_item(
            study, "training", BOILING, sets, documents=BOILING_FRAGMENTS, role="training", gold=gold
        )
    return launch(study)
