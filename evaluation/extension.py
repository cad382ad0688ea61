"""The other apps as the core knows them: one class, whose methods do nothing and which each app overrides where it has
something to do or to say.

An app's `AppConfig` names its own by its dotted path, which is imported when the core first asks: a command or a web
process that never asks never loads it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from django.apps import apps
from django.utils.module_loading import import_string

from evaluation.models import Exclusion, Item, Job, Judgment, Progress, Rater, Study
from evaluation.protocols.base import Spec, Stimulus

# The places of the report's methods paragraph that the other apps fill, in its order; the report has the rest.
PASSAGES = ("recruitment", "pay", "procedure", "orders", "assignment", "stopping", "checks", "validation")
# Phase, done, total.
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class StudySection:
    """A part of the study page that another app fills: its label, the name of the URL that serves it, and whether a
    draft has something to show in it."""

    label: str
    url_name: str
    in_drafts: bool = True


@dataclass(frozen=True)
class Duplication:
    """A study that was just copied, in the same transaction; `judges` tells whether its judges come along, `along` what
    of its recruitment (`services.studies.duplication.ALONG`)."""

    source: Study
    copy: Study
    judges: bool
    along: Collection[str]
    by: Any


@dataclass(frozen=True)
class Advice:
    """A warning about a draft, which does not block its launch.

    With a label and the name of a URL that takes the study's slug: a page on which it can be mended. Instead of the
    URL, `field`: the name of the draft's field, or of its rows, that it is about.
    """

    text: str
    label: str = ""
    url_name: str = ""
    field: str = ""


@dataclass(frozen=True)
class Concern:
    """Something about a study that waits for a person: a sentence, and the button that deals with it for who has that
    right.

    With `news`, a key that stays the same for as long as it is so, members are also told of it by e-mail. Where it is
    not `shown`, it is news alone: another stands for it on pages.
    """

    text: str
    label: str = ""
    url: str = ""
    right: str = "write"
    news: str = ""
    shown: bool = True


class RevisionFailed(Exception):
    """The model gave no draft; the message says why, for the participant."""


@dataclass(frozen=True)
class Reviser:
    """A way to ask a model for a revised draft of condition-answer-citation entries.

    `name` gets an item and says who would be asked, empty where nobody can or may be: then there is no button. `revise`
    gets the item, the entries as they are, and the instruction, asks (it takes seconds), notes what it cost, and gives
    the revised entries, each with the origins of those that the model says it came from; RevisionFailed says in words
    why there are none. How often participants may ask is for whoever calls it.
    """

    name: Callable[[Item], str]
    revise: Callable[[Item, list[Any], str], list[Any]]


@dataclass(frozen=True)
class PagePreview:
    """A page that participants meet besides the items: its label, the keys of the texts that it shows, and its HTML.

    `render` gets the study and a spec, both of which may be unsaved.
    """

    label: str
    texts: tuple[str, ...]
    render: Callable[[Study, Spec], str]


class NoPrompt(Exception):
    """There is no prompt to show; the message says why."""


@dataclass(frozen=True)
class PromptPreview:
    """The prompts that judges are sent.

    `choices` gets a study: keys and labels of the judges whose prompt can be shown. `messages` gets the study, a spec
    and an item's stimulus, which may be unsaved, the item's id (None for one that the study has not) and such a key:
    (role, text) of the messages, or NoPrompt.
    """

    choices: Callable[[Study], list[tuple[str, str]]]
    messages: Callable[[Study, Spec, Stimulus, int | None, str], list[tuple[str, str]]]


@dataclass(frozen=True)
class BundleFile:
    """A file of a study's replication bundle: its path, a sentence on what it holds, and its lines."""

    path: str
    about: str
    lines: Callable[[], Iterator[bytes]]


# The lines of a bundle's file by its path; None where it has no such file.
ReadBundle = Callable[[str], Iterable[bytes] | None]


@dataclass(frozen=True)
class BundleCheck:
    """The outcome of an app's check of its files in a bundle: sentences on it, and what is wrong, a sentence each."""

    said: Sequence[str]
    problems: Sequence[str]


@dataclass(frozen=True)
class StudyFile:
    """A kind of uploaded file that holds a whole study, and that another app reads.

    `name` is what it is called, with its article; `tells` recognises it by its content; `open_study` is the work of the
    job that makes its study, and finishes the job; `command` is how it is opened without a job.
    """

    name: str
    tells: Callable[[Path], bool]
    open_study: Callable[[Job], None]
    command: str


def no_links(job: Job) -> Sequence[tuple[str, str]]:
    """None."""
    return ()


