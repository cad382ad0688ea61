"""Hooks: what the core must know of the other apps they register here, so that it imports none of them.

The apps register in their `AppConfig.ready()`, by the dotted path of what does it, which is imported when it is first
used: a command or a web process that never asks for it never loads it. Launch, verify and the study page run through
whatever is registered. Registration is by name, so that doing it twice (autoreload, tests) changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Generic, TypeVar

from django.utils.module_loading import import_string

T = TypeVar("T")


class HookRegistry(Generic[T]):
    """Named entries in the order of their registration: each itself, or the dotted path at which it stands."""

    def __init__(self) -> None:
        self._entries: dict[str, T | str] = {}

    def register(self, name: str, entry: T | str) -> None:
        self._entries[name] = entry

    def __iter__(self) -> Iterator[T]:
        return iter([self.get(name) for name in self._entries])

    def get(self, name: str) -> T:
        entry = self._entries[name]
        return import_string(entry) if isinstance(entry, str) else entry

    def as_dict(self) -> dict[str, T]:
        return {name: self.get(name) for name in self._entries}


@dataclass(frozen=True)
class StudySection:
    """A part of the study page that another app fills: its label and the name of the URL that serves it."""

    label: str
    url_name: str


# What runs at the end of a launch, before the study goes live: gets the study, may work in several transactions
# and must be repeatable, because a launch that was cut short is launched again.
launch: HookRegistry[Callable[[Any], None]] = HookRegistry()
# By its kind, the work of a job that another app does: gets the job, which it finishes (`evaluation.services.jobs`).
job_work: HookRegistry[Callable[[Any], None]] = HookRegistry()
# Takes back what the launch hooks did, when a launch is refused.
unlaunch: HookRegistry[Callable[[Any], None]] = HookRegistry()
# Items were added to a running study: gets the study, in the transaction that opens them.
items_added: HookRegistry[Callable[[Any], None]] = HookRegistry()
# Takes a withdrawn item's places away.
item_withdrawn: HookRegistry[Callable[[Any], None]] = HookRegistry()
# Gets an exclusion that was just undone, in the same transaction: what it counts again needs no replacing any more.
exclusion_undone: HookRegistry[Callable[[Any], None]] = HookRegistry()


@dataclass(frozen=True)
class Duplication:
    """A study that was just copied, in the same transaction; `judges` tells whether its judges come along."""

    source: Any
    copy: Any
    judges: bool
    by: Any


# Fills a draft's rehearsal with simulated participants: gets the copy, which is live, the numbers that were asked for,
# and what to call with a phase, how much is done and of how much; gives a sentence on how it went.
rehearsals: HookRegistry[Callable[[Any, dict[str, int], Callable[[str, int, int], None]], str]] = (
    HookRegistry()
)
# Copies what the other apps keep of a study's settings, never anything of its crowd, its runs or its panel.
duplication: HookRegistry[Callable[[Duplication], None]] = HookRegistry()


@dataclass(frozen=True)
class Advice:
    """A warning about a draft, which does not block its launch.

    With a label and the name of a URL that takes the study's id: a page on which it can be mended.
    """

    text: str
    label: str = ""
    url_name: str = ""


# Further ways to make a draft of a study's data: `StudyDerivation` of evaluation.dumps.derivation.
derivations: HookRegistry[Any] = HookRegistry()


# Gets a draft and who reads it, None for whoever runs the server.
launch_advice: HookRegistry[Callable[[Any, Any], Iterable[Advice]]] = HookRegistry()
# Sentences about a draft that whoever launches it must confirm: participants would be left without something.
launch_cautions: HookRegistry[Callable[[Any], Iterable[str]]] = HookRegistry()
# What a study that is under way must be told of: something came that it is not set up for. Gets the study.
running_cautions: HookRegistry[Callable[[Any], Iterable[Advice]]] = HookRegistry()
# Sentences that say which invariant does not hold.
verifiers: HookRegistry[Callable[[Any], Iterable[str]]] = HookRegistry()
# Gets a study; a sentence that says why its completion codes can't be changed any more, or nothing.
codes_lock_reasons: HookRegistry[Callable[[Any], str]] = HookRegistry()
# What the other apps add to a demo study that simulated raters have just judged.
demo: HookRegistry[Callable[[Any], None]] = HookRegistry()
sections: HookRegistry[StudySection] = HookRegistry()
# Of each judge of a study its name and what it costs to judge one item, in the installation's currency.
item_costs: HookRegistry[Callable[[Any], Iterable[tuple[str, Decimal]]]] = HookRegistry()


@dataclass(frozen=True)
class Reviser:
    """A way to ask a model for a revised draft of condition-answer-citation entries.

    `name` gets an item and says who would be asked, empty where nobody can or may be: then there is no button. `revise`
    gets the item, the entries as they are, and the instruction, asks (it takes seconds), notes what it cost, and gives
    the revised entries, each with the origins of those that the model says it came from; RevisionFailed says in words
    why there are none. How often participants may ask is for whoever calls it.
    """

    name: Callable[[Any], str]
    revise: Callable[[Any, list[Any], str], list[Any]]


class RevisionFailed(Exception):
    """The model gave no draft; the message says why, for the participant."""


revisers: HookRegistry[Reviser] = HookRegistry()


@dataclass(frozen=True)
class PagePreview:
    """A page that participants meet besides the items: its label, the keys of the texts that it shows, and its HTML.

    `render` gets the study and a spec, both of which may be unsaved.
    """

    label: str
    texts: tuple[str, ...]
    render: Callable[[Any, Any], str]


page_previews: HookRegistry[PagePreview] = HookRegistry()


class NoPrompt(Exception):
    """There is no prompt to show; the message says why."""


@dataclass(frozen=True)
class PromptPreview:
    """The prompts that judges are sent.

    `choices` gets a study: keys and labels of the judges whose prompt can be shown. `messages` gets the study, a spec
    and an item's stimulus, which may be unsaved, the item's id (None for one that the study has not) and such a key:
    (role, text) of the messages, or NoPrompt.
    """

    choices: Callable[[Any], list[tuple[str, str]]]
    messages: Callable[[Any, Any, Any, int | None, str], list[tuple[str, str]]]


prompt_previews: HookRegistry[PromptPreview] = HookRegistry()


@dataclass(frozen=True)
class BundleFile:
    """A file of a study's replication bundle: its path, a sentence on what it holds, and its lines."""

    path: str
    about: str
    lines: Callable[[], Iterator[bytes]]


