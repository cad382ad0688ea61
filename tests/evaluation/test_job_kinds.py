"""The kinds of background work, of all apps."""

from django.template.loader import get_template
from django.urls import reverse
from django.utils.module_loading import import_string

from evaluation.extension import extensions
from evaluation.job_kinds import CORE, job_kinds


def test_each_kind_has_a_key_of_its_own():
    keys = [kind.key for kind in (*CORE, *(kind for each in extensions() for kind in each.job_kinds()))]
    assert len(keys) == len(set(keys)) == len(job_kinds()) > 10


def test_what_a_kind_names_is_there():
    for kind in job_kinds().values():
        assert callable(import_string(kind.work)), kind.key
        if kind.upload_form:
            assert reverse(f"admin:evaluation_study_{kind.upload_form}", args=["soups"])
        if kind.confirmed_on:
            assert get_template(kind.confirmed_on)
