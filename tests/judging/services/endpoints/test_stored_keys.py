"""Keys that are entered in the page: encrypted under a secret of their own, bound to an address, shown to nobody."""

import zipfile

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.core import serializers
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction
from django.urls import reverse

from analytics.reports.bundle.writing import export_bundle
from config import logs
from evaluation.dumps.formats import FORMATS
from evaluation.refusals import Refused
from evaluation.services.history import SERVER
from evaluation.tasks import work_on_job
from judging.backends.base import StopRun
from judging.backends.keys import key_for
from judging.models import Endpoint
from judging.services.endpoints.connection_test import begin_test
from judging.services.endpoints.stored_keys import enter_key, key_refusals, remove_key
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint as served_endpoint
from tests.judging.build import make_judge

pytestmark = pytest.mark.django_db
URL = "https://models.example.org/v1"
KEY = "sk-quite-a-secret-of-mine-0123"


@pytest.fixture(autouse=True)
def installed(settings):
    settings.ASSAY_ENDPOINT_SECRETS = ["the first secret"]
    settings.ASSAY_ENDPOINTS_ALLOWED = [URL, "http://127.0.0.1:*"]


@pytest.fixture
def member(django_user_model):
    user = django_user_model.objects.create_user("member", password="x", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="enter_key"))
    return user


@pytest.fixture
def place(member):
    return Endpoint.objects.create(name="place", base_url=URL, created_by=member)


def page_of(endpoint):
    return reverse("admin:judging_endpoint_key", args=[endpoint.pk])


def test_a_key_is_stored_encrypted_and_opened_for_its_address_alone(place, member, settings):
    enter_key(place, f" {KEY} \n", member)
    place.refresh_from_db()
    assert key_for(place) == KEY
    assert KEY not in place.stored_key
    place.base_url = "https://elsewhere.example.org/v1"
    with pytest.raises(StopRun, match="entered for another address"):
        key_for(place)
    place.base_url = URL
    settings.ASSAY_ENDPOINT_SECRETS = ["another secret"]
    with pytest.raises(StopRun, match="can't be opened"):
        key_for(place)
    settings.ASSAY_ENDPOINT_SECRETS = []
    with pytest.raises(StopRun, match="can't be opened"):
        key_for(place)


def test_a_run_sends_the_stored_key(owner, member):
    with served_endpoint.serve(require_key=KEY) as served:
        study = factories.launched_pairs("keyed", 2, owner=owner)
        judge = make_judge(study, served, "coin")
        assert work_on(start_run(study, judge).pk).state == "stopped", "without its key"
        member.is_superuser = True
        member.save()
        enter_key(Endpoint.objects.get(pk=judge.endpoint_id), KEY, member)
        assert work_on(start_run(study, judge).pk).state == "complete"


def test_the_key_is_nowhere_but_on_its_way(owner, client, tmp_path, caplog, capsys):
    """Not in what a run leaves, even where the endpoint quotes it: exports, the bundle, logs, pages, the database."""
    caplog.set_level("DEBUG")
    with served_endpoint.serve(require_key=KEY) as served:
        study = factories.launched_pairs("keyed", 2, owner=owner)
        judge = make_judge(study, served, "coin:echo_key@0.5", orders="both")
        owner.is_superuser = owner.is_staff = True
        owner.save()
        enter_key(Endpoint.objects.get(), KEY, owner)
        run = start_run(study, judge)
        assert work_on(run.pk).state == "complete"
        assert served.authorizations == {f"Bearer {KEY}"}
    assert "I was sent Bearer ***" in " ".join(run.calls.values_list("error", flat=True))
    begun = begin_test(Endpoint.objects.get(), "coin:echo_key", by=owner)
    work_on_job(begun.pk)
    export_bundle(study, tmp_path / "bundle.zip")
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        left = {f"bundle: {name}": archive.read(name) for name in archive.namelist()}
    for name in FORMATS.keys() - {"settled"}:
        call_command("export", study.slug, format=name, out=str(tmp_path / f"out-{name}"))
        left[f"export: {name}"] = (tmp_path / f"out-{name}").read_bytes()
    client.force_login(owner)
    place = Endpoint.objects.get()
    for page in ("change", "history", "test", "key"):
        left[page] = client.get(reverse(f"admin:judging_endpoint_{page}", args=[place.pk])).content
    for model in apps.get_models():
        left[f"rows: {model.__name__}"] = serializers.serialize("json", model._base_manager.all()).encode()
    said = capsys.readouterr()
    left |= {"log": caplog.text.encode(), "said": (said.out + said.err).encode()}
    found = [name for name, content in left.items() if KEY.encode() in content]
    assert found == []
    sealed = [name for name, content in left.items() if place.stored_key.encode() in content]
    assert sealed == ["rows: Endpoint"]


