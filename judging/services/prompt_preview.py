"""The prompt of a judge for a study that is still being designed: of unsaved questions and texts, and any item."""

from evaluation.extension import NoPrompt, PromptPreview
from evaluation.models import Study
from evaluation.protocols.base import Spec, Stimulus
from judging.asking import asking_of
from judging.backends.base import Unmeasurable
from judging.models import Judge
from judging.prompting.settings import CannotAsk
from judging.services.judges import compose_request, judge_settings
from judging.services.references import referenced

MOST = 50


def prompt_choices(study: Study) -> list[tuple[str, str]]:
    """The study's judges that ask a model, after one with the settings that a new judge begins with."""
    judges = Judge.objects.filter(study=study).order_by("name", "-version")[:MOST]
    return [("", "a new judge"), *((str(each.pk), str(each)) for each in judges if each.asks_model)]


def prompt_messages(
    study: Study, spec: Spec, stimulus: Stimulus, item: int | None, choice: str
) -> list[tuple[str, str]]:
    """The messages of the first call about the item, as (role, text)."""
    judge = _chosen(study, choice)
    if item is not None:
        stimulus = referenced(judge, {item: stimulus})[item]
    try:
        steps = asking_of(judge.backend).steps(study.protocol_object, spec, stimulus, judge_settings(judge))
        request = compose_request(judge, spec, stimulus, step=steps[0] if steps else "")
    except (CannotAsk, Unmeasurable) as cannot:
        raise NoPrompt(str(cannot)) from None
    return [(message["role"], message["content"]) for message in request.messages]


PREVIEW = PromptPreview(prompt_choices, prompt_messages)


def _chosen(study: Study, choice: str) -> Judge:
    """The judge of that id; by default one that nobody has made yet."""
    known = Judge.objects.filter(study=study).select_related("endpoint")
    judge = known.filter(pk=int(choice)).first() if choice.isascii() and choice.isdigit() else None
    if judge is None or not judge.asks_model:
        return Judge(study=study, backend="chat")
    judge.study = study
    return judge
