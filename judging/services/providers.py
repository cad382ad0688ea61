"""From a provider's name, a key and a model to a judge: the endpoint, its key, and the judges, in one act."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from evaluation.models import Study
from evaluation.refusals import FieldsRefused
from judging.models import Endpoint, Judge
from judging.services.endpoints.access import create_endpoint, grant_access
from judging.services.endpoints.stored_keys import enter_key
from judging.services.judges import create_judge
from judging.services.presets import PRESETS, ModelChoice, make_judges

# Where providers serve chat completions, by the name of the endpoint that is made: (label, address).
PROVIDERS = {
    "openai": ("OpenAI", "https://api.openai.com/v1"),
    "anthropic": ("Anthropic", "https://api.anthropic.com/v1"),
    "google": ("Google (Gemini)", "https://generativelanguage.googleapis.com/v1beta/openai"),
    "mistral": ("Mistral", "https://api.mistral.ai/v1"),
    "deepseek": ("DeepSeek", "https://api.deepseek.com/v1"),
    "groq": ("Groq", "https://api.groq.com/openai/v1"),
    "together": ("Together", "https://api.together.xyz/v1"),
    "openrouter": ("OpenRouter", "https://openrouter.ai/api/v1"),
    "vllm": ("vLLM on this machine", "http://127.0.0.1:8000/v1"),
    "ollama": ("Ollama on this machine", "http://127.0.0.1:11434/v1"),
}


@dataclass(frozen=True, kw_only=True)
class ProviderChoice:
    """A provider's place, by the name that its endpoint would get, with the key and the model there."""

    name: str
    base_url: str
    key: str
    model: str


@transaction.atomic
def judges_at_provider(
    study: Study, choice: ProviderChoice, *, preset: str, user: Any
) -> tuple[Endpoint, list[Judge]]:
    """The endpoint with its key, and the judges of the preset, or without one a judge that is asked as people are; or
    nothing, and Refused says why. An endpoint that the user has made for the same address is used again."""
    endpoint = Endpoint.objects.filter(created_by=user, base_url=choice.base_url.rstrip("/")).first()
    if endpoint is None:
        try:
            endpoint = create_endpoint(user=user, name=_free_name(choice.name), base_url=choice.base_url)
        except FieldsRefused as refused:
            raise FieldsRefused({"base_url": refused.problems}) from None
    if choice.key:
        enter_key(endpoint, choice.key, user)
    grant_access(endpoint, study, user)
    model = ModelChoice(endpoint, choice.model)
    if preset:
        return endpoint, make_judges(study, PRESETS[preset], [model], user=user)
    return endpoint, [create_judge(study, user=user, name=model.slug, endpoint=endpoint, model=model.model)]


def _free_name(name: str) -> str:
    """The name, with a number where another endpoint has it."""
    name = slugify(name)[:70] or "endpoint"
    taken = set(Endpoint.objects.filter(name__startswith=name).values_list("name", flat=True))
    number = 1
    while (free := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return free
