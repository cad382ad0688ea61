"""The embedding judge in this process: its verdicts, and the folders that it is kept out of."""

import io
import sys

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Query
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.verification import verify_study
from judging.backends.embedding.static import NOT_INSTALLED
from judging.selectors import judges_in_figures
from judging.services.judges import create_judge, edit_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests import factories
from tests.judging.backends.embedding.static_model import build_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def models(tmp_path, settings):
    settings.ASSAY_STATIC_MODELS = str(tmp_path / "models")
    build_model(tmp_path / "models" / "tiny")
    return tmp_path / "models"


@pytest.fixture
def study(owner):
    """Aspen answers with a wolf, birch with a tax; a fox is the reference, or a fox and a tax, or nothing."""
    study = factories.make_study(
        "words", owner=owner, arms=factories.PAPER_ARMS[:1], queries=4, training=False, checks=0
    )
    references = (["fox"], ["fox", "tax"], [], ["fox"])
    for query, each in zip(Query.objects.filter(study=study).order_by("pk"), references, strict=True):
        query.references = each
        query.save()
    for number, item in enumerate(study.items.order_by("pk")):
        for response in item.responses.select_related("system"):
            response.text = (
                "a wolf" if response.system.key == "aspen" else "quokka" if number == 3 else "a tax"
            )
            response.save()
    return factories.launch(study)


def make(study, folder="tiny", **options):
    options = {"folder": folder, **options}
    return create_judge(study, name="near", backend="static_embedding", options=options)


def run(study, judge):
    begun = start_run(study, judge)
    work_on(begun.pk)
    begun.refresh_from_db()
    return begun


def found_of(begun):
    """{item: (system preferred, {system: cosine})}, in the order of items."""
    rows = {}
    for judgment in begun.judging.rater.judgments.filter(outcome="ok").select_related("item"):
        system = {each["part"]: each["system"] for each in judgment.item.stimulus["responses"]}
        answers = {(each.question, each.part): each for each in judgment.answers.all()}
        label = answers.pop(("preference", "")).label
        rows[judgment.item_id] = (
            system.get(label, label),
            {system[part]: round(each.number, 6) for (_, part), each in answers.items()},
        )
    return [rows[pk] for pk in sorted(rows)]


def test_the_response_nearer_to_the_nearest_reference_wins(study, models):
    begun = run(study, make(study))
    assert begun.state_text == "complete, 2 of 4 not answered"
    assert found_of(begun) == [
        ("aspen", {"aspen": 0.8, "birch": 0.0}),
        ("birch", {"aspen": 0.8, "birch": 1.0}),
    ]
    assert set(begun.calls.filter(outcome="failed").values_list("error", flat=True)) == {
        "The query has no human-written reference.",
        "The static model knows no word of a text.",
    }
    assert list(verify_study(study)) == []
    [said] = judges_in_figures(study)
    assert "static embeddings compared with the reference" in said
    assert begun.judging.rater.about["reference"] is True


def test_within_the_margin_it_is_a_tie(study, models):
    assert [label for label, _ in found_of(run(study, make(study, margin=0.25)))] == ["aspen", "tie"]


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("", "Name the folder of a static model"),
        ("..", "not inside the folder"),
        (".", "not inside the folder"),
        ("../elsewhere", "not inside the folder"),
        ("tiny/../../elsewhere", "not inside the folder"),
        ("/etc", "not inside the folder"),
        ("out", "not inside the folder"),
        ("missing", r"no static model in missing: model\.safetensors"),
        ("half", r"no static model in half: tokenizer\.json, config\.json missing"),
    ],
)
def test_no_other_place_on_the_disk_is_read(study, models, folder, said):
    build_model(models.parent / "elsewhere")
    (models / "out").symlink_to(models.parent / "elsewhere")
    (models / "half").mkdir()
    (models / "half" / "model.safetensors").touch()
    with pytest.raises(FieldsRefused, match=said):
        make(study, folder)
    assert not study.judges.exists()


def test_an_installation_without_the_setting_has_none(study, settings):
    assert settings.ASSAY_STATIC_MODELS == ""
    with pytest.raises(FieldsRefused, match="its operator sets ASSAY_STATIC_MODELS"):
        make(study)
    with pytest.raises(CommandError, match="ASSAY_STATIC_MODELS"):
        call_command(
            "run_judge", study.slug, judge=["static_embedding"], progress=False, stdout=io.StringIO()
        )


def test_without_the_extra_it_is_refused_in_words(study, models, monkeypatch):
    judge = make(study)
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(FieldsRefused, match="extra that is not installed"):
        edit_judge(judge, options={"folder": "tiny", "margin": 1})
    with pytest.raises(Refused) as refused:
        start_run(study, judge)
    assert refused.value.problems == [NOT_INSTALLED]


def test_a_model_that_breaks_later_stops_the_run_with_the_reason(study, models):
    judge = make(study)
    (models / "tiny" / "model.safetensors").write_bytes(b"broken")
    begun = run(study, judge)
    assert begun.state == "stopped"
    assert begun.reason.startswith("The static model in tiny can't be read")
    assert not begun.calls.exclude(state="open").exists()
    build_model(models / "tiny")
    other = run(study, judge)
    assert other.state == "complete"
