"""A study's pages in its language: a participant walks through all of them, and no sentence of ours is in English."""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotator.models import Participant, ParticipantOutcome
from annotator.panels.platforms import PLATFORMS
from annotator.services.admission.entry import enter
from annotator.views.shared.parts import done_context
from annotator.views.shared.texts import AWAY, NOTICES
from annotator.visit import Visit
from evaluation.models import Arm, Context, Item, Language, Query, Question, Response, Status, Study, Text
from tests import factories
from tests.annotator.conftest import CODES, WITH, home
from tests.annotator.pages import Form
from tests.config.test_messages import TRANSLATED, load
from tests.protocol_factories import add_protocol_item, make_protocol_draft

pytestmark = pytest.mark.django_db

# In place of all that a researcher writes: no word of any language.
OWN = "☘"
STEPS = {
    "consent": True,
    "instructions": True,
    "training": True,
    "qualification": None,
    "attention": {"checks": 1, "allowed_failures": 3},
    "comments": True,
}
# What is read of a page beside its text.
ATTRIBUTES = ("aria-label", "placeholder", "title")
SENTENCES_FOR_SCRIPTS = re.compile(
    r"data-(saving|saved|failed|soon|over|text|none|met|open|label|unread|done|offline)"
)
# Names of keys, which stand on them, of panels, of currencies, and of the code.
LATIN_NAMES = re.compile(
    r"Ctrl\+Enter|(?<![A-Za-z])[TN](?![A-Za-z])|Space|Escape|Alt|Prolific|Connect|SONA|HIT"
    r"|Assay|DONE-1|NO-1|FULL-1|OUT-1"
)
# JSON of plural forms names their categories.
CATEGORIES = re.compile(r'"(zero|one|two|few|many|other)": ')
PLACES = re.compile(r"\{\w+\}")


