"""The platforms that people come from, by key: what their addresses carry, and how a visit ends there.

One more is a module here with a subclass of `Platform`, or, with an API, a package beside this one; and its entry in
the registry.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from annotator.panels.platforms.api import PlatformAPI
from annotator.panels.platforms.base import Departure, Platform, Setting, Settings
from annotator.panels.platforms.connect import Connect
from annotator.panels.platforms.endings import LINK
from annotator.panels.platforms.external_question import ExternalQuestion
from annotator.panels.platforms.link import Link, Personal
from annotator.panels.platforms.sona import Sona
from evaluation.refusals import Refused
from evaluation.registry import Registry

API_PARTS = ("bonuses_at_once", "bonuses_show_within", "webhook_secret_name")


def _find_platforms() -> Iterable[Platform]:
    # Imported on first use: the package builds on the modules here, whose package this is.
    from annotator.panels.prolific.platform import Prolific

    return (Link(), Prolific(), Connect(), Sona(), ExternalQuestion(), Personal())


def _find_problems(platform: Platform) -> Iterator[str]:
    yield from (f"the outcome {each} in its endings" for each in LINK if each not in platform.endings)
    if platform.api is not None:
        yield from (f"{part} of its API" for part in API_PARTS if not hasattr(platform.api, part))


PLATFORMS: Registry[Platform] = Registry(
    "platform",
    {
        "key": "its name in the database and in exports",
        "label": "its name where a researcher chooses it",
        "about": "the sentence beside it there",
        "endings": "the words to participants at each outcome",
        "read_visit": "the reading of who comes from an address",
        "visit_params": "the parameters of a visit, which the entry form carries on",
    },
    check=_find_problems,
    entries=_find_platforms,
)


def get_platform(key: str) -> Platform:
    return PLATFORMS[key]


def get_api(key: str) -> PlatformAPI:
    """The API of a platform. Raises Refused where it has none here."""
    platform = get_platform(key)
    if platform.api is None:
        raise Refused(f"{platform.label} can't be reached from here.")
    return platform.api


def platform_apis() -> dict[str, PlatformAPI]:
    """By platform, of those that have one."""
    return {key: platform.api for key, platform in PLATFORMS.items() if platform.api is not None}


def default_platform() -> Platform:
    """The platform whose participants a study takes that is set to none, and at which it is drafted."""
    return next(each for each in PLATFORMS.values() if each.is_default)


def offered_platforms() -> list[Platform]:
    """The platforms that a study can be set to, in the order in which they are offered."""
    return [each for each in PLATFORMS.values() if each.is_offered]


def platform_of_params(params: Mapping[str, str]) -> Platform:
    """The platform of these parameters, for a study that is set to none: the default one, or just a link."""
    default = default_platform()
    return default if params.get(default.params[0], "").strip() else PLATFORMS["link"]


def unread_params(
    params: Mapping[str, str], platform: Platform | None, settings: Settings
) -> tuple[str, ...]:
    """The parameters of a panel that an address has and a study which is set like this does not read, in their order;
    none where it names no person. Without a platform set, all are: the default's are understood, but not as a
    panel's."""
    read = platform.read_params(settings) if platform is not None else ()
    for each in offered_platforms():
        if each.params and params.get(each.params[0], "").strip() and each.params[0] not in read:
            return tuple(name for name in each.params if params.get(name, "").strip())
    return ()


def sender_of(params: Collection[str]) -> Platform:
    """The platform whose parameters these are (`unread_params`)."""
    return next(each for each in offered_platforms() if each.params and each.params[0] in params)


__all__ = [
    "PLATFORMS",
    "Departure",
    "Platform",
    "Setting",
    "Settings",
    "default_platform",
    "get_api",
    "get_platform",
    "offered_platforms",
    "platform_apis",
    "platform_of_params",
    "sender_of",
    "unread_params",
]