def test_who_may_enter_a_key(place, member, django_user_model, settings):
    assert key_refusals(place, member) == []
    other = django_user_model.objects.create_user("other", is_staff=True)
    assert "needs a permission" in key_refusals(place, other)[0]
    for act in (lambda: enter_key(place, KEY, other), lambda: remove_key(place, other)):
        with pytest.raises(Refused, match="permission"):
            act()
    settings.ASSAY_ENDPOINTS_ALLOWED = []
    assert "not on the list of allowed endpoints" in key_refusals(place, member)[0]
    settings.ASSAY_ENDPOINTS_ALLOWED = ["http://10.0.0.5:8080"]
    inner = Endpoint.objects.create(name="inner", base_url="http://10.0.0.5:8080/v1", created_by=member)
    assert key_refusals(inner, member) == ["A key is only sent over https://, or to this machine."]
    settings.ASSAY_ENDPOINTS_ALLOWED = [URL]
    settings.ASSAY_ENDPOINT_SECRETS = []
    assert "ASSAY_ENDPOINT_SECRETS" in key_refusals(place, member)[0]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("short", "8 to 500"),
        ("two words of it", "no blanks"),
        ("line\r\nbreak-in-it", "no blanks"),
        ("kéys-of-letters", "letters, digits"),
        ("x" * 501, "8 to 500"),
        ("ASSAY_KEY_OPENAI", "name of a key"),
    ],
)
def test_what_can_be_no_key_is_refused(place, member, key, said):
    with pytest.raises(Refused, match=said):
        enter_key(place, key, member)
    place.refresh_from_db()
    assert place.stored_key == ""


def test_an_endpoint_has_one_key(place, member):
    enter_key(place, KEY, member)
    with pytest.raises(IntegrityError), transaction.atomic():
        Endpoint.objects.update(key_name="ASSAY_KEY_X")
    Endpoint.objects.update(stored_key="", key_name="ASSAY_KEY_X")
    place.refresh_from_db()
    with pytest.raises(Refused, match="as ASSAY_KEY_X"):
        enter_key(place, KEY, member)


def test_it_is_entered_and_removed_on_a_page_that_never_shows_it(place, member, client):
    client.force_login(member)
    assert "none" in client.get(reverse("admin:judging_endpoint_change", args=[place.pk])).text
    refused = client.post(page_of(place), {"key": "ASSAY_KEY_MINE_ALONE"})
    assert refused.status_code == 422
    assert "name of a key" in refused.text
    assert "MINE_ALONE" not in refused.text
    stored = client.post(page_of(place), {"key": KEY}, follow=True)
    assert "The key of place is stored" in stored.text
    for address in (page_of(place), reverse("admin:judging_endpoint_change", args=[place.pk])):
        shown = client.get(address)
        assert KEY not in shown.text
        assert Endpoint.objects.get().stored_key not in shown.text
    history = reverse("admin:judging_endpoint_history", args=[place.pk])
    assert "Entered its key." in client.get(history).text
    assert KEY not in "".join(LogEntry.objects.values_list("change_message", flat=True))
    client.post(page_of(place), {"remove": "1"})
    assert Endpoint.objects.get().stored_key == ""
    assert "Removed its stored key." in client.get(history).text


