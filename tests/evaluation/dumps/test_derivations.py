"""Studies derived from what was judged: what they hold, what is left out, and what they say of their origin."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from evaluation.dumps.derivation import DerivationOption
from evaluation.dumps.derive import derivations_of, derive_study, plan_derivation
from evaluation.models import Context, Item, Judgment, Rater, Study
from evaluation.protocols.entries.sets import read_set
from evaluation.refusals import Refused
from evaluation.services.exclusions import exclude
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from evaluation.services.tokens import make_token
from tests import factories
from tests.analytics.reports.answering import answered_study, give, new_rater
from tests.calibrations import FERRY, OLD, calibrated, calibration_study, kept
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


def launched(draft):
    """The derived draft, launched as it is."""
    launch_study(draft)
    draft.refresh_from_db()
    assert list(verify_study(draft)) == []
    return draft


def preference(label, why=""):
    return {"preference": label} | ({"justification": why} if why else {})


@pytest.fixture
def pairs(owner):
    """Four pairs, on which three people agree, have no majority, agree against the judge, and are two."""
    study = factories.launch(
        factories.make_study("pairs", owner=owner, queries=4, arms=PAPER_ARMS[:1], contact="r@example.org")
    )
    people = [new_rater(study, name) for name in ("ANNE", "BERT", "CLEO")]
    give(
        study,
        people[0],
        [preference("r1", "Short and right."), preference("r1"), preference("r1"), preference("r1")],
    )
    give(
        study,
        people[1],
        [
            preference("r1"),
            preference("r2", "It says why it is so, which helps."),
            preference("r1"),
            preference("r2"),
        ],
    )
    give(study, people[2], [preference("r1"), preference("tie", "Both."), preference("r1"), None])
    judge = new_rater(study, "gpt v1", kind="judge")
    give(study, judge, [preference("r1"), preference("r1"), preference("r2", "I say so."), preference("r1")])
    return study


# --- justifications ---------------------------------------------------------------------------------------------------


def test_each_reason_becomes_an_item_to_be_coded(pairs, owner):
    derived = derive_study(pairs, "justifications", by=owner, slug="coding")
    texts = set(derived.items.values_list("responses__text", "responses__system__key"))
    assert texts == {
        ("Short and right.", "crowd"), ("It says why it is so, which helps.", "crowd"), ("Both.", "crowd"),
        ("I say so.", "gpt v1"),
    }  # fmt: skip
    assert (derived.protocol, derived.contact, derived.once_per) == (
        "justification_coding",
        "r@example.org",
        "item",
    )
    assert [(member.user, member.role) for member in derived.members.all()] == [(owner, "owner")]
    judgment = Judgment.objects.get(rater__pseudonym="ANNE", item__query__key="q0")
    item = derived.items.get(responses__text="Short and right.")
    assert item.origin == {"item": judgment.item.key, "rater": "ANNE", "judgments": [judgment.pk]}
    assert (derived.origin["how"], derived.origin["study"], derived.origin["revision"]) == (
        "justifications",
        "pairs",
        1,
    )
    launched(derived)


def test_reasons_are_coded_by_the_codebook_of_choice(pairs):
    own = launched(derive_study(pairs, "justifications", slug="own"))
    other = launched(derive_study(pairs, "justifications", {"codebook": "lfqa"}, slug="other"))
    [coded] = other.questions.values_list("options", flat=True)
    assert len(coded["form"]["choices"]) == 11
    assert coded["form"]["choices"] != own.questions.get().options["form"]["choices"]
    with pytest.raises(Refused, match="is none of criteria, lfqa"):
        plan_derivation(pairs, "justifications", {"codebook": "mine"})


def test_the_longest_reasons_and_those_of_judges(pairs):
    plan = plan_derivation(pairs, "justifications", {"longest": "1"})
    assert (plan.items, plan.first["responses"][0]["text"]) == (1, "It says why it is so, which helps.")
    assert dict(plan.left_out) == {"reasons that are shorter than the longest": 3}
    judges = plan_derivation(pairs, "justifications", {"raters": "judges"})
    assert [each["system"] for each in judges.first["responses"]] == ["gpt v1"]
    assert dict(judges.left_out) == {"reasons of people": 3}
    people = plan_derivation(pairs, "justifications", {"raters": "people"})
    assert (people.items, dict(people.left_out)) == (3, {"reasons of judges": 1})
    exclude(study=pairs, rater=Rater.objects.get(pseudonym="BERT"), reason="Random.")
    assert plan_derivation(pairs, "justifications").items == 3
    assert Study.objects.count() == 1  # plans make nothing


# --- disagreements ----------------------------------------------------------------------------------------------------


def keys(study):
    return sorted(study.items.filter(role="main").values_list("query__key", flat=True))


def test_items_without_a_majority_get_a_second_round(pairs):
    plan = plan_derivation(pairs, "disagreements")
    assert (plan.items, plan.others) == (2, pairs.items.exclude(role="main").count())
    assert plan.left_out["items on which people agree more than that"] == 2
    derived = launched(derive_study(pairs, "disagreements", {"share": 0.5}, slug="again"))
    assert keys(derived) == ["q1", "q3"]
    stimuli = dict(pairs.items.values_list("key", "stimulus_hash"))
    for item in derived.items.all():
        assert item.stimulus_hash == stimuli[item.key]
    assert len(derived.items.get(query__key="q1").origin["judgments"]) == 3
    assert keys(derive_study(pairs, "disagreements", {"share": 0.4}, slug="fewer")) == ["q1"]


def test_a_judge_against_the_majority_of_people(pairs):
    plan = plan_derivation(pairs, "disagreements", {"between": "judge"})
    assert plan.first["query"]["key"] == "q2"
    assert dict(plan.left_out) == {
        "items without a majority among people": 2, "items on which the judge agrees with people": 1,
    }  # fmt: skip
    with pytest.raises(Refused, match=r"Name one judge .*: gpt v1"):
        plan_derivation(pairs, "disagreements", {"between": "judge", "judge": "nobody"})


# --- rankings, contexts, entries --------------------------------------------------------------------------------------


def test_scores_are_put_beside_rankings():
    scored = answered_study("aspects", queries=2)
    derived = launched(derive_study(scored, "rankings", slug="ranked"))
    assert keys(derived) == ["q0", "q1"]
    assert [each["system"] for each in derived.items.first().stimulus["responses"]] == [
        "aspen",
        "birch",
        "cedar",
    ]
    assert derived.questions.get(key="ranking").prompt == "Put the responses in order, the best first."
    assert derived.texts.get(key="thanks").body == "Thank you. Your judgments have been recorded."
    two = plan_derivation(scored, "rankings", {"systems": "aspen, cedar"})
    assert [each["system"] for each in two.first["responses"]] == ["aspen", "cedar"]


def test_reasons_that_germans_gave_are_coded_in_german():
    study = factories.launch(factories.make_study("paare", queries=1, arms=PAPER_ARMS[:1], language="de"))
    give(study, new_rater(study, "ANNE"), [preference("r1", "Kurz und richtig.")])
    derived = launched(derive_study(study, "justifications", {"codebook": "lfqa"}, slug="coding"))
    coded = derived.questions.get()
    assert (coded.prompt, coded.options["grammar"]) == ("Worum geht es in der Begründung?", "Grammatik")
    assert coded.options["form"]["choices"][7] == "grammar"


def test_rankings_are_asked_for_in_the_language_of_the_scores():
    scored = answered_study("aspects", queries=2, language="es")
    derived = derive_study(scored, "rankings", slug="ranked")
    assert derived.language == "es"
    assert derived.questions.get(key="ranking").prompt == "Ponga las respuestas en orden, la mejor primero."
    assert derived.texts.get(key="guideline").body.startswith("Una respuesta es mejor si")
    assert derived.texts.get(key="thanks").body == "Gracias. Sus valoraciones se han guardado."


def yes(study, **no):
    """Yes to everything, but for these follow-up questions by check."""
    item = study.items.first()
    parts = [each["part"] for each in item.stimulus["context"]["follow_ups"]]
    return {
        check: {part: int(part not in no.get(check, ())) for part in parts}
        for check in ("important", "realistic", "complete", "diverse")
    }


def test_pairs_with_the_follow_up_questions_that_passed(pairs, owner, outsider):
    study = answered_study("context_validation", queries=2, slug="contexts", owner=owner)
    Context.objects.filter(query__study=study).update(source="aspen")
    give(study, new_rater(study, "DORA"), [yes(study), yes(study, important=["f1"])])
    give(study, new_rater(study, "EMIL"), [yes(study, diverse=["f2"]), yes(study, complete=["f1", "f2"])])
    with pytest.raises(Refused, match="no responses of two systems"):
        plan_derivation(study, "validated_contexts")
    chosen = {"responses_from": "pairs"}
    plan = plan_derivation(study, "validated_contexts", chosen)
    # Half is not more than half: f2 of the first query failed, and of the second both did.
    assert (plan.items, plan.queries) == (2, 1)
    assert plan.left_out["follow-up questions that did not pass"] == 3
    derived = launched(derive_study(study, "validated_contexts", chosen, slug="judged"))
    assert set(derived.items.values_list("arm__key", flat=True)) == {"NoCtxGen-NoCtxEval", "NoCtxGen-CtxEval"}
    assert {item.context.source for item in derived.items.exclude(context=None)} == {"aspen"}
    [follow_up] = derived.items.first().stimulus["context"]["follow_ups"]
    assert follow_up["question"] == "How much do they know?"
    assert follow_up["answer"] in follow_up["answers"]
    lenient = {**chosen, "diverse": 0.4, "complete": 0.4, "important": 0.4}
    assert plan_derivation(study, "validated_contexts", lenient).queries == 2
    study.members.create(user=outsider, role="owner")
    with pytest.raises(Refused, match="There is no study 'pairs'"):
        plan_derivation(study, "validated_contexts", chosen, by=outsider)


def test_a_judge_s_entries_become_drafts():
    study = calibration_study({"q1": [[OLD]], "q2": [[OLD]]})
    assert "entry_drafts" not in [each.key for each in derivations_of(study)]
    give(
        study,
        new_rater(study, "drafter v1", kind="judge"),
        [calibrated(FERRY), calibrated(kept(OLD, "r1.e1"))],
    )
    derived = launched(derive_study(study, "entry_drafts", slug="drafts"))
    sets = {item.key: read_set(item.stimulus["responses"][0]["text"]) for item in derived.items.all()}
    assert sets == {"q1": [FERRY], "q2": [OLD]}
    assert derived.queries.first().documents == study.queries.first().documents
    assert Item.objects.get(study=derived, key="q1").origin["rater"] == "drafter v1"


# --- doors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "given", "sentence"),
    [
        ("poems", {}, "There is no derivation 'poems'"),
        ("justifications", {"longest": "many"}, "longest: 'many' is no number"),
        ("justifications", {"longest": -1}, "longest: must be from 0"),
        ("justifications", {"raters": "cats"}, "'cats' is none of people, judges, all"),
        ("justifications", {"colour": "red"}, "colour: there is no such option"),
        ("justifications", {"question": "preference"}, "No question 'preference' is answered in words"),
        ("disagreements", {"share": 0}, "There is nothing to derive. Left out: "),
        ("entry_drafts", {}, "No condition-answer-citation entries"),
    ],
)
def test_what_can_not_be_derived_is_refused_and_nothing_made(pairs, kind, given, sentence):
    for act in (plan_derivation, derive_study):
        with pytest.raises(Refused, match=sentence):
            act(pairs, kind, given)
    assert Study.objects.count() == 1


def test_an_option_takes_what_its_default_is():
    assert DerivationOption(name="n", label="n", default=1).clean("4") == 4
    with pytest.raises(ValueError, match="n: None is no number"):
        DerivationOption(name="n", label="n", default=0.5).clean(None)


def test_by_page_command_and_api(pairs, owner):
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_derive", args=[pairs.slug])
    assert "Justifications to code" in client.get(address).content.decode()
    kind = f"{address}?kind=disagreements"
    names = {"title": "Again", "slug": "again"}
    options = {"option-between": "people", "option-share": "0.5", "option-judge": "", "option-question": ""}
    shown = client.post(kind, {**options, **names}).content.decode()
    assert "2 items on 2 queries" not in shown  # with those of the training and the checks
    assert "2 items on" in shown
    assert "What about q1?" in shown
    assert not Study.objects.filter(slug="again").exists()
    done = client.post(kind, {**options, **names, "make": "1"}, follow=True).content.decode()
    assert "Again is a draft." in done
    assert "Derived from" in done
    taken = client.post(kind, {**options, **names, "make": "1"})
    assert (taken.status_code, "There is a study" in taken.content.decode()) == (422, True)

    out = StringIO()
    call_command("derive_study", "pairs", stdout=out)
    assert "disagreements: " in out.getvalue()
    call_command(
        "derive_study", "pairs", "justifications", "--set", "longest=2", "--slug", "shell", stdout=out
    )
    assert "shell is a draft" in out.getvalue()
    with pytest.raises(CommandError, match="Nothing was made"):
        call_command("derive_study", "pairs", "justifications", "--slug", "shell")

    headers = {"Authorization": f"Bearer {make_token(owner, name='t')[1]}"}
    api = "/api/v1/studies/pairs/derivations/"
    listed = Client().get(api, headers=headers).json()
    assert {each["kind"] for each in listed} == {"disagreements", "justifications"}
    body = {"kind": "justifications", "options": {"longest": 1}, "slug": "script"}
    preview = Client().post(api, body | {"preview": True}, "application/json", headers=headers)
    assert (preview.status_code, preview.json()["items"], preview.json()["slug"]) == (200, 1, "")
    made = Client().post(api, body, "application/json", headers=headers)
    assert (made.status_code, made.json()["slug"]) == (201, "script")
    again = Client().post(api, body, "application/json", headers=headers)
    assert (again.status_code, again.json()["code"]) == (409, "refused")
