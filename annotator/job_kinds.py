"""The kinds of background work that recruiters bring."""

from evaluation.extension import JobKind

READING = JobKind(
    key="reading",
    noun="refresh from the panel",
    title="Refreshing from the panel",
    work="annotator.panels.tasks.read_panel_of",
    tab="panel",
    participle="",
    killed="The worker was lost.",
    listed=False,
)
DRAFT_ROUND = JobKind(
    key="draft_round",
    noun="revision of a participant's draft",
    title="Revising a participant's draft",
    work="annotator.services.work.draft_rounds.work_on_round",
    tab="participants",
    participle="",
    killed="The worker stopped before the model had answered.",
    listed=False,
)
