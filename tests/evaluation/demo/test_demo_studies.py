"""The demo studies: their files hold, every protocol has one, and loading them gives studies with something to say."""

import json
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction

from analytics.reports import build
from annotator.models import Assignment, AssignmentState
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation import design
from evaluation.demo.simulation import PER_ITEM
from evaluation.demo.studies import STUDIES
from evaluation.dumps.imports.checker import DumpChecker
from evaluation.dumps.lines import FileSource
from evaluation.models import Answer, Judgment, Rater, Role, Study
from evaluation.protocols import PROTOCOLS, Kind, Over
from evaluation.protocols.answers.gold import NOTE
from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.attributes import ATTRIBUTES
from evaluation.protocols.entries.sets import drafted_entries
from evaluation.selectors import settled_judgments
from evaluation.services.settling import reason_of
from evaluation.services.studies.verification import verify_study
from judging.models import Run, RunState
from tests.analytics.reports.reading import build_report
from tests.analytics.reports.test_one_interval import estimates

SLUGS = [demo.slug for demo in STUDIES]


def lines_of(demo):
    return [json.loads(line) for line in demo.items.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("demo", STUDIES, ids=SLUGS)
def test_a_file_can_be_read_in(demo):
    """Checked as an import checks it, without a database; refused with every problem if there is one."""
    checker = DumpChecker(
        FileSource(demo.items), slug=demo.slug, protocol="", title="", render=lambda text, rules: text
    )
    assert checker.run(lambda *told: None) is not None


@pytest.mark.parametrize("demo", STUDIES, ids=SLUGS)
def test_a_study_says_that_it_is_a_demo_and_leads_from_consent_to_a_code(demo):
    study, *items = lines_of(demo)
    assert study["spec"]["title"].endswith("(demo)")
    steps = study["spec"]["steps"]
    assert steps["consent"]
    assert steps["instructions"]
    assert study["rules"]["completion_codes"]["completed"]
    roles = Counter(item.get("role", "main") for item in items)
    assert bool(roles["training"]) == steps["training"]
    assert bool(roles["attention"]) == bool(steps["attention"])


def test_every_protocol_has_a_demo():
    assert {lines_of(demo)[0]["spec"]["protocol"] for demo in STUDIES} == set(PROTOCOLS)


def test_the_relevance_demo_asks_of_the_attributes_that_come_with_assay():
    (demo,) = (demo for demo in STUDIES if demo.slug == "relevance")
    known = {attribute.question: list(attribute.values) for attribute in ATTRIBUTES.values()}
    follow_ups = [each for item in lines_of(demo)[1:] for each in item["context"]["follow_ups"]]
    assert {bool(each.get("answer")) for each in follow_ups} == {True, False}
    named = [each["attribute"] for each in follow_ups if "attribute" in each]
    assert named
    assert set(named) <= ATTRIBUTES.keys()
    for each in follow_ups:
        if "attribute" in each:
            continue
        assert each["answers"] == known[each["question"]]


def test_documents_lead_to_addresses_that_are_nobody_s():
    documents = [
        document
        for demo in STUDIES
        for item in lines_of(demo)[1:]
        for document in item["query"].get("documents", [])
    ]
    assert len(documents) >= 60
    assert all(document["url"].startswith("https://example.org/") for document in documents)
    assert all(document["title"] and document["snippet"] for document in documents)


@pytest.fixture(scope="module")
def said(django_db_setup, django_db_blocker):
    """All demo studies, loaded once for this file; what loading them printed."""
    with django_db_blocker.unblock(), transaction.atomic():
        out = StringIO()
        call_command("load_demo", stdout=out)
        yield out.getvalue()
        transaction.set_rollback(True)


@pytest.fixture(params=SLUGS)
def study(request, said):
    return Study.objects.get(slug=request.param)


@pytest.mark.django_db
def test_a_demo_study_is_live_and_says_who_judged_it(study, said):
    assert study.status == "live"
    assert study.simulated
    judged = study.judgments.filter(rater__kind=Rater.Kind.SIMULATED).count()
    assert f"{study.title}: live, with {judged} judgments by simulated raters." in said


@pytest.mark.django_db
def test_no_person_judged(study):
    assert Rater.Kind.PERSON not in set(study.judgments.values_list("rater__kind", flat=True))
    simulated = study.judgments.filter(rater__kind=Rater.Kind.SIMULATED)
    main = study.items.filter(role=Role.MAIN).values_list("pk", flat=True)
    assert Counter(simulated.values_list("item", flat=True)) == dict.fromkeys(main, PER_ITEM)
    assert not simulated.exclude(replicate=0).exists()
    assert not simulated.exclude(rater__label__startswith="simulated").exists()


@pytest.mark.django_db
def test_every_invariant_holds(study):
    assert list(verify_study(study)) == []


@pytest.mark.django_db
def test_the_random_judge_has_been_through(study):
    runs = Run.objects.filter(judging__judge__study=study)
    assert set(runs.values_list("state", flat=True)) == {RunState.COMPLETE}
    assert runs.filter(judging__judge__backend="random").count() == 1


@pytest.mark.django_db
def test_simulated_raters_answered_all_that_is_required(study):
    protocol, spec = study.protocol_object, study.revisions.get().spec
    judged = study.judgments.filter(rater__kind=Rater.Kind.SIMULATED)
    for judgment in judged.select_related("item").prefetch_related("answers"):
        stimulus = judgment.item.stimulus
        # A set is about the item, whatever entries it has.
        given = {
            (answer.question, "" if answer.kind == Kind.ENTRIES else answer.part)
            for answer in judgment.answers.all()
        }
        wanted = {
            (question.key, part)
            for question in protocol.questions(spec, stimulus)
            if question.required
            for part in parts_of(question, stimulus)
        }
        assert wanted <= given


@pytest.mark.django_db
def test_simulated_raters_saw_the_orders_that_the_design_deals(study):
    for item in study.items.filter(role=Role.MAIN):
        rows = {design.presented_order(item.n_responses, item.start_order + k) for k in range(PER_ITEM)}
        shown = set(item.judgments.filter(rater__kind=Rater.Kind.SIMULATED).values_list("shown", flat=True))
        assert shown == rows


@pytest.mark.django_db
def test_who_answers_as_the_gold_says_passes(study):
    protocol, spec = study.protocol_object, study.revisions.get().spec
    for item in study.items.filter(gold__isnull=False):
        answers = protocol.clean(
            spec, item.stimulus, as_data(item, protocol.questions(spec, item.stimulus)), source="import"
        )
        result = protocol.compare_gold(item.stimulus, item.gold, answers)
        assert result.passed, item.key
        assert result.note or item.role == Role.ATTENTION


def as_data(item, questions):
    """Answers that say what the gold says; a ranking of which it names some places is filled up."""
    data = {}
    for question in questions:
        wanted = item.gold.get(question.key)
        if question.key == NOTE or wanted is None:
            continue
        if question.kind == Kind.ENTRIES:
            data[question.key] = settled(item.stimulus, wanted)
            continue
        data[question.key] = (
            {part: first(value) for part, value in wanted.items()}
            if isinstance(wanted, dict)
            else first(wanted)
        )
        if question.kind == Kind.RANKING:
            data[question.key] = filled_up(data[question.key], parts_of(question, item.stimulus))
    return data


def settled(stimulus, decisions):
    """A set in which with every drafted entry was done what is wanted; the others are accepted."""
    done = {
        name: (first(decisions.get(name, "accepted")), entry)
        for name, entry in drafted_entries(stimulus).items()
    }
    return [
        entry | {"reason": f"{entry['reason']} Put right."} if decision == "edited" else entry
        for decision, entry in done.values()
        if decision != "rejected"
    ]


def first(value):
    return value[0] if isinstance(value, list) else value


def filled_up(ranks, parts):
    left = iter(sorted(set(range(1, len(parts) + 1)) - set(ranks.values())))
    return {part: ranks[part] if part in ranks else next(left) for part in parts}


@pytest.mark.django_db
def test_one_demo_has_settled_labels_and_notes_with_something_to_say(said):
    study = Study.objects.get(slug="plain-comparison")
    settled = settled_judgments(study)
    assert Counter(each.rater.settled_by.username for each in settled) == {"demo": 11}
    assert all(reason_of(each) for each in settled)
    assert study.notes.count() == 2
    report = build.build_report(study, replicates=50, only=["agreement/settled"])
    found = [each for each in report["records"] if each["figure"] == "agreement/settled"]
    # Simulated raters and the random judges.
    assert len(found) > 1
    assert found[0]["held"]["same"]["agreement"]["n"] > 5


@pytest.mark.django_db
def test_loading_again_changes_nothing(said):
    before = Study.objects.count(), Judgment.objects.count(), Answer.objects.count()
    out = StringIO()
    call_command("load_demo", stdout=out)
    assert (Study.objects.count(), Judgment.objects.count(), Answer.objects.count()) == before
    assert out.getvalue() == ""


def numbers(slug, question):
    """{(judgment, system): number} of the simulated raters."""
    found = Answer.objects.filter(
        judgment__study__slug=slug, judgment__rater__kind=Rater.Kind.SIMULATED, question=question
    ).select_related("judgment__item")
    return {
        (answer.judgment_id, response["system"]): answer.number
        for answer in found
        for response in answer.judgment.item.stimulus["responses"]
        if response["part"] == answer.part
    }


def mean_of(slug, question, system):
    values = [number for (_, of), number in numbers(slug, question).items() if of == system]
    return sum(values) / len(values)


@pytest.mark.django_db
def test_what_is_picked_as_best_is_acceptable(said):
    acceptability = numbers("aspects", "acceptability")
    best = Answer.objects.filter(
        judgment__study__slug="aspects", judgment__rater__kind=Rater.Kind.SIMULATED, question="best"
    ).select_related("judgment__item")
    assert best
    for answer in best:
        (system,) = (
            each["system"]
            for each in answer.judgment.item.stimulus["responses"]
            if each["part"] == answer.label
        )
        rated = {
            of: number for (judgment, of), number in acceptability.items() if judgment == answer.judgment_id
        }
        assert rated[system] >= max(rated.values()) - 1


@pytest.mark.django_db
def test_better_systems_come_out_better(said):
    assert mean_of("aspects", "factuality", "hazel") > mean_of("aspects", "factuality", "holly") + 0.5
    assert mean_of("ranking", "ranking", "alder") < mean_of("ranking", "ranking", "ginkgo") - 1
    assert mean_of("question-quality", "overall", "alder") > 7


def form_fields(item, questions):
    """A complete form: gold where the item has some, otherwise anything that a form takes."""
    gold = as_data(item, questions) if item.gold else {}
    fields = {}
    for question in questions:
        if question.kind == Kind.ENTRIES:
            fields |= rows_of(question.key, gold.get(question.key) or settled(item.stimulus, {}))
            continue
        parts = parts_of(question, item.stimulus)
        given = gold.get(question.key)
        for rank, part in enumerate(parts, 1):
            value = (given.get(part) if isinstance(given, dict) else given) if given is not None else None
            name = f"{question.key}.{part}" if part else question.key
            fields[name] = anything(question, rank) if value is None else value
        if question.kind == Kind.RANKING:
            fields[f"{question.key}.confirmed"] = 1
        if question.offers_none:
            ticked = [part for part in parts if fields.get(f"{question.key}.{part}") not in (None, 0, "0")]
            fields |= {} if ticked else {f"{question.key}.~none": "1"}
            fields |= {f"{question.key}.{part}": None for part in parts if part not in ticked}
    return {name: value for name, value in fields.items() if value is not None}


def rows_of(key, entries):
    """A set as its form sends it."""
    fields = {}
    for number, entry in enumerate(entries, 1):
        row = f"{key}.e{number}"
        fields |= {
            f"{row}.condition": entry["condition"],
            f"{row}.answers": "\r\n".join(entry["answers"]),
            f"{row}.reason": entry["reason"],
            f"{row}.origins": " ".join(entry["origins"]),
            f"{row}.keep": "1",
        }
        fields |= {f"{row}.cite.{cited}": "on" for cited in entry["citations"]}
    return fields


def anything(question, rank):
    match question.kind:
        case Kind.SCALE:
            return question.points[-1]
        case Kind.PREFERENCE:
            return "r1"
        case Kind.RANKING:
            return rank
        case Kind.CHECKLIST:
            # Boxes that are not ticked are not sent.
            return None if question.is_flag or question.over == Over.CHOICE else 1
    return "The first one says what was asked."


@pytest.mark.django_db
@pytest.mark.parametrize("ties", ["half", "win"])
def test_every_interval_holds_its_figure_and_stays_on_its_scale(study, ties):
    report = build_report(study, replicates=50, ties=ties)
    found = dict(estimates(report))
    assert any(each["low"] is not None for each in found.values())
    for path, each in found.items():
        if each["low"] is not None:
            assert each["low"] <= each["value"] <= each["high"], path
    for question in report.get("questions", []):
        if not question["points"] or question["kind"] != "scale":
            continue
        least, most = (question["points"][at]["value"] for at in (0, -1))
        for figures in question["groups"]:
            means = [path for path in estimates(figures) if path[0].endswith(".mean")]
            assert means
            for path, mean in means:
                if mean["low"] is not None and "spread" not in path:
                    assert least <= mean["low"] <= mean["high"] <= most, path


@pytest.mark.django_db
def test_a_participant_gets_from_consent_to_the_code(client, study):
    """Every step by its page and form; the training answered as its gold says is praised and not repeated."""
    participant = enter(study, Visit("link"))
    home = f"/p/{participant.token}/"
    seen = []
    for _ in range(30):
        page = client.get(home).content.decode()
        if "DEMO-DONE" in page:
            break
        found = Assignment.objects.filter(participant=participant, state=AssignmentState.RESERVED).first()
        if found and f"/a/{found.pk}/submit/" in page:
            questions = study.protocol_object.questions(study.revisions.get().spec, found.item.stimulus)
            response = client.post(f"{home}a/{found.pk}/submit/", form_fields(found.item, questions))
            seen.append(found.item.role)
        else:
            step = "comments" if f"{home}comments/" in page else "go-on"
            response = client.post(f"{home}{step}/")
        assert response.status_code == 303, response.content.decode()
    assert "DEMO-DONE" in page
    steps = study.revisions.get().spec["steps"]
    training = study.items.filter(role=Role.TRAINING).count() if steps["training"] else 0
    checks = (steps["attention"] or {"checks": 0})["checks"]
    assert Counter(seen) == Counter(
        {Role.TRAINING: training, Role.ATTENTION: checks, Role.MAIN: study.items_per_participant}
    )