# What the other apps put into a study's replication bundle: no key, no address, nothing of a platform.
bundle_files: HookRegistry[Callable[[Any], Iterable[BundleFile]]] = HookRegistry()
# Words that a study's bundle must not hold, even where somebody wrote one into a text: ids of platforms, addresses and
# keys of endpoints.
private_words: HookRegistry[Callable[[Any], Iterable[str]]] = HookRegistry()


@dataclass(frozen=True)
class StudyFile:
    """A kind of uploaded file that holds a whole study, and that another app reads.

    `name` is what it is called, with its article; `tells` recognises it by its content; `open_study` is the work of the
    job that makes its study, and finishes the job; `command` is how it is opened without a job.
    """

    name: str
    tells: Callable[[Path], bool]
    open_study: Callable[[Any], None]
    command: str


study_files: HookRegistry[StudyFile] = HookRegistry()


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


# What the report shows shares of: gets the study.
codings: HookRegistry[Callable[[Any], Iterable[Coding]]] = HookRegistry()
# Sentences for the report's methods paragraph.
methods_facts: HookRegistry[Callable[[Any], Iterable[str]]] = HookRegistry()


# The places of the report's methods paragraph that the other apps fill, in its order; the report has the rest.
PASSAGES = ("recruitment", "pay", "procedure", "orders", "assignment", "stopping", "checks")
# Whole sentences for the methods paragraph, by place: gets the study. Places without anything to say are left out.
methods_passages: HookRegistry[Callable[[Any], Mapping[str, str]]] = HookRegistry()
