"""Permissions to see and change a study."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from evaluation.models import Import, StudyMember
from evaluation.permissions import RIGHTS, NoRight, get_study_for, studies_for
from tests.factories import make_study


@pytest.fixture
def study(owner):
    return make_study("guarded", owner=owner, queries=0, training=False, checks=0)


def user(name, study=None, role=None, **fields):
    made = get_user_model().objects.create(username=name, **fields)
    if role:
        StudyMember.objects.create(study=study, user=made, role=role)
    return made


def test_who_makes_a_study_owns_it(study, owner):
    assert StudyMember.objects.get(study=study).user == owner
    assert get_study_for(owner, "guarded", right="write") == study


@pytest.mark.parametrize(("role", "writes"), [("owner", True), ("editor", True), ("viewer", False)])
def test_members_read_and_only_some_write(study, role, writes):
    member = user(f"the {role}", study, role)
    assert get_study_for(member, "guarded") == study
    if writes:
        assert get_study_for(member, "guarded", right="write") == study
    else:
        with pytest.raises(NoRight):
            get_study_for(member, "guarded", right="write")


@pytest.mark.parametrize(
    ("role", "rights"),
    [("owner", {"view", "write", "own"}), ("editor", {"view", "write"}), ("viewer", {"view"}), ("", set())],
)
def test_each_right_has_its_roles_by_slug_and_by_key(study, role, rights):
    """As the admin asks, which knows studies by their keys, and as lists of studies do."""
    person = user(f"the {role or 'outsider'}", study, role)
    for right in RIGHTS:
        assert list(studies_for(person, right)) == ([study] if right in rights else [])
        for wanted in ({"slug": "guarded"}, {"pk": study.pk}):
            if right in rights:
                assert get_study_for(person, **wanted, right=right) == study
            else:
                with pytest.raises(NoRight if role else Http404):
                    get_study_for(person, **wanted, right=right)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("fields", [{}, {"is_staff": True}], ids=["outsider", "staff"])
def test_outsiders_find_nothing(study, write, fields):
    with pytest.raises(Http404):
        get_study_for(user("outsider", **fields), "guarded", right="write" if write else "view")


@pytest.mark.parametrize("slug", ["guarded", "no-such-study"])
def test_a_stranger_can_t_tell_whether_a_study_exists(study, slug):
    with pytest.raises(Http404) as refusal:
        get_study_for(AnonymousUser(), slug)
    assert refusal.value.args == ()


def test_a_member_of_another_study_is_an_outsider(study):
    other = make_study("other", queries=0, training=False, checks=0)
    with pytest.raises(Http404):
        get_study_for(user("neighbour", other, "owner"), "guarded")


def test_superusers_are_everywhere(study):
    root = user("root", is_superuser=True)
    assert get_study_for(root, "guarded", right="write") == study


@pytest.mark.parametrize("role", ["owner", "superuser"])
def test_a_study_that_is_being_imported_is_invisible(study, owner, role):
    study.created_by_import = Import.objects.create(file_name="dump.jsonl", format="assay")
    study.save()
    who = owner if role == "owner" else user("root", is_superuser=True)
    with pytest.raises(Http404):
        get_study_for(who, "guarded")
    study.created_by_import.state = Import.State.COMPLETE
    study.created_by_import.save()
    assert get_study_for(who, "guarded") == study


def test_who_is_no_longer_a_member_is_out(study):
    member = user("former", study, "editor")
    StudyMember.objects.filter(user=member).delete()
    with pytest.raises(Http404):
        get_study_for(member, "guarded")
