"""AGENT-CQ on five topics of ClariQ: from queries to questions, to rankings by people and ratings by a jury."""

import pytest

from benchmarks import agentcq_whole
from evaluation.services.studies.verification import verify_study
from judging.models import Call
from tests.judging import endpoint
from tests.published import published_data

SYSTEMS = ("baseline-aspen", "facet-aspen", "facet-birch", "human", "temperature-aspen")
SCALES = ("clarification", "on_topic", "specificity", "usefulness", "clarity", "complexity", "overall")


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.mark.django_db
def test_agent_cq_from_topics_to_rankings_and_ratings(served):
    topics = agentcq_whole.import_topics(published_data("clariq/dev.tsv").parent)
    here = agentcq_whole.make_endpoint(served.url)
    run = agentcq_whole.write_questions(topics, here, facets=4, questions=5)
    assert (run.state, run.unanswered) == ("complete", 0)
    made = agentcq_whole.products_by_step(run)
    assert {step: made[step] for step in ("facets", "facet_questions", "varied_questions", "baseline_questions")} == {
        "facets": 20, "facet_questions": 40, "varied_questions": 75, "baseline_questions": 25,
    }  # fmt: skip
    sent = {
        each.body["temperature"]
        for each in served.log
        if "Write 5 such" in each.body["messages"][0]["content"]
    }
    assert sent == {0.5, 0.7, 0.9}

    ranking = agentcq_whole.make_ranking(run)
    assert ranking.items.count() == 5
    assert agentcq_whole.first_places(ranking) == dict.fromkeys(SYSTEMS, 3)
    assert list(verify_study(ranking)) == []

    before = served.total
    jurors = agentcq_whole.rate_questions(run)
    rated = jurors[0].study
    assert rated.items.count() == 25
    assert {item.stimulus["responses"][0]["system"] for item in rated.items.all()} == set(SYSTEMS)
    assert served.total - before == 25 * 3 * 7
    assert [each.calls.filter(outcome="ok").count() for each in jurors] == [175, 175, 175]
    assert set(jurors[0].calls.values_list("step", flat=True)) == set(SCALES)
    for item in rated.items.all():
        *others, last = Call.objects.filter(run=jurors[0], item=item).order_by("finished_at")
        assert last.step == "overall"
        assert len(others) == 6
    assert list(verify_study(rated)) == []