class Page(HTMLParser):
    """The pieces of text on a page, its language and its direction."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.lang, self.dir = "", ""
        self.pieces: list[str] = []
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes: dict[str, Any] = dict(given)
        if tag == "html":
            self.lang, self.dir = attributes["lang"], attributes["dir"]
        self._hidden += tag in ("style", "script")
        for name, value in attributes.items():
            if name in ATTRIBUTES or SENTENCES_FOR_SCRIPTS.fullmatch(name):
                self.handle_data(value or "")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.pieces.append(" ".join(data.split()))


def study_in(language: str, **fields: Any) -> Study:
    """A live pairwise study with every step, whose own texts are no words at all."""
    study = factories.make_study(
        "pairs",
        arms=WITH,
        steps=STEPS,
        language=language,
        completion_codes=CODES,
        asker=OWN,
        pay="12.50",
        **fields,
    )
    for model, names in (
        (Text, ("body",)), (Question, ("prompt", "help")), (Query, ("text",)), (Response, ("text",)),
        (Arm, ("label",)),
    ):  # fmt: skip
        model.objects.update(**dict.fromkeys(names, OWN))
    Context.objects.update(follow_ups=[{"question": OWN, "answers": [OWN, OWN], "answer": OWN}])
    Item.objects.filter(role="training").update(gold={"preference": ["r1"], "note": OWN})
    Item.objects.filter(role="attention").update(gold={"preference": ["tie"]})
    return factories.launch(study, title=OWN, contact="x@example.org")


@cache
def english_of(language: str) -> frozenset[str]:
    """Every sentence of the source that reads differently in that language, as far as a page can show it."""
    found = set()
    with translation.override(language):
        for text, _ in load().extract().values():
            for each in (text,) if isinstance(text, str) else text:
                if translation.gettext(each) != each and not isinstance(text, tuple):
                    found.add(each)
    return frozenset(found)


def check(response: Any, language: str) -> str:
    """That this page is in that language; returns its text."""
    html = response if isinstance(response, str) else response.content.decode()
    page = Page(html)
    assert page.lang == language
    assert page.dir == ("rtl" if language == "ar" else "ltr")
    left = [piece for piece in page.pieces if piece in english_of(language)]
    assert left == []
    if language == "ar":
        assert [each for each in page.pieces if re.search("[A-Za-z]", _without_names(each))] == []
    return " ".join(page.pieces)


def _without_names(text: str) -> str:
    for pattern in (LATIN_NAMES, CATEGORIES, PLACES):
        text = pattern.sub("", text)
    return text


def walk(client: Client, participant: Participant, language: str) -> Iterator[str]:
    """From the instructions to the end, with one form refused and one item skipped; yields the text of each page."""
    here, refused, skipped = home(participant), False, False
    for _ in range(30):
        response = client.get(here)
        html = response.content.decode()
        yield check(response, language)
        if "judge" not in html:
            action = re.search(r'<form method="post" action="([^"]+)"', html)
            if action is None:
                return
            client.post(action[1], {"comments": ""})
            continue
        submit = re.search(r'id="judge"[^>]*action="([^"]+)"', html)
        assert submit
        if not refused:
            refused = True
            yield check(client.get(client.post(submit[1], {})["Location"]), language)
        if not skipped and (skip := re.search(r'formaction="([^"]+/skip/)"', html)):
            skipped = True
            yield check(client.get(skip[1]), language)
            client.post(skip[1], {"sure": "1"})
            continue
        client.post(submit[1], Form(html).filled_in())
    raise AssertionError("the way did not end")


SAID = {
    "de": (
        *("Ich bin einverstanden", "Anleitung", "Übung", "3 Angaben", "1 von 4"),
        *("Abschicken und weiter", "Ihr Abschlusscode", "Sie werden nicht gelöscht"),
    ),
    "es": (
        *("Acepto", "Instrucciones", "Práctica", "3 respuestas", "1 de 4"),
        *("Enviar y continuar", "Su código de finalización", "No se eliminan"),
    ),
    "ar": (
        *("أوافق", "التعليمات", "تدريب", "3 إجابات", "1 من 4", "إرسال ومتابعة", "رمز الإكمال"),
        "لا تُحذف هذه الإجابات",
    ),
}


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_participant_walks_from_consent_to_the_end_in_the_studys_language(client, language):
    study = study_in(language)
    door = reverse("annotator:entry", args=[study.slug])
    # A browser that asks for another language is not asked.
    seen = [check(client.get(door, headers={"accept-language": "fr,en;q=0.5"}), language)]
    assert ("12,50 £" if language != "en" else "£12.50") in seen[0]
    answer = client.post(door, {"choice": "agree", "consent": Form(seen[0]).sent.get("consent", "")})
    if "choice=changed" in answer["Location"]:
        version = re.search(r'name="consent" value="([^"]+)"', client.get(door).content.decode())
        answer = client.post(door, {"choice": "agree", "consent": version[1]})
    participant = Participant.objects.get()
    assert answer["Location"] == home(participant)
    seen += [check(client.get(reverse("annotator:withdraw", args=[participant.token])), language)]
    seen += list(walk(client, participant, language))
    participant.refresh_from_db()
    assert participant.outcome == ParticipantOutcome.COMPLETED
    whole = " ".join(seen)
    assert [words for words in SAID[language] if words not in whole] == []
    assert translation.get_language() == "en"


def test_english_is_what_it_was(client):
    study = study_in("en")
    assert "language" not in study.revisions.get().spec
    page = client.get(reverse("annotator:entry", args=[study.slug]), headers={"accept-language": "de"})
    assert Page(page.content.decode()).lang == "en"
    assert "£12.50" in page.content.decode()


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_a_refused_form_is_told(client, language):
    participant = enter(study_in(language), Visit("link"))
    client.post(reverse("annotator:advance", args=[participant.token]))
    page = client.get(home(participant)).content.decode()
    submit = re.search(r'id="judge"[^>]*action="([^"]+)"', page)[1]
    said = check(client.get(client.post(submit, {})["Location"]), language)
    expected = {
        "de": (
            "3 Angaben fehlen oder stimmen nicht",
            "2 Auswahlen fehlen.",
            "Bitte wählen Sie eine Möglichkeit.",
        ),
        "es": ("Hay un problema con 3 respuestas", "Faltan 2 opciones.", "Elija una opción."),
        "ar": ("هناك مشكلة في 3 إجابات", "ينقص اختياران.", "يُرجى الاختيار."),
    }[language]
    assert [words for words in expected if words not in said] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_notice_and_every_end_is_translated(client, language):
    participant = enter(study_in(language), Visit("link"))
    for notice in NOTICES:
        check(client.get(home(participant), {"notice": notice}), language)
    with translation.override(language):
        for platform in PLATFORMS.values():
            for outcome in ParticipantOutcome:
                for leave in (platform.leave(outcome, code, Visit("link"), {}) for code in ("DONE-1", "")):
                    done = done_context(outcome, leave, platform)
                    said = {done["title"], done["text"], done["reward"], done["pay"], done["todo"]}
                    assert said & english_of(language) == set()
            endings = [*platform.endings.values(), *platform.away.values()]
            said = {str(words) for each in endings for words in (each.pay, each.go_back, each.stay)}
            assert said & english_of(language) == set()
        assert {str(words) for each in AWAY.values() for words in each} & english_of(language) == set()


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("de", "Messen Sie alles an dem Text unter „☘“. ☘ (für jede Antwort)"),
        ("es", "Compare todo con el texto que está bajo «☘». ☘ (de cada respuesta)"),
        ("ar", "يُقارن كل شيء بالنص الوارد تحت «☘». ☘ (لكل رد)"),
    ],
)
def test_a_guideline_that_is_written_from_the_questions(client, language, written):
    study = make_protocol_draft(
        "custom", "own", systems=("aspen",), language=language, title=OWN, asker=OWN,
        needs={"query": True, "least": 1, "most": 1, "document": OWN},
    )  # fmt: skip
    Question.objects.create(
        study=study, position=0, key="mark", kind="scale", prompt=OWN,
        options={"form": {"over": "response", "low": 1, "high": 5}},
    )  # fmt: skip
    add_protocol_item(study, "q", OWN, (OWN,))
    Query.objects.update(document=OWN)
    page = client.get(home(enter(factories.launch(study), Visit("link"))))
    assert written in check(page, language)


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_door_that_is_shut_and_an_item_that_is_not_theirs(client, language):
    study = study_in(language)
    door = reverse("annotator:entry", args=[study.slug])
    said = check(client.post(door, {"choice": "decline"}), language)
    assert "NO-1" in said
    Study.objects.update(status=Status.CLOSED)
    check(client.get(door), language)
    Study.objects.update(status=Status.PAUSED)
    check(client.get(door), language)
    missing = client.get(door, {"personal": "nobody"})
    assert missing.status_code == 404
    check(missing, language)


def test_an_address_of_no_study_is_english(client):
    page = client.get("/p/" + "x" * 32 + "/")
    assert (page.status_code, Page(page.content.decode()).lang) == (404, "en")


@pytest.mark.parametrize("language", Language.values)
def test_the_language_is_a_part_of_what_is_frozen(language):
    study = study_in(language)
    spec = study.revisions.get().spec
    assert spec.get("language", "en") == language


# --- the language of what is judged ----------------------------------------------------------------------------------


class Judged(HTMLParser):
    """The languages of the elements that browsers leave untranslated, and of those that say that a text is empty."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.langs: list[str | None] = []
        self.of_empty: list[str | None] = []
        self._around: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes = dict(given)
        classes = (attributes.get("class") or "").split()
        if "body" in classes:
            self._around = attributes.get("lang")
        if "empty" in classes:
            self.of_empty.append(self._around)
        if attributes.get("translate") == "no":
            self.langs.append(attributes.get("lang"))


def test_judged_texts_are_in_the_language_that_the_study_names(client, make):
    study = make("lang", texts_language="pt-BR", language="de", arms=WITH)
    assert study.revisions.get().spec["texts_language"] == "pt-BR"
    Item.objects.filter(study=study).update(stimulus=_with_an_empty_response(study))
    page = client.get(home(enter(study, Visit("link")))).content.decode()
    found = Judged(page)
    # The query, a response, and the context with its questions and answers.
    assert len(found.langs) > 4
    assert set(found.langs) == {"pt-BR"}
    assert found.of_empty == [None]
    assert '<html lang="de"' in page
    # Nothing of it stays for whoever is served next.
    other = make("other", arms=WITH)
    assert "texts_language" not in other.revisions.get().spec
    assert set(Judged(client.get(home(enter(other, Visit("link")))).content.decode()).langs) == {None}


def _with_an_empty_response(study: Study) -> Any:
    stimulus: Any = Item.objects.filter(study=study).earliest("pk").stimulus
    stimulus["responses"][0]["html"] = ""
    return stimulus
