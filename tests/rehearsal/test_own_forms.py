"""A form of one's own, from a file to the report: summaries of a document, conversations turn by turn, claims."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from analytics.reports.files import report_markdown
from evaluation.models import Answer, Study
from evaluation.refusals import Refused
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.revision import revise_study
from judging.services.judges import create_judge, preview_request
from tests.analytics.reports.reading import build_report
from tests.annotator.conftest import address, home
from tests.crowd import come
from tests.evaluation.dumps import build
from tests.rehearsal import own_forms

pytestmark = pytest.mark.django_db


def read_in(path, header, *items, slug="own"):
    file = build.write(path / f"{slug}.jsonl", header, *items)
    call_command("import_study", str(file), slug=slug, owner="owner", progress=False)
    return Study.objects.get(slug=slug)


def live(study, **fields):
    study.redundancy, study.items_per_participant, study.steps = 4, 4, {"consent": False}
    for name, value in fields.items():
        setattr(study, name, value)
    study.save()
    launch_study(study)
    return study


@pytest.fixture
def summaries(tmp_path, owner):
    rows = own_forms.aspect_rows()
    head = own_forms.header(rows, own_forms.SUMMARIES)
    return live(read_in(tmp_path, head, *map(own_forms.article, range(1, 5))))


def test_the_document_has_a_place_of_its_own(summaries, client, endpoint):
    participant = come(summaries, "a")
    page = client.get(home(participant)).content.decode()
    assert page.index("News article") < page.index("The council of town") < page.index("Response 1")
    assert 'class="source" tabindex="0"' in page
    assert "<strong>Tuesday</strong>" in page
    client.post(
        address(client, participant),
        {f"{key}.r{n}": str(n + 2) for key in own_forms.ASPECTS for n in (1, 2)},
    )
    assert Answer.objects.filter(part="r2", number=4).count() == 4
    judge = create_judge(summaries, name="m", endpoint=endpoint, model="m")
    prompt = str(preview_request(judge, summaries.items.first()).messages)
    assert "=== News article [" in prompt
    assert "It voted for the bridge." in prompt
    assert "Does it say only what the document says?" in prompt  # the guideline is written from the questions


GROUPS = {"e1": "experts", "e2": "experts", "c1": "crowd", "c2": "crowd"}


def rated(number):
    """Experts rate a point lower than the crowd, and agree with each other throughout."""
    lower = {"e1": 0, "e2": 0, "c1": 1, "c2": 1 + number % 2}
    return [
        build.judgment(
            rater,
            answers={key: {"r1": 2 + more, "r2": 3 + more} for key in own_forms.ASPECTS},
        )
        for rater, more in lower.items()
    ]


def test_groups_of_people_are_held_against_each_other(tmp_path, owner):
    raters = [{"rater": rater, "group": group} for rater, group in GROUPS.items()]
    head = own_forms.header(
        own_forms.aspect_rows(), own_forms.SUMMARIES, raters=raters, rules={"groups": ["experts", "crowd"]}
    )
    items = [own_forms.article(number, judgments=rated(number)) for number in range(1, 13)]
    study = read_in(tmp_path, head, *items)
    report = build_report(study)
    assert [(each["key"], each["raters"]) for each in report["groups"]] == [
        ("person", 4), ("person-crowd", 2), ("person-experts", 2),
    ]  # fmt: skip
    assert report["counts"]["raters"] == 4  # nobody is counted twice
    [pair] = next(each["pairs"] for each in report["records"] if each["figure"] == "raters/groups_of_people")
    assert (pair["first"], pair["second"]) == ("person-crowd", "person-experts")
    assert pair["mean"]["difference"]["value"] == pytest.approx(1.25)
    assert pair["mean"]["test"]["p_corrected"] < 0.05
    agreement = pair["agreement"]
    assert agreement["within_second"]["value"] == 1  # experts among themselves
    assert agreement["within_first"]["value"] == 0.5
    assert agreement["between"]["value"] == 0
    # Overall, for both systems, and of agreement: four questions, one pair of groups. And of each question that one of
    # both systems is rated above the other.
    assert pair["mean"]["test"]["tests"] == 16 + 4
    assert any(each["kind"] == "groups" for each in report["findings"])
    shown = report_markdown(report)
    assert "People, experts" in shown
    assert "Agreement within and between groups of people" in shown
    again = build.read_in(
        build.write(tmp_path / "again.jsonl", build.export_bytes(study).strip()), slug="again"
    )
    assert dict(again.raters.values_list("pseudonym", "group")) == GROUPS
    assert again.study_hash == study.study_hash


def stated(number, judgments=()):
    """An answer of three facts, or of one, and one of two."""
    facts = [f"Fact {n} of {number}." for n in range(3 if number % 2 else 1)]
    return {
        "key": f"a{number}",
        "arm": "plain",
        "query": {"key": f"q{number}", "text": f"What of {number}?"},
        "responses": [
            {"system": "aspen", "text": "It is so.", "claims": facts},
            {"system": "birch", "text": "It may be so.", "claims": ["One.", "Two."]},
        ],
        "judgments": list(judgments),
    }


def of_facts(number):
    """Of aspen's facts only the first is relevant; it is correct for experts. Of birch's both are, and one is correct;
    the crowd leaves that open in every third answer."""
    others = {f"c{n}.r1": False for n in range(2, 4 if number % 2 else 2)}
    relevant = {"c1.r1": True, "c1.r2": True, "c2.r2": True} | others
    for rater in GROUPS:
        expert = rater.startswith("e")
        correct = dict.fromkeys(others, "yes") | {
            "c1.r1": "yes" if expert else "no",
            "c1.r2": "yes",
            "c2.r2": "no",
        }
        if not expert and number % 3 == 0:
            del correct["c2.r2"]
        yield build.judgment(
            rater,
            answers={"relevant": {part: int(said) for part, said in relevant.items()}, "correct": correct},
        )


def test_shares_among_chosen_answers(tmp_path, owner):
    raters = [{"rater": rater, "group": group} for rater, group in GROUPS.items()]
    needs = {"query": True, "least": 2, "most": 2}
    head = own_forms.header(
        own_forms.fact_rows(), needs, raters=raters, rules={"groups": ["experts", "crowd"]}
    )
    bare = dict(head["spec"])
    head["spec"] |= {"shares": [own_forms.PRECISION, own_forms.SUPPORT]}
    study = read_in(tmp_path, head, *(stated(n, of_facts(n)) for n in range(1, 13)))
    report = build_report(study)
    found = {
        each["group"]: {share["key"]: share for share in each["shares"]}
        for each in report["records"]
        if each["figure"] == "ratings/chosen_shares"
    }
    assert set(found) == {"person", "person-experts", "person-crowd"}
    experts, crowd = (found[f"person-{group}"]["precision"] for group in ("experts", "crowd"))
    # Of every item three facts are relevant, two correct for experts: aspen's one, and one of birch's two.
    assert experts["overall"]["pooled"]["value"] == pytest.approx(2 / 3)
    assert experts["overall"]["pooled"]["n"] == 2 * 12 * 3
    assert experts["overall"]["n_counted"] == 2 * 12 * 2
    assert [(each["system"], each["pooled"]["value"]) for each in experts["by_system"]] == [
        ("aspen", 1), ("birch", 0.5),
    ]  # fmt: skip
    # For the crowd one of three, or of two where they leave one open: 12 of 36 less 4, over all.
    assert crowd["overall"]["pooled"]["value"] == pytest.approx(12 / 32)
    assert [part["n"] for part in crowd["overall"]["pooled"]["left_out"]] == [2 * 4]
    assert crowd["overall"]["per_item"]["value"] == pytest.approx((8 * 1 / 3 + 4 * 1 / 2) / 12)
    assert crowd["of"]["labels"] == ["Yes"]
    # Of one question nothing is missing: of odd items four of five facts are correct, of even ones two of three.
    support = found["person-experts"]["support"]["overall"]
    assert support["pooled"]["value"] == pytest.approx((4 + 2) / (5 + 3))
    assert support["per_item"]["value"] == pytest.approx((4 / 5 + 2 / 3) / 2)
    shown = report_markdown(report)
    assert "Shares among chosen answers" in shown
    assert "The share of “Yes” to “Is it correct?” among “Yes” to “Is it relevant?”" in shown
    assert any(each.startswith("Precision of relevant facts: the share of") for each in report["methods"])
    again = build.read_in(
        build.write(tmp_path / "again.jsonl", build.export_bytes(study).strip()), slug="again"
    )
    assert again.shares == [own_forms.PRECISION, own_forms.SUPPORT]
    assert again.study_hash == study.study_hash
    other = read_in(tmp_path, {**head, "spec": bare, "raters": []}, stated(1), slug="bare")
    assert not other.shares
    assert "shares" not in compile_spec(other)


def test_a_share_that_no_question_has_is_refused(tmp_path, owner):
    head = own_forms.header(own_forms.fact_rows(), {"query": True, "least": 2, "most": 2})
    wrong = own_forms.PRECISION | {"among": {"question": "relevant", "values": ["maybe"]}}
    head["spec"] |= {"shares": [wrong]}
    with pytest.raises(CommandError) as refused:
        read_in(tmp_path, head, stated(1))
    assert "shares.precision: 'maybe' is no answer to 'relevant'; it has: no, yes" in str(refused.value)


def test_a_revision_changes_no_share(tmp_path, owner):
    head = own_forms.header(own_forms.fact_rows(), {"query": True, "least": 2, "most": 2})
    head["spec"] |= {"shares": [own_forms.PRECISION]}
    study = live(read_in(tmp_path, head, stated(1)))
    assert study.revisions.get().spec["shares"] == [own_forms.PRECISION]
    with pytest.raises(Refused, match="shares: can't change in a study that is under way"):
        revise_study(study=study, changes={"shares": [own_forms.SUPPORT]})
    with pytest.raises(Refused, match="shares: can't change"):
        revise_study(study=study, changes={"shares": []})


def test_a_vote_per_turn_has_win_rates_of_its_own(tmp_path, owner):
    head = own_forms.header(own_forms.turn_rows(), own_forms.PAIRS)
    votes = [
        build.judgment(
            rater, answers={"vote": {"t1": "r1", "t2": "r2"}, "flaw": {"t2.r1": "wrong"}, "preference": "r2"}
        )
        for rater in ("ada", "ben")
    ]
    study = read_in(tmp_path, head, *(own_forms.conversation(n, judgments=votes) for n in range(1, 13)))
    report = build_report(study)
    assert [each["key"] for each in report["questions"]] == ["vote.t1", "vote.t2", "flaw", "preference"]
    won = {
        record["question"]: record
        for record in report["records"]
        if record["figure"] == "preferences/win_rates"
    }
    assert set(won) == {"vote.t1", "vote.t2", "preference"}
    shown = report_markdown(report)
    assert "Which reply is better? (turn 1)" in shown
    assert b",vote,preference,t2,birch," in build.export_bytes(study, "csv")
