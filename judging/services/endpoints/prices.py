"""Prices of models, per million tokens: a judge's own, or the model's at its endpoint."""

from decimal import ROUND_UP, Decimal

from evaluation.refusals import FieldsRefused
from judging.models import Endpoint, Judge, ModelPrice, Run
from judging.services.calls.workload import Target

ZERO = Decimal(0)
# What a run's columns hold of a price.
STEP = Decimal("0.000001")


def prices_of(judge: Judge, *, by_batch: bool = False) -> tuple[Decimal, Decimal]:
    """For prompt and completion tokens; nothing where neither the judge nor its model has a price.

    Of batches the endpoint takes a share, the same for all its models: so it is one number that holds for the judges'
    own prices too, and follows when a price changes, instead of a second price for each model.
    """
    own = (judge.price_prompt, judge.price_completion)
    of_model = (ZERO, ZERO)
    if None in own and judge.endpoint is not None:
        of_model = price_of_model(judge.endpoint, judge.model)
    prompt, completion = (
        theirs if mine is None else Decimal(mine) for mine, theirs in zip(own, of_model, strict=True)
    )
    if by_batch and judge.endpoint is not None:
        return _of_batches(judge.endpoint, prompt), _of_batches(judge.endpoint, completion)
    return prompt, completion


def price_of_model(endpoint: Endpoint, model: str, *, by_batch: bool = False) -> tuple[Decimal, Decimal]:
    """The model's price for prompt and completion tokens; nothing where it has none."""
    price = ModelPrice.objects.filter(endpoint=endpoint, model=model).first()
    if price is None:
        return ZERO, ZERO
    if by_batch:
        return _of_batches(endpoint, price.price_prompt), _of_batches(endpoint, price.price_completion)
    return price.price_prompt, price.price_completion


def _of_batches(endpoint: Endpoint, price: Decimal) -> Decimal:
    return (price * Decimal(endpoint.batch_price_factor)).quantize(STEP, rounding=ROUND_UP)


def prices_at_once(run: Run, target: Target) -> tuple[Decimal, Decimal]:
    """A run's prices of what is not asked as a batch, though its calls may be."""
    prompt, completion = run.prices_at(target.key)
    factor = Decimal(target.endpoint.batch_price_factor)
    if not run.by_batch or not factor:
        return prompt, completion
    return prompt / factor, completion / factor


def set_price(endpoint: Endpoint, model: str, price_prompt: Decimal, price_completion: Decimal) -> ModelPrice:
    """Set a model's price; runs that have begun keep theirs."""
    model = model.strip()
    problems = {}
    if not model:
        problems["model"] = ["Name the model as the endpoint does."]
    if not all(price.is_finite() and 0 <= price < 1_000_000 for price in (price_prompt, price_completion)):
        problems["price_prompt"] = ["A price must be from 0 up to a million."]
    if problems:
        raise FieldsRefused(problems)
    prices = {"price_prompt": price_prompt, "price_completion": price_completion}
    return ModelPrice.objects.update_or_create(endpoint=endpoint, model=model, defaults=prices)[0]
