"""Generation in the admin: from queries over a run and its products to a draft."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from evaluation.models import Study
from judging.generation.pipelines import PIPELINES
from judging.models import Product, Run
from judging.services.generation.products import edit_product
from judging.services.runs.work import work_on
from tests.judging import endpoint
from tests.judging.generating import Stories, generated, make_endpoint, study_of_queries

QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(4)]


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served, owner):
    make_endpoint(served, models=("aspen", "birch", "elm:yes:full"))
    made = study_of_queries(tmp_path, QUERIES)
    made.members.create(user=owner, role="owner")
    return made


@pytest.fixture
def researcher(client, owner):
    owner.is_staff = True
    owner.save()
    client.force_login(owner)
    return client


def address(name, study, *arguments):
    return reverse(f"admin:evaluation_study_{name}", args=[study.slug, *arguments])


def test_a_run_is_estimated_started_and_watched(
    researcher, study, served, django_capture_on_commit_callbacks
):
    page = researcher.get(address("generation", study)).content.decode()
    assert "4 queries" in page
    start = address("generation_start", study, "responses")
    assert start in page
    from judging.models import Endpoint

    form = {
        "endpoint": Endpoint.objects.get().pk, "models-writers": "aspen\nbirch", "temperature-writers": "0.3",
        "top_p-writers": "0.9",
        "max_tokens-writers": "200", "option-settings": "without", "option-follow_ups": "10", "seed": "5",
    }  # fmt: skip
    told = researcher.post(start, form | {"estimate": "1"})
    assert told.status_code == 200
    assert "At most" in told.content.decode()
    assert Run.objects.count() == 0
    assert researcher.post(start, form | {"start": "1", "by_batch": "on"}).status_code == 302
    batched = Run.objects.get()
    assert batched.by_batch
    work_on(batched.pk, seconds=60)
    assert "batch-1" in researcher.get(address("generation_run", study, batched.pk)).content.decode()
    batched.delete()
    begun = researcher.post(start, form | {"start": "1"})
    run = Run.objects.get()
    assert begun.url == address("generation_run", study, run.pk)
    assert run.generating.casts["writers"]["temperature"] == 0.3
    assert run.generating.casts["writers"]["top_p"] == 0.9
    work_on(run.pk)
    shown = researcher.get(begun.url).content.decode()
    assert "complete" in shown
    assert "Make a study of the products" in shown
    assert shown.count('name="product"') == 8
    wrong = researcher.post(start, form | {"models-writers": "aspen @ nowhere", "start": "1"})
    assert wrong.status_code == 422
    assert "no endpoint &#x27;nowhere&#x27;" in wrong.content.decode()


def test_products_are_filtered_dropped_restored_and_edited(researcher, study):
    run = generated(study, "responses", models=("aspen", "birch"))
    here = address("generation_run", study, run.pk)
    first, *_ = Product.objects.order_by("pk")
    assert researcher.get(here, {"q": "day 1"}).content.decode().count('name="product"') == 2
    researcher.post(here, {"product": [first.pk], "drop": "1"})
    first.refresh_from_db()
    assert first.dropped_by is not None
    assert researcher.get(here, {"which": "dropped"}).content.decode().count('name="product"') == 1
    researcher.post(here, {"product": [first.pk], "restore": "1"})
    edit = address("generation_product", study, first.pk)
    page = researcher.get(edit).content.decode()
    assert "As it was made" in page
    assert "Take the original back" not in page
    refused = researcher.post(edit, {"c-text": "  "})
    assert refused.status_code == 422
    assert "&quot;text&quot; must be a text." in refused.content.decode()
    assert researcher.post(edit, {"c-text": "Leek."}).status_code == 302
    first.refresh_from_db()
    assert (first.edited, first.dropped_at) == ({"system": "aspen", "text": "Leek."}, None)
    assert first.content["text"] != "Leek."
    assert "Leek." in researcher.get(here, {"which": "edited"}).content.decode()
    page = researcher.get(edit).content.decode()
    assert "Leek." in page
    assert first.content["text"][:20] in page
    assert researcher.post(edit, {"original": "1"}).status_code == 302
    first.refresh_from_db()
    assert (first.edited, first.edited_by) == (None, None)


def test_rows_of_a_product_come_with_a_button(researcher, study):
    run = generated(study, "contexts", models=("elm:yes:full",), max_queries=1)
    product = Product.objects.filter(unit__run=run, unit__step="follow_ups").first()
    edit = address("generation_product", study, product.pk)
    page = researcher.get(edit).content.decode()
    n = len(product.content["answers"])
    assert f'name="c-answers.{n + 1}"' in page
    assert f'name="c-answers.{n + 2}"' not in page
    sent = {"c-question": "For how many people?", "c-answers.0": "One", "c-answers.1": "Two", "c-rank": "1"}
    more = researcher.post(edit, {**sent, "more": "1"})
    assert more.status_code == 200
    assert f'name="c-answers.{n + 1}"' in more.content.decode()
    assert researcher.post(edit, {**sent, "c-answers.1": "One"}).status_code == 422
    assert researcher.post(edit, sent).status_code == 302
    product.refresh_from_db()
    assert product.edited["answers"] == ["One", "Two"]
    assert product.edited["generator"] == product.content["generator"]


def test_options_of_a_study_to_be_made_are_refused_at_their_fields(researcher, study):
    run = generated(study, "responses", models=("aspen", "birch"), options={"settings": "without"})
    make = address("generation_make", study, run.pk)
    assert researcher.get(make).status_code == 200
    form = {"option-arms": "some", "option-baseline": "", "title": "Soups", "slug": "so ups"}
    refused = researcher.post(make, form)
    assert refused.status_code == 422
    assert set(refused.context["form"].errors) == {"option-arms", "slug"}
    assert not Study.objects.filter(slug="soups").exists()


def test_a_run_is_paused_resumed_and_what_failed_is_retried(researcher, study, served):
    run = generated(study, "responses", work=False)

    def steer(act):
        researcher.post(address("generation_steer", study, run.pk, act))
        run.refresh_from_db()
        return run.state

    assert steer("pause") == "paused"
    assert steer("resume") == "pending"
    served.behaviours = "400"
    work_on(run.pk)
    served.behaviours = ""
    page = researcher.get(address("generation_run", study, run.pk)).content.decode()
    assert "4 units could not be made" in page
    assert steer("retry") == "pending"
    work_on(run.pk)
    assert steer("pause") == "complete"
    assert Product.objects.count() == 4


def test_an_act_is_confirmed_with_a_reason_and_a_run_resumed_with_more_money(researcher, study):
    run = generated(study, "responses", work=False)
    pause = address("generation_steer", study, run.pk, "pause")
    assert f'href="{pause}"' in researcher.get(address("generation_run", study, run.pk)).content.decode()
    assert "No further calls are made" in researcher.get(pause).content.decode()
    run.refresh_from_db()
    assert run.state == "pending", "nothing is done before it is confirmed"
    researcher.post(pause, {"reason": "Too dear."})
    assert LogEntry.objects.latest("pk").change_message == f"Paused {run}. Reason: Too dear."
    assert researcher.post(pause).status_code == 422, "it is paused already"
    researcher.post(address("generation_steer", study, run.pk, "resume"), {"budget": "7"})
    run.refresh_from_db()
    assert (run.state, run.budget) == ("pending", 7)
    assert researcher.get(address("generation_steer", study, run.pk, "judge")).status_code == 404


def test_others_see_nothing_and_viewers_change_nothing(client, study, colleague, outsider):
    run = generated(study, "responses")
    for user in (colleague, outsider):
        user.is_staff = True
        user.save()
    client.force_login(outsider)
    pages = [address("generation", study), address("generation_run", study, run.pk)]
    assert [client.get(page).status_code for page in pages] == [404, 404]
    study.members.update_or_create(user=colleague, defaults={"role": "viewer"})
    client.force_login(colleague)
    assert [client.get(page).status_code for page in pages] == [200, 200]
    product = Product.objects.first()
    client.post(pages[1], {"product": [product.pk], "drop": "1"})
    product.refresh_from_db()
    assert product.dropped_at is None
    for name, arguments in (("generation_start", ["responses"]), ("generation_make", [run.pk])):
        assert client.get(address(name, study, *arguments)).status_code == 403


def test_later_steps_are_made_again_from_the_page(researcher, study):
    with PIPELINES.registered(Stories()):
        run = generated(study, "stories")
        here = address("generation_run", study, run.pk)
        assert "Make the later steps again" not in researcher.get(here, {"step": "story"}).content.decode()
        assert "Make the later steps again" in researcher.get(here, {"step": "choice"}).content.decode()
        edited = Product.objects.filter(unit__step="choice").first()
        edit_product(edited, {"title": "Süße Suppe"})
        begun = researcher.post(f"{here}?step=choice", {"again": "choice"})
        new = Run.objects.exclude(pk=run.pk).get()
        assert begun.url == address("generation_run", study, new.pk)
        work_on(new.pk)
        found = researcher.get(begun.url, {"step": "choice", "q": "Süße"}).content.decode()
        assert found.count('name="product"') == 1
        refused = researcher.post(f"{here}?step=story", {"again": "story"}, follow=True).content.decode()
        assert "No step comes after story." in refused
