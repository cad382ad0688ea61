"""Money as participants read it: with its sign, in the page's language."""

from decimal import Decimal

import pytest
from django.utils import translation

from annotator.views.shared.money import money_text


@pytest.mark.parametrize(
    ("language", "currency", "said"),
    [
        ("en", "GBP", "£2.00"),
        ("en", "USD", "$2.00"),
        ("en", "CHF", "2.00 CHF"),
        ("de", "GBP", "2,00 £"),
        ("es", "EUR", "2,00 €"),
        ("de", "CHF", "2,00 CHF"),
    ],
)
def test_money_is_written_as_the_language_does(language, currency, said):
    with translation.override(language):
        assert money_text(Decimal("2"), currency) == said.replace(" ", "\N{NO-BREAK SPACE}")
