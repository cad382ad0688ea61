"""What judging adds to a demo study: the judges that need no endpoint, so that some stand beside the raters."""

from evaluation.models import Study
from evaluation.protocols import Question
from judging.backends import answers_question
from judging.models import BackendKind
from judging.services.judges import current_spec, heuristic_judge
from judging.services.running import work_on
from judging.services.runs import start_run

HEURISTICS = (BackendKind.RANDOM, BackendKind.SHORTER, BackendKind.LONGER)


def run_heuristics(study: Study) -> None:
    for kind in _suited(study):
        work_on(start_run(study, heuristic_judge(study, kind)).pk)


def _suited(study: Study) -> list[BackendKind]:
    """Those that have something to say to what is asked; a length only beside others."""
    questions = [Question.from_json(each) for each in current_spec(study)["questions"]]
    compares = any(item.n_responses > 1 for item in study.items.only("lengths"))
    return [
        kind
        for kind in HEURISTICS
        if any(answers_question(kind, question) for question in questions)
        and (kind == BackendKind.RANDOM or compares)
    ]
