"""Money as participants read it."""

from decimal import Decimal

from django.utils import formats
from django.utils.translation import get_language

SIGNS = {"EUR": "€", "GBP": "£", "USD": "$"}


def money_text(amount: Decimal, currency: str) -> str:
    """The amount in the page's language: £2.00 in English, 2,00 £ in others; of other currencies with their code."""
    number, sign = formats.number_format(amount, decimal_pos=2), SIGNS.get(currency, currency)
    if sign != currency and (get_language() or "en").startswith("en"):
        return f"{sign}{number}"
    return f"{number}\N{NO-BREAK SPACE}{sign}"
