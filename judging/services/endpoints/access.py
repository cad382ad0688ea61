"""Endpoints: trusted by superusers and operators, or made by members where the environment allows place and key.

Three things must hold before a study's texts go anywhere: the place is allowed, the endpoint is open to the study, and
nothing of a private split goes to one that does not keep it.
"""

from collections.abc import Collection
from typing import Any

from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet

from evaluation.models import Item, Query, Study
from evaluation.permissions import studies_for
from evaluation.refusals import FieldsRefused
from judging.backends.keys import endpoint_problems as place_problems
from judging.models import Endpoint, Trust

Problems = dict[str, list[str]]
# What decides where requests go and what opens the door there: whoever changes it says again that it is trusted.
PLACE = frozenset({"base_url", "key_name"})


class _Operator:
    """The user of the shell, who may do what a superuser may."""

    is_superuser = True


class _Member:
    is_superuser = False


# --- made, trusted, opened --------------------------------------------------------------------------------------------


def create_endpoint(*, user: Any, name: str, base_url: str, **fields: Any) -> Endpoint:
    """A new endpoint, trusted if a superuser makes it; `user` None is the operator at the shell."""
    endpoint = Endpoint(name=name, base_url=base_url.rstrip("/"), created_by=user, **fields)
    problems = endpoint_problems(endpoint, user)
    if problems:
        raise FieldsRefused(problems)
    set_trust(endpoint, user)
    endpoint.save()
    log_of_endpoint(endpoint, user, "Created.", flag=ADDITION)
    return endpoint


def log_of_endpoint(endpoint: Endpoint, by: Any, message: str, *, flag: int = CHANGE) -> None:
    """Log one line of the endpoint's history; nothing of whoever runs the server."""
    if by is not None:
        LogEntry.objects.log_actions(by.pk, [endpoint], flag, change_message=message, single_object=True)


def endpoint_problems(endpoint: Endpoint, user: Any, *, by_own_word: bool = True) -> Problems:
    """The problems that keep this user from saving this endpoint, by field; `user` None is the operator.

    Without their own word for it, the list of allowed endpoints decides even for those whose word would be enough.
    """
    problems: Problems = {}
    try:
        # A host without dots is a fine one inside a private network, which Django's URLField refuses.
        endpoint.full_clean(exclude=["base_url", "created_by"])
    except ValidationError as invalid:
        problems.update(invalid.message_dict)
    word = _Operator() if by_own_word and may_trust(user) else _Member()
    wrong = place_problems(endpoint.base_url, endpoint.key_name, word)
    return problems | ({"base_url": wrong} if wrong else {})


def may_trust(user: Any) -> bool:
    """True if their word is enough for any place; `user` None is the operator."""
    return user is None or bool(user.is_active and user.is_superuser)


def may_change(endpoint: Endpoint, user: Any) -> bool:
    """True for who made it, superusers and the operator (None)."""
    return may_trust(user) or (endpoint.created_by_id is not None and endpoint.created_by_id == user.pk)


def set_trust(endpoint: Endpoint, user: Any, *, trusted: bool = True) -> None:
    """Note on the given instance (unsaved) that this user trusts it, or takes all trust away.

    From whoever may not trust an endpoint it takes trust away, and that it keeps what it is sent.
    """
    trusted = trusted and may_trust(user)
    endpoint.trust = Trust.NONE if not trusted else Trust.OPERATOR if user is None else Trust.SUPERUSER
    endpoint.trusted_by = user if trusted else None
    endpoint.local = endpoint.local and may_trust(user)


def is_trusted(endpoint: Endpoint) -> bool:
    """A superuser's word ends with their being one; an operator's stands until it is taken back."""
    if endpoint.trust == Trust.SUPERUSER:
        return endpoint.trusted_by is not None and may_trust(endpoint.trusted_by)
    return endpoint.trust == Trust.OPERATOR


def grant_access(endpoint: Endpoint, study: Study, user: Any) -> bool:
    """Open it to a study, if this user may: a superuser, the operator (None) or who made it. True if it is open."""
    if is_open_to(endpoint, study):
        return True
    if not may_change(endpoint, user):
        return False
    endpoint.studies.add(study)
    return True


# --- what a study may use ---------------------------------------------------------------------------------------------


def offered_endpoints(study: Study, user: Any) -> list[Endpoint]:
    """The endpoints that this member can choose for a judge: open to the study, or made by them; superusers, all."""
    rows = Endpoint.objects.select_related("trusted_by").order_by("name")
    if not may_trust(user):
        rows = rows.filter(Q(open_to_all=True) | Q(studies=study) | Q(created_by=user.pk)).distinct()
    return [endpoint for endpoint in rows if not address_refusals(endpoint)]


def endpoints_for(user: Any) -> QuerySet[Endpoint]:
    """Endpoints that a user may know of: open to a study of theirs, or made by them; all, for a superuser."""
    if may_trust(user):
        return Endpoint.objects.all()
    mine = studies_for(user).values("pk")
    known = Q(open_to_all=True) | Q(studies__in=mine) | Q(created_by=user.pk)
    return Endpoint.objects.filter(pk__in=Endpoint.objects.filter(known).values("pk"))


def is_open_to(endpoint: Endpoint, study: Study) -> bool:
    return endpoint.open_to_all or endpoint.studies.filter(pk=study.pk).exists()


def address_refusals(endpoint: Endpoint) -> list[str]:
    """Why judges may not call this place (any more), a sentence each, with what would allow it."""
    word = _Operator() if is_trusted(endpoint) else _Member()
    return place_problems(endpoint.base_url, endpoint.key_name, word)


def endpoint_refusals(endpoint: Endpoint, study: Study) -> list[str]:
    """Why judges of this study may not call it, a sentence each."""
    refused = [f"The endpoint {endpoint} is not allowed: {each}" for each in address_refusals(endpoint)]
    if not is_open_to(endpoint, study):
        refused.append(
            f"The endpoint {endpoint} is not open to this study. Its creator or a superuser can open "
            "it on its page."
        )
    return refused


def private_refusal(endpoint: Endpoint, items: QuerySet[Item]) -> str:
    """Why these items may not be sent there, '' if they may."""
    if endpoint.local:
        return ""
    n = items.filter(query__split=Query.Split.PRIVATE).count()
    if not n:
        return ""
    what = "1 item is of a query" if n == 1 else f"{n:,} items are of queries"
    return (
        f"{what} whose split is private, but the endpoint {endpoint} is not marked as one that keeps "
        "what it is sent. "
        "Choose one that does; a superuser can mark it on its page."
    )


def private_query_refusal(endpoint: Endpoint, private: int) -> str:
    """Why so many queries of the split private may not be sent there, '' if they may."""
    if endpoint.local or not private:
        return ""
    what = "1 query has" if private == 1 else f"{private:,} queries have"
    return (
        f"{what} the split private, but the endpoint {endpoint} is not marked as one that keeps what it is sent. "
        "Choose one that does; a superuser can mark it on its page."
    )


def call_refusals(endpoint_id: int, study: Study, items: Collection[int]) -> list[str]:
    """Why these items may not be sent there now: endpoints change while runs are under way."""
    endpoint = Endpoint.objects.select_related("trusted_by").get(pk=endpoint_id)
    private = private_refusal(endpoint, Item.objects.filter(pk__in=items))
    return [*endpoint_refusals(endpoint, study), *([private] if private else [])]
