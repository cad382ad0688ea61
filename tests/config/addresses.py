"""Every address that the site has, as Django resolves it, and a study with a row for each to be about."""

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.urls import get_resolver
from django.utils import timezone

from annotator.models import KnownMismatch, PanelAct, PersonalLink
from evaluation.models import Judgment, Note, Rater, SavedTableMap, Study, Upload
from evaluation.services.invitations import invite
from evaluation.services.tokens import make_token
from judging.generation.pipelines import PIPELINES
from judging.models import GenerationUnit, PipelineRun, Product, Run, RunGroup, WorkKind
from tests.crowd import come
from tests.evaluation.admin.conftest import work_on

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)|\^|\$|\[\\s\\S\]\*")


def every_route(patterns: Any = None, before: str = "") -> Iterator[str]:
    for each in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(each.pattern)
        if hasattr(each, "url_patterns"):
            yield from every_route(each.url_patterns, route)
        else:
            yield route


ROUTES = list(every_route())
# Of pages below a judge's own, those that go by the study.
OF_STUDY = tuple(f"admin/judging/judge/{page}/" for page in ("new", "budget", "preset", "provider", "jury"))
BY_TOKEN = [route for route in ROUTES if "<token:token>" in route]


class Found:
    """The addresses of one study's rows, by their routes."""

    def __init__(self, world: SimpleNamespace) -> None:
        study, rows = world.study, world.rows
        self.item_key, self.token_key = world.item.key, world.token_key
        self.invited_by_link = world.invited_by_link
        self.rows = {model: row.pk for model, row in rows.items()}
        self.rows |= {"user": world.owner.pk, "group": world.group.pk}
        self.run_group = world.run_group.pk
        # Of pages about what pipelines make.
        self.generation = {
            "run": world.generating.pk,
            "run_id": world.generating.pk,
            "product": world.product.pk,
            "product_id": world.product.pk,
            "key": "responses",
            "act": "pause",
        }
        self.named = {
            "slug": study.slug,
            "run": rows["run"].pk,
            "run_id": rows["run"].pk,
            "judgment": world.settled.pk,
            "job": rows["job"].pk,
            "exclusion": rows["exclusion"].pk,
            "note": rows["note"].pk,
            "flag": rows["itemflag"].pk,
            "upload": world.upload.pk,
            "table_map": world.table_map.pk,
            "judge": rows["judge"].pk,
            "record": rows["panelrecord"].pk,
            "participant": rows["participant"].pk,
            "pseudonym": rows["participant"].rater.pseudonym,
            "act": world.act.pk,
            "known": world.known.pk,
            "link": world.link.pk,
            "platform": "prolific",
            "invitation": world.invitation.pk,
            "assignment_id": world.assignment.pk,
            "id": world.owner.pk,
            "content_type_id": ContentType.objects.get_for_model(study).pk,
            "app_label": "auth",
            "url": "nowhere",
            "number": 0,
            "name": rows["endpoint"].name,
            "station": "items",
            "page": "judges",
            "path": "report.json",
            "heading": "agreement",
            # Of the addresses that studies had in the admin.
            "rest": "workbench/",
            "entry": "lmarena-battle",
            "suffix": "json",
        }

    def __call__(self, route: str, **given: Any) -> str:
        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            return str(given.get(name) or self._value(name, route)) if name else ""

        return "/" + PARAMETER.sub(value, route)

    def _value(self, name: str, route: str) -> Any:
        _, _, model, *_ = [*route.split("/"), "", ""]
        if route.startswith("invitations/"):
            return self.invited_by_link
        if "/generation/" in route and name in self.generation:
            return self.generation[name]
        if route.startswith("docs/images/"):
            return "trust"
        if name == "key":
            return self.token_key if route.startswith("account/") else self.item_key
        if name == "object_id":
            return self.rows["study" if route.startswith("admin/r/") else model]
        if name == "group" or route.startswith("admin/judging/run/group/"):
            return self.run_group
        if name == "pk":
            # What makes a judge for a study goes by the study.
            # Below a study its rows go by their plural.
            return self.rows["study" if route.startswith(OF_STUDY) else model.removesuffix("s")]
        return self.named[name]


def world_of(slug: str, owner: Any, study: Study | None = None) -> SimpleNamespace:
    """A live study with a row of everything that an address can name; every name in it has the slug in it."""
    world = work_on(slug, owner, study)
    world.group = Group.objects.create(name=slug)
    panel, record = world.panelrecord.panel, world.panelrecord
    world.act = PanelAct.objects.create(
        panel=panel, record=record, kind="approve", state="unknown", sent_at=timezone.now(), reason=slug
    )
    world.known = KnownMismatch.objects.create(panel=panel, key="x", note=slug)
    world.link = PersonalLink.objects.create(study=world.study, label=slug)
    at_work = come(world.study, f"{slug}-b")
    world.assignment = at_work.assignments.get()
    world.token = at_work.token
    world.token_key = make_token(world.owner, name=slug)[0].token_key
    invited = invite(
        world.study, role="viewer", by=owner, email=f"{slug}@example.org", address=lambda token: token
    )
    world.invitation, world.invited_by_link = invited.invitation, invited.link
    world.run_group = RunGroup.objects.create(study=world.study)
    world.generating, world.product = _generated(world.study, slug)
    world.rows["run"].group = world.run_group
    world.rows["run"].save()
    world.rows["note"] = Note.objects.create(study=world.study, item=world.item, text=f"Noted in {slug}.")
    world.upload = Upload.objects.create(user=owner, name=f"{slug}.csv", size=9, sha256="0" * 64)
    world.table_map = SavedTableMap.objects.create(owner=owner, name=slug, map={"map": 1, "columns": []})
    world.settled = _settled(world, slug, owner)
    world.find = Found(world)
    return world


def _settled(world: SimpleNamespace, slug: str, owner: Any) -> Judgment:
    """A label that the owner has settled."""
    settler = Rater.objects.create(
        study=world.study, kind="settled", in_figures=False, settled_by=owner, label=slug
    )
    return Judgment.objects.create(
        study=world.study,
        rater=settler,
        item=world.item,
        revision=world.revision,
        trace={"settled": {"reason": slug, "shown": []}},
    )


def _generated(study: Study, slug: str) -> tuple[Run, Product]:
    """A complete run of a pipeline, with a product."""
    run = Run.objects.create(study=study, work=WorkKind.GENERATION, state="complete", last_subject=None)
    casts = {"writers": {"models": [], "temperature": 0.0, "max_tokens": 100}}
    options = {option.key: option.default for option in PIPELINES["responses"].options}
    PipelineRun.objects.create(
        run=run, pipeline="responses", version="1", seed=study.seed, options=options, casts=casts
    )
    unit = GenerationUnit.objects.create(
        run=run, query=study.queries.order_by("pk")[0], step="responses", key="aspen:without", outcome="ok"
    )
    return run, Product.objects.create(unit=unit, number=1, content={"system": "aspen", "text": slug})
