"""A study's language: chosen at creation, carried by copies and files, part of the hash, and fixed once it runs."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Study
from evaluation.protocols import PROTOCOLS, get_protocol
from evaluation.protocols.aspects import Aspects
from evaluation.protocols.base import FORM
from evaluation.refusals import Refused
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import create_study
from evaluation.services.studies.duplication import duplicate_study
from evaluation.services.studies.launch import text_advice
from evaluation.services.studies.revision import plan_revision
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.config.test_messages import TRANSLATED
from tests.evaluation.dumps.build import ARM, header, read_in, write

pytestmark = pytest.mark.django_db

# What reads the same in both languages.
SAME = {"de": {"Person X", "Liberal"}, "es": {"Asia", "Formal", "Informal", "Liberal", "No"}, "ar": set()}


def words_of(study: Study) -> dict[str, str]:
    """Whatever participants can read of a draft, by its place."""
    found = {"asker": study.asker}
    found |= {f"text {each.key}": each.body for each in study.texts.all()}
    for question in study.questions.all():
        labels = {value: label for value, label in question.options.items() if value != FORM}
        read = {"prompt": question.prompt, "help": question.help, **labels}
        found |= {f"question {question.key}: {place}": text for place, text in read.items()}
    for attribute in study.attributes.all():
        values = {f"attribute {attribute.key}: {n}": value for n, value in enumerate(attribute.values)}
        found |= {f"attribute {attribute.key}": attribute.question, **values}
    return {place: text for place, text in found.items() if text}


def stored_of(study: Study) -> list[Any]:
    """The keys and values that answers are stored under."""
    asked = [
        (each.key, each.kind, each.required, each.shown, list(each.options), each.options.get(FORM))
        for each in study.questions.all()
    ]
    return [asked, [(each.key, len(each.values)) for each in study.attributes.all()]]


def still_english(protocol: str, language: str) -> Mapping[str, str]:
    """The words of a new draft that are no others than in an English one, by their places."""
    english, other = (
        create_study(slug=f"{each}-{protocol}", title="T", protocol=protocol, language=each)
        for each in ("en", language)
    )
    assert stored_of(other) == stored_of(english)
    before, after = words_of(english), words_of(other)
    assert after.keys() == before.keys()
    if language == "ar":
        assert [text for text in after.values() if re.search("[A-Za-z]", text.replace("IP", ""))] == []
    return {place: text for place, text in after.items() if text == before[place]}


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_begins_in_every_language(protocol, language):
    assert set(still_english(protocol, language).values()) <= SAME[language]


def test_a_default_that_no_catalogue_has_stays_english(monkeypatch):
    first, *others = Aspects().default_questions()
    labelled = replace(first, help="Is it fit?", options={**first.options, "0": "Unfit"})
    monkeypatch.setattr(Aspects, "default_questions", lambda self: (labelled, *others))
    assert still_english("aspects", "de") == {
        "asker": "Person X",
        "question acceptability: help": "Is it fit?",
        "question acceptability: 0": "Unfit",
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_english_study_begins_with_the_protocols_own_words(protocol):
    described, study = get_protocol(protocol), create_study(slug="e", title="E", protocol=protocol)
    spec = compile_spec(study)
    assert spec["asker"] == "Person X"
    assert spec["questions"] == [each.as_json() for each in described.default_questions()]
    assert spec["texts"] == described.default_texts()
    assert spec.get("attributes", []) == [each.as_json() for each in described.default_attributes()]


@pytest.mark.parametrize(
    ("protocol", "language", "read"),
    [
        ("aspects", "de", {
            "asker": "Person X",
            "question factuality: 3": "Durchweg richtig",
            "question none_appropriate: prompt": "Keine ist akzeptabel; diese ist am wenigsten schlecht.",
        }),
        ("condition_calibration", "es", {
            "asker": "Persona X",
            "question checks: supported": "Cada condición está respaldada",
            "question checks: help:supported": "Un fragmento citado dice de cada condición que existe ese caso.",
        }),
        ("relevance", "ar", {
            "asker": "الشخص س",
            "attribute expertise": "ما مقدار معرفتك بالموضوع؟",
            "attribute expertise: 4": "معرفة الخبراء",
            "question relevance: 5": "جيدة جدًا",
        }),
    ],
)  # fmt: skip
def test_what_a_participant_reads_of_it(protocol, language, read):
    study = create_study(slug="s", title="S", protocol=protocol, language=language)
    found = words_of(study)
    assert {place: found[place] for place in read} == read


def test_a_line_written_by_hand_begins_in_the_language_that_it_names(tmp_path):
    spec = {"protocol": "relevance", "language": "de", "arms": [ARM]}
    by_hand = read_in(write(tmp_path / "a.jsonl", header(spec=spec)))
    made = create_study(slug="made", title="M", protocol="relevance", language="de")
    assert words_of(by_hand) == words_of(made)
    own = spec | {"asker": "Kim", "texts": {"thanks": "Thanks."}, "attributes": []}
    other = read_in(write(tmp_path / "b.jsonl", header(spec=own)), slug="own")
    assert (other.asker, other.texts.get().body, other.attributes.count()) == ("Kim", "Thanks.", 0)


def test_a_pairwise_study_begins_in_its_language():
    study = create_study(slug="paare", title="Paare", protocol="pairwise", language="de")
    assert study.questions.get(key="preference").prompt == "Welche Antwort ist insgesamt besser?"
    assert study.questions.get(key="preference").options["tie"] == "Kein Unterschied"
    assert study.texts.get(key="consent").body.startswith("Sie sind eingeladen")
    # It is not told that its texts are not its own.
    study.questions.filter(key="justification").update(prompt="Wieso?")
    assert "still the protocol's own" in " ".join(text_advice(study))


def test_a_copy_keeps_it_and_the_hash_depends_on_it():
    german = factories.launch(factories.make_study("de", language="de"))
    english = factories.launch(factories.make_study("en"))
    assert german.study_hash != english.study_hash
    assert duplicate_study(german).language == "de"
    assert list(verify_study(german)) == []


def test_a_running_study_keeps_it():
    study = factories.launch(factories.make_study(language="es"))
    with pytest.raises(Refused, match="language: can't change"):
        plan_revision(study, {"language": "ar"})
    assert plan_revision(study, {"title": "Pares"}).spec["language"] == "es"


def test_it_is_chosen_with_the_new_study(admin_client):
    address = reverse("admin:evaluation_study_add")
    assert "Language of participants" in admin_client.get(address).content.decode()
    data = {"title": "Neu", "slug": "neu", "protocol": "pairwise", "arms": "plain"}
    assert admin_client.post(address, data | {"language": "xx"}).status_code == 200
    assert admin_client.post(address, data | {"language": "de"}).status_code == 302
    assert Study.objects.get(slug="neu").language == "de"
    assert admin_client.post(address, data | {"slug": "new"}).status_code == 302
    assert Study.objects.get(slug="new").language == "en"
