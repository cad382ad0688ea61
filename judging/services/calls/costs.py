"""Costs of calls, and upper bounds for them."""

import json
from decimal import ROUND_UP, Decimal

from judging.backends.base import Request
from judging.backends.probe import LIMITS

ZERO = Decimal(0)
STEP = Decimal("0.00000001")
MILLION = Decimal(1_000_000)
# Tokens around a message that no text of ours shows: roles, separators, the start of the reply.
TOKENS_PER_MESSAGE = 16


def cost_of(
    prompt_tokens: int, completion_tokens: int, price_prompt: Decimal, price_completion: Decimal
) -> Decimal:
    """Money for tokens, at prices per million; rounded up, so that a sum never says less than was spent."""
    money = (prompt_tokens * price_prompt + completion_tokens * price_completion) / MILLION
    return money.quantize(STEP, rounding=ROUND_UP)


def format_amount(amount: Decimal) -> str:
    """An amount as people write it: without zeros at its end."""
    return f"{amount.normalize():f}"


def cost_bound(request: Request, price_prompt: Decimal, price_completion: Decimal) -> Decimal:
    """An upper bound of one attempt's cost: no tokenizer makes more tokens of a text than it has bytes."""
    texts = [message["content"] for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    tokens = sum(len(text.encode()) + TOKENS_PER_MESSAGE for text in texts)
    # None where nothing is written, as by models that embed.
    limit = next((request.parameters[name] for name in LIMITS if name in request.parameters), 0)
    return cost_of(tokens, limit, price_prompt, price_completion)