@dataclass(frozen=True)
class JobKind:
    """A kind of background work, which its app registers.

    `key` is stored; `noun` and `title` are its name in lists and above its page. `work` is the dotted path of the
    function that does a job and finishes it (`evaluation.services.jobs`): the pages never load what that needs.
    """

    key: str
    noun: str
    title: str
    work: str
    # The right to the study that begins it: viewers may have files written and figures computed.
    need: Literal["view", "write", "own"] = "write"
    # The tab of a study's pages that shows it.
    tab: str = "overview"
    # The form that takes another file, where the job reads an uploaded one.
    upload_form: str = ""
    # True of a job that makes a study of what stays as it is: faults would be found again, and once it is done, the job
    # is the made study's.
    makes_study: bool = False
    # The participle in "Nothing was imported. 3 errors found."; without one, a refusal is told as it is.
    participle: str = "imported"
    # Where nothing is lost by doing the work anew, the sentence on what a killed worker left; whoever asks next
    # begins it again. Other kinds are started again by hand.
    killed: str = ""
    # The template in which somebody confirms what the work would come to.
    confirmed_on: str = ""
    # True of a file that is fetched from the job's own page.
    downloads: bool = False
    # False of jobs that only the page shows which waits for them.
    listed: bool = True
    # Labels and addresses of the pages that a job leads to.
    links: Callable[[Job], Sequence[tuple[str, str]]] = no_links


@dataclass(frozen=True)
class CodedText:
    """A query, or a text of a system for it ('' where it is of none): by list, the codes that it was given."""

    query: str
    system: str
    codes: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Coding:
    """Codes that a model gave to a study's queries, or to texts of its systems.

    `key` tells it from others, `title` says what was coded, and `by` who did, as the end of a sentence. `lists` are the
    codes to choose from, by the list's name. `rows` reads all of them, and `stamp` changes with any.
    """

    key: str
    title: str
    by: str
    lists: Mapping[str, Sequence[str]]
    stamp: str
    rows: Callable[[], Iterable[CodedText]]


@dataclass(frozen=True)
class QueryCount:
    """Some of a study's queries, or things made for them, counted: `n` of `among` are as `name` says.

    `by` is who says so, or by which rule. Where `is_share` is false, they are `n` things of `among` queries, and their
    number per query is what is asked for. `has_interval` is true of shares of queries that are a sample of others.
    `note` is a sentence on what was not counted.
    """

    name: str
    by: str
    n: int
    among: int
    has_interval: bool = True
    is_share: bool = True
    note: str = ""


@dataclass(frozen=True)
class RaterRun:
    """A run of a judge, as a report names it: its number, its day, and its cost in the installation's currency."""

    number: int
    day: date
    cost: Decimal


@dataclass(frozen=True)
class JudgingCost:
    """The cost of a judge's run in the installation's currency, the tokens that were paid for, and the judgments that
    it gave, of every order and sample."""

    cost: Decimal
    tokens: int
    judgments: int


@dataclass(frozen=True)
class JudgeReply:
    """A reply that a judgment was read from: the step that it answers ('' for the whole form), where its prompt can be
    read ('' where there is none), and what kept it from being read, if anything did."""

    step: str
    raw: str
    rationale: str
    problem: str
    prompt_url: str