def test_the_page_is_for_those_with_the_permission_who_know_the_endpoint(
    place, client, django_user_model, owner
):
    stranger = django_user_model.objects.create_user("stranger", is_staff=True)
    client.force_login(stranger)
    assert client.get(page_of(place)).status_code == 404
    Endpoint.objects.update(open_to_all=True)
    assert client.get(page_of(place)).status_code == 403
    assert client.post(page_of(place), {"key": KEY}).status_code == 403
    stranger.user_permissions.add(Permission.objects.get(codename="enter_key"))
    assert client.post(page_of(place), {"key": KEY}).status_code == 302
    assert key_for(Endpoint.objects.get()) == KEY


def test_another_address_takes_the_key_away(place, member, client, settings):
    settings.ASSAY_ENDPOINTS_ALLOWED = [URL, "https://elsewhere.example.org"]
    enter_key(place, KEY, member)
    client.force_login(member)
    change = reverse("admin:judging_endpoint_change", args=[place.pk])
    fields = {
        "name": "place", "base_url": URL, "key_name": "", "timeout_seconds": "60", "max_in_flight": "16",
        "requests_per_minute": "", "tokens_per_minute": "", "batch_price_factor": "1",
        "prices-TOTAL_FORMS": "0", "prices-INITIAL_FORMS": "0",
    }  # fmt: skip
    refused = client.post(change, {**fields, "key_name": "ASSAY_KEY_X"})
    assert "A key is stored for this endpoint" in refused.text
    client.post(change, {**fields, "max_in_flight": "8"})
    place.refresh_from_db()
    assert (place.max_in_flight, key_for(place)) == (8, KEY)
    said = client.post(change, {**fields, "base_url": "https://elsewhere.example.org/v1"}, follow=True)
    assert "Its stored key was for the old address" in said.text
    place.refresh_from_db()
    assert (place.base_url, place.stored_key) == ("https://elsewhere.example.org/v1", "")


def test_the_secret_is_rotated(place, member, settings, capsys):
    enter_key(place, KEY, member)
    settings.ASSAY_ENDPOINT_SECRETS = ["the second secret", "the first secret"]
    call_command("rotate_endpoint_keys")
    assert "first secret: 1." in capsys.readouterr().out
    settings.ASSAY_ENDPOINT_SECRETS = ["the second secret"]
    place.refresh_from_db()
    assert key_for(place) == KEY
    settings.ASSAY_ENDPOINT_SECRETS = ["a third one"]
    with pytest.raises(CommandError, match="not at hand: place"):
        call_command("rotate_endpoint_keys")
    settings.ASSAY_ENDPOINT_SECRETS = []
    with pytest.raises(CommandError, match="is not set"):
        call_command("rotate_endpoint_keys")


def test_the_secret_is_masked_in_logs():
    assert "of-two-secrets" in logs.secret_values(
        {"ASSAY_ENDPOINT_SECRETS": "of-two-secrets, another-of-them"}
    )


def test_a_command_stores_and_removes_it_and_never_tells_it(
    place, member, django_user_model, tmp_path, capsys
):
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    django_user_model.objects.create_user("nobody", is_staff=True)
    with pytest.raises(CommandError, match="needs a permission of its own"):
        call_command("endpoint_key", "place", "--from", str(file), "--by", "nobody")
    call_command("endpoint_key", "place", "--from", str(file), "--json")
    place.refresh_from_db()
    assert key_for(place) == KEY
    said = capsys.readouterr()
    assert KEY not in said.out + said.err
    assert LogEntry.objects.latest("pk").change_message == "Entered its key."
    assert LogEntry.objects.latest("pk").user.username == SERVER
    call_command("endpoint_key", "place", "--remove", "--by", "member")
    place.refresh_from_db()
    assert place.stored_key == ""
    assert LogEntry.objects.latest("pk").user == member
    file.write_text("no key")
    with pytest.raises(CommandError, match="8 to 500"):
        call_command("endpoint_key", "place", "--from", str(file))
    with pytest.raises(CommandError, match="can't be read"):
        call_command("endpoint_key", "place", "--from", str(tmp_path / "nowhere"))
