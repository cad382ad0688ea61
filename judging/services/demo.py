"""What judging adds to a demo study: the judges that need no endpoint, so that some stand beside the raters."""

from evaluation.models import Study
from judging.models import BackendKind
from judging.services.judges import heuristic_judge
from judging.services.running import work_on
from judging.services.runs import start_run

HEURISTICS = (BackendKind.RANDOM, BackendKind.SHORTER, BackendKind.LONGER)


def run_heuristics(study: Study) -> None:
    for kind in HEURISTICS:
        work_on(start_run(study, heuristic_judge(study, kind)).pk)
