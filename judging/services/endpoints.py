"""Endpoints: made by superusers and operators, or by members where the environment allows the place and the key."""

from typing import Any

from django.core.exceptions import ValidationError

from judging.backends.keys import endpoint_problems as place_problems
from judging.models import Endpoint

Problems = dict[str, list[str]]


class EndpointRefused(Exception):
    """The endpoint can't be made; carries every reason, by field."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        super().__init__(" ".join(sentence for each in problems.values() for sentence in each))


class _Operator:
    """Whoever has the shell may do what a superuser may."""

    is_superuser = True


def create_endpoint(*, user: Any, name: str, base_url: str, **fields: Any) -> Endpoint:
    """A new endpoint; `user` None is the operator at the shell."""
    endpoint = Endpoint(name=name, base_url=base_url.rstrip("/"), created_by=user, **fields)
    problems = endpoint_problems(endpoint, user)
    if problems:
        raise EndpointRefused(problems)
    endpoint.save()
    return endpoint


def endpoint_problems(endpoint: Endpoint, user: Any) -> Problems:
    """What keeps this user from saving this endpoint, by field; `user` None is the operator."""
    problems: Problems = {}
    try:
        # A host without dots is a fine one inside a private network, which Django's URLField refuses.
        endpoint.full_clean(exclude=["base_url", "created_by"])
    except ValidationError as invalid:
        problems.update(invalid.message_dict)
    wrong = place_problems(endpoint.base_url, endpoint.key_name, user or _Operator())
    return problems | ({"base_url": wrong} if wrong else {})


def is_allowed(endpoint: Endpoint) -> bool:
    """Whether judges may call it: who made it still may."""
    maker = endpoint.created_by or _Operator()
    return not place_problems(endpoint.base_url, endpoint.key_name, maker)