class Extension:
    """An app's part in what the core does."""

    # --- the life of a study ------------------------------------------------------------------------------------------

    def launch(self, study: Study) -> None:
        """The end of a launch, before the study goes live. May work in several transactions, and must be repeatable:
        a launch that was cut short is launched again."""

    def unlaunch(self, study: Study) -> None:
        """Take back what `launch` did, as the launch is refused."""

    def items_added(self, study: Study) -> None:
        """Items were added to a running study, in the transaction that opens them."""

    def item_withdrawn(self, item: Item) -> None:
        """An item was withdrawn, in the same transaction."""

    def item_brought_back(self, item: Item) -> None:
        """The withdrawal of an item was undone, in the same transaction."""

    def refuse_reopening(self, study: Study) -> None:
        """Refused, for a closed study that can't be reopened."""

    def deletion_problems(self, study: Study) -> Iterable[str]:
        """Sentences on what must end before the study can be deleted, with what to do about each."""
        return ()

    def study_deleted(self, study: Study, by: Any) -> None:
        """The study is about to be deleted with all its rows, in the same transaction: what other studies have of it is
        let go."""

    def exclusion_undone(self, exclusion: Exclusion) -> None:
        """An exclusion was undone, in the same transaction: what counts again needs no replacing any more."""

    def erase_quotes(self, study: Study, items: Collection[int], without: Callable[[Any], Any]) -> None:
        """Texts of these items were erased, in the same transaction: erase what the app keeps that quotes them.
        `without` returns a value with a marker in place of every text that quotes whoever was erased."""

    def erase_revisions(self, study: Study, items: Collection[int]) -> None:
        """Somebody is erased who had a model revise drafts of these items, in the same transaction: erase replies."""

    def figures_erased(self, study: Study) -> None:
        """Judgments were erased, and kept figures with them: have those computed that anybody can read."""

    def duplicate(self, duplication: Duplication) -> Collection[str]:
        """Copy what the app keeps of a study's settings, never anything of its crowd, its runs or its panel's acts;
        what of `along` there was to copy."""
        return ()

    def fill_rehearsal(self, study: Study, asked: Mapping[str, int], watch: Watch) -> str:
        """Fill a draft's rehearsal, which is live, with as many simulated participants as were asked for; a sentence on
        how it went."""
        return ""

    def fill_demo(self, study: Study) -> None:
        """Add to a demo study that simulated raters have just judged."""

    # --- what is said of it -------------------------------------------------------------------------------------------

    def launch_advice(self, study: Study, by: Any) -> Iterable[Advice]:
        """Of a draft, for who reads it; None is whoever runs the server."""
        return ()

    def launch_cautions(self, study: Study) -> Iterable[Advice]:
        """Of a draft, what whoever launches it must confirm: participants would lack something."""
        return ()

    def running_cautions(self, study: Study) -> Iterable[Advice]:
        """Of a study that is under way: something came that it is not set up for."""
        return ()

    def verify(self, study: Study) -> Iterable[str]:
        """Sentences that say which invariant does not hold."""
        return ()

    def recruitment_facts(self, study: Study) -> Iterable[Advice]:
        """Sentences on where its people come from, each with the page on which that is set."""
        return ()

    def methods_facts(self, study: Study) -> Iterable[str]:
        """Sentences for the report's methods."""
        return ()

    def methods_passages(self, study: Study) -> Mapping[str, str]:
        """Whole sentences for the methods paragraph, by their place among `PASSAGES`."""
        return {}

    def codings(self, study: Study) -> Iterable[Coding]:
        """The codes that the report shows shares of."""
        return ()

    def query_counts(self, study: Study) -> Iterable[QueryCount]:
        """Counts of its queries and of what was made for them, which its items no longer tell."""
        return ()

    def judge_runs(self, study: Study) -> Mapping[str, RaterRun]:
        """The run that each judge's rater stands for, by the rater's pseudonym."""
        return {}

    def judging_costs(self, study: Study) -> Mapping[str, JudgingCost]:
        """The cost of the run that each judge's rater stands for, by the rater's pseudonym; it counts judgments."""
        return {}

    def item_costs(self, study: Study) -> Iterable[tuple[str, Decimal]]:
        """Of each judge of a study its name and what it costs to judge one item, in the installation's currency."""
        return ()

    def progress_figures(self, study: Study) -> Mapping[str, Any]:
        """Figures of a study's overview beside the counts of judgments, as JSON: counted now and then, in a request
        only of a small study (`evaluation.services.progress`). The overview knows them by their names:

        people: [step, number] pairs; slots_free: how many a newcomer could get; recruits: there are any; minutes: the
        median of those who finished; spent_people, spent_models, budget_models: money, as texts; report: agreement and
        win rates as they were last computed (at, facts, looks). Others are for the app's own `needs`."""
        return {}

    def needs(self, study: Study, progress: Progress) -> Iterable[Concern]:
        """Everything about a launched study that waits for a person; asked for in requests, so told from `progress`
        where it is not looked up at once."""
        return ()

    # --- pages --------------------------------------------------------------------------------------------------------

    def sections(self) -> Iterable[StudySection]:
        return ()

    def page_previews(self) -> Mapping[str, PagePreview]:
        """By the key that the preview's choice has."""
        return {}

    def prompt_preview(self) -> PromptPreview | None:
        return None

    def reviser(self) -> Reviser | None:
        return None

    def rater_url(self, rater: Rater) -> str:
        """The address of the app's own page of a rater; '' where it has none."""
        return ""

    def judgment_signs(self, judgments: Collection[Judgment]) -> Mapping[int, Sequence[str]]:
        """Whatever in these judgments a researcher should look at, by the judgment's id; they were read with their
        items."""
        return {}

    def judge_replies(self, judgments: Collection[Judgment]) -> Mapping[int, Sequence[JudgeReply]]:
        """The replies that these judgments were read from, by the judgment's id."""
        return {}

    # --- files and background work ------------------------------------------------------------------------------------

    def job_kinds(self) -> Iterable[JobKind]:
        return ()

    def derivations(self) -> Iterable[Any]:
        """Further ways to make a draft of a study's data: `StudyDerivation` of evaluation.dumps.derivation."""
        return ()

    def study_files(self) -> Mapping[str, StudyFile]:
        """By the key that a job keeps."""
        return {}

    def bundle_files(self, study: Study) -> Iterable[BundleFile]:
        """Files of its replication bundle: no key, no address, nothing of a platform."""
        return ()

    def check_bundle(self, read: ReadBundle) -> BundleCheck | None:
        """The check of its files in a bundle that is replicated, beyond their hashes in the manifest."""
        return None

    def private_words(self, study: Study) -> Iterable[str]:
        """Words that its bundle must not hold, even where somebody wrote one into a text: ids of platforms, addresses
        and keys of endpoints."""
        return ()

    def private_words_among(self, study: Study, found: Collection[str]) -> Iterable[str]:
        """Of those words at least the ones `found` in a text, and all that have not the shape of an id
        (`evaluation.private_words.possible_ids`)."""
        return self.private_words(study)


_loaded: tuple[Extension, ...] = ()


def extensions() -> tuple[Extension, ...]:
    """Those of the installed apps, in the apps' order."""
    global _loaded
    if not _loaded:
        paths = (getattr(each, "extension", "") for each in apps.get_app_configs())
        _loaded = tuple(import_string(path)() for path in paths if path)
    return _loaded
