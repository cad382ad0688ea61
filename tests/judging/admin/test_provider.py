"""From a provider's name, a key and a model to a tested judge, by one form."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from evaluation.models import Job
from evaluation.tasks import work_on_job
from judging.backends.keys import key_for
from judging.models import Endpoint, Judge
from tests import factories
from tests.judging import endpoint

pytestmark = pytest.mark.django_db
KEY = "sk-quite-a-secret-of-mine-0123"


@pytest.fixture(autouse=True)
def installed(settings):
    settings.ASSAY_ENDPOINT_SECRETS = ["a secret"]
    settings.ASSAY_ENDPOINTS_ALLOWED = ["https://api.openai.com/v1", "http://127.0.0.1:*"]


@pytest.fixture
def study(owner):
    owner.user_permissions.add(Permission.objects.get(codename="enter_key"))
    return factories.launched_pairs("provided", 2, owner=owner)


@pytest.fixture
def form(client, owner, study):
    client.force_login(owner)
    address = reverse("admin:judging_judge_provider", args=[study.slug])

    def filled(**fields):
        given = {"provider": "openai", "base_url": "", "key": KEY, "model": "gpt-5", "preset": "", **fields}
        return client.post(address, given)

    return filled


def test_one_form_makes_a_tested_judge(form, client, study):
    with endpoint.serve(require_key=KEY) as served:
        made = form(provider="other", base_url=served.url + "/", model="longer")
        place, judge = Endpoint.objects.get(), Judge.objects.get()
        assert made["Location"] == reverse("admin:judging_endpoint_test", args=[place.pk])
        assert (judge.study, judge.endpoint, judge.model, judge.name) == (study, place, "longer", "longer")
        assert (place.name, key_for(place), [*place.studies.all()]) == ("127001", KEY, [study])
        work_on_job(Job.objects.get().pk)
        shown = client.get(made["Location"]).text
        assert "longer answered in" in shown
        assert "Judges of the study" in shown
        assert served.authorizations == {f"Bearer {KEY}"}


def test_a_provider_is_known_by_its_name_and_used_again(form, study):
    form(preset="contexteval")
    place = Endpoint.objects.get()
    assert (place.name, place.base_url) == ("openai", "https://api.openai.com/v1")
    assert Judge.objects.get().model == "gpt-5"
    Job.objects.all().delete()
    again = form(key="", model="gpt-5-mini")
    assert again.status_code == 302
    assert Endpoint.objects.get().stored_key == place.stored_key
    assert {judge.model for judge in Judge.objects.all()} == {"gpt-5", "gpt-5-mini"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"provider": ""}, "This field is required."),
        ({"provider": "other"}, "Enter the address."),
        ({"provider": "mistral"}, "This address is not on the list of allowed endpoints."),
        ({"provider": "other", "base_url": "nonsense"}, "The URL must begin with https:// or http://"),
        ({"key": "ASSAY_KEY_OPENAI"}, "This is the name of a key in the environment"),
        ({"preset": "href"}, "No query of the study has a human-written reference."),
        ({"model": ""}, "This field is required."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(form, fields, said):
    refused = form(**fields)
    assert refused.status_code == 422
    assert said in refused.text
    assert KEY not in refused.text
    assert not Endpoint.objects.exists()
    assert not Judge.objects.exists()


def test_without_the_permission_there_is_no_field_for_a_key(client, owner, study):
    owner.user_permissions.clear()
    client.force_login(owner)
    address = reverse("admin:judging_judge_provider", args=[study.slug])
    shown = client.get(address).text
    assert "Your account may not enter keys" in shown
    assert 'name="key"' not in shown
    client.post(address, {"provider": "ollama", "model": "qwen", "key": KEY})
    assert Endpoint.objects.get().stored_key == ""
