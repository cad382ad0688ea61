"""Presets, as published studies recruited on Prolific: filters, pay and minutes, to be taken over; and fair pay."""

from decimal import ROUND_HALF_UP, Decimal

from annotator.panels.platforms.eligibility import CENT, Preset
from annotator.panels.prolific.recruitment_filters import RecruitmentFilters

# Per hour: what Prolific asks for at least, and what it recommends. From "Prolific's payment principles" in its help
# pages for researchers, stored copies read on 2026-11-21; look again from time to time.
MINIMUM = {"GBP": Decimal("6.00"), "USD": Decimal("8.00")}
RECOMMENDED = {"GBP": Decimal("9.00"), "USD": Decimal("12.00")}


PRESETS = {
    preset.key: preset
    for preset in (
        Preset(
            key="contexteval",
            label="ContextEval",
            about="Up to 3 items per person at 1.75 USD for 7 minutes each, which is 15 USD per hour.",
            takes=RecruitmentFilters(approval_rate=99, least=500, fluent=("English",)),
            currency="USD",
            per_hour=Decimal(15),
            pay_per_item=Decimal("1.75"),
            minutes_per_item=7,
            items=3,
        ),
        Preset(
            key="href",
            label="HREF",
            # 16 people judged 1,752 instances four times, 438 each; the paper does not say in how many sittings. At its
            # 180 seconds, 20 take an hour, and 22 such visits hold 438.
            about="16 USD per hour, after a qualification with 9 of 10 right; up to 22 visits of 20 items in an hour.",
            takes=RecruitmentFilters(
                # Above 99 %: the filter takes whole percents.
                approval_rate=100,
                first=("English",),
                countries=("United States", "United Kingdom", "Canada"),
                # A Bachelor's degree or more.
                education="Undergraduate degree (BA/BSc/other)",
            ),
            currency="USD",
            per_hour=Decimal(16),
            minutes_per_item=3,
            items=20,
            visits=22,
            qualification=(9, 10),
        ),
        Preset(
            key="lfqa",
            label="LFQA",
            # The 5,000 finished tasks that it also asked for are MTurk's; hardly anybody has so many on Prolific.
            about="4 USD per item of 13 to 14 minutes.",
            takes=RecruitmentFilters(approval_rate=99, first=("English",)),
            currency="USD",
            per_hour=(Decimal(4) * 60 / 14).quantize(CENT),
            pay_per_item=Decimal(4),
            minutes_per_item=14,
        ),
        Preset(
            key="agentcq",
            label="AGENT-CQ",
            # Masters, and the 10,000 finished tasks that it also asked for, are MTurk's.
            about="8.50 USD per hour; three people judge each item.",
            # Above 95 %: the filter takes whole percents.
            takes=RecruitmentFilters(approval_rate=96, countries=("United States",)),
            currency="USD",
            per_hour=Decimal("8.50"),
        ),
    )
}


def fair_pay_warning(pay: Decimal, minutes: int, currency: str) -> str:
    """A sentence where the pay per hour is below what Prolific asks for or recommends; otherwise nothing."""
    per_hour = (pay * 60 / minutes).quantize(CENT, ROUND_HALF_UP)
    said = f"{pay:.2f} {currency} for {minutes} minutes is {per_hour} per hour"
    if currency not in MINIMUM:
        return f"{said}; Prolific says what is fair in {' and '.join(MINIMUM)} only."
    if per_hour < MINIMUM[currency]:
        return f"{said}, below Prolific's minimum of {MINIMUM[currency]}: it won't publish the study."
    if per_hour < RECOMMENDED[currency]:
        return f"{said}, below the {RECOMMENDED[currency]} that Prolific recommends."
    return ""
