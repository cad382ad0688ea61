"""The validator of reports for tests: says what the draft's own says, and asks a record about its own figure alone."""

from jsonschema import Draft202012Validator, validators

from analytics.reports.schema import report_schema


def _all_of(validator, rules, instance, schema):
    """Of a hundred rules that begin with `if` it is that figure's record, ninety-nine say nothing of it."""
    figure = instance.get("figure") if isinstance(instance, dict) else None
    for at, rule in enumerate(rules):
        asked = rule.get("if", {}).get("properties", {}).get("figure", {}).get("const")
        if figure is None or asked is None or asked == figure:
            yield from validator.descend(instance, rule, schema_path=at)


_Validator = validators.extend(Draft202012Validator, {"allOf": _all_of})


def problems(report):
    return [error.message for error in _Validator(report_schema()).iter_errors(report)]
