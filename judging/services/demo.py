"""The judges of a demo study: those that need no endpoint, so that some stand beside the raters."""

from evaluation.models import Study
from evaluation.protocols import QuestionSpec
from judging.backends import heuristics
from judging.services.judges import current_spec, heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on


def run_heuristics(study: Study) -> None:
    for key in _suited(study):
        work_on(start_run(study, heuristic_judge(study, key)).pk)


def _suited(study: Study) -> list[str]:
    """Heuristics that can answer the study's questions, a length only beside others; without text metrics."""
    questions = [QuestionSpec.from_json(each) for each in current_spec(study)["questions"]]
    compares = any(item.n_responses > 1 for item in study.items.only("lengths"))
    return [
        each.key
        for each in heuristics()
        if not each.measures and any(map(each.answers, questions)) and (compares or not each.compares)
    ]
