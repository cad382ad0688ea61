"""The part of a citation that no report holds: its authors, and the address at which everybody may look.

Names stand in the entry for BibTeX alone, so that the report and its bundle can be given away without them.
"""

from dataclasses import astuple, dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse

from evaluation.models import Study, StudyMember
from evaluation.selectors import published_leaderboard

# Of an installation whose address nobody has set, or that only its own machine reaches.
UNREACHED = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Author:
    first: str
    last: str


@dataclass(frozen=True)
class Credit:
    """`url` is empty where no leaderboard of the study is public."""

    authors: tuple[Author, ...] = ()
    url: str = ""

    @property
    def stamp(self) -> list[object]:
        """The facts that it depends on, as JSON."""
        return [[list(astuple(author)) for author in self.authors], self.url]


def credit_of(study: Study) -> Credit:
    """The owners who have set their names, in the order in which they joined, and the public leaderboard's address."""
    owners = study.members.filter(role=StudyMember.Role.OWNER).order_by("pk").select_related("user")
    named = [Author(each.user.first_name.strip(), each.user.last_name.strip()) for each in owners]
    return Credit(tuple(each for each in named if each.first or each.last), _leaderboard_url(study))


def _leaderboard_url(study: Study) -> str:
    public: str = settings.ASSAY_PUBLIC_URL
    if urlsplit(public).hostname in UNREACHED or published_leaderboard(study.slug) is None:
        return ""
    return public + reverse("analytics:leaderboard", args=[study.slug])
