"""Screens and forms: a frozen item becomes what templates draw, and a posted form what protocols clean.

A screen is plain dictionaries and strings: the item's page is the hot path, and templates read them fastest. What
is repeated in every cell of a checklist (names, labels) is escaped here once and marked safe.
Names of fields are canonical (`preference`, `satisfied.f1.r2`); only numbers and labels follow the presented order.
"""
