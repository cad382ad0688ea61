"""A study's language: chosen at creation, carried by copies and files, part of the hash, and fixed once it runs."""

import pytest
from django.urls import reverse

from evaluation.models import Language, Study
from evaluation.refusals import Refused
from evaluation.services import create_study, duplicate_study, plan_revision, verify_study
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.launch import text_advice
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_pairwise_study_begins_in_its_language():
    study = create_study(slug="paare", title="Paare", protocol="pairwise", language="de")
    assert study.questions.get(key="preference").prompt == "Welche Antwort ist insgesamt besser?"
    assert study.questions.get(key="preference").options["tie"] == "Gleich gut"
    assert study.texts.get(key="consent").body.startswith("Sie sind eingeladen")
    # It is not told that its texts are not its own.
    study.questions.filter(key="justification").update(prompt="Wieso?")
    assert "still the protocol's own" in " ".join(text_advice(study))


@pytest.mark.parametrize("language", Language.values)
def test_every_protocol_can_begin_in_every_language(language):
    from evaluation.protocols import PROTOCOLS

    for key in PROTOCOLS:
        study = create_study(slug=f"{key}-{language}", title="T", protocol=key, language=language)
        assert compile_spec(study).get("language", "en") == language


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
