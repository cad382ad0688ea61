"""Bundles as they are written: the same study gives the same bytes, apart from the date in the manifest."""

import hashlib
import zipfile
from pathlib import Path
from typing import IO

import orjson

from analytics.reports.build import fingerprint
from analytics.reports.bundle.members import FORMAT, INDENTED, MANIFEST, bundle_members, today
from analytics.reports.cache import effective_ties, whole_report
from analytics.reports.code_version import SOFTWARE_VERSION, code_version
from analytics.reports.common import NothingToReport, Watch, no_watch
from analytics.reports.paper.archive import NO_DATE
from analytics.statistics.preferences.win_rates import Ties
from evaluation.dumps.exports.study_export import atomic_file
from evaluation.models import Study
from evaluation.refusals import WrongState
from evaluation.services.seals import sealed_state
from evaluation.services.studies.rehearsals import NEVER_EXPORTED, refuse_in_rehearsal


def export_bundle(study: Study, path: Path, *, ties: Ties = "half", watch: Watch = no_watch) -> None:
    """Write the bundle to a file that appears only when it is complete.

    Refused for a study without a report, for a rehearsal, and where the study changed meanwhile.
    """
    with atomic_file(path) as file:
        write_bundle(study, file, ties=ties, watch=watch)


def write_bundle(study: Study, out: IO[bytes], *, ties: Ties = "half", watch: Watch = no_watch) -> None:
    refuse_in_rehearsal(study, NEVER_EXPORTED)
    ties = effective_ties(study, ties)
    watch("computing the figures", 0, 1)
    # Taken first: what comes in from here on would be in some of the files and not in others.
    before = fingerprint(study, ties=ties)
    try:
        report = whole_report(study, ties=ties, watch=watch)
    except NothingToReport as nothing:
        raise WrongState(str(nothing)) from None
    members = bundle_members(study, report)
    hashes: dict[str, str] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for at, member in enumerate(members):
            digest = hashlib.sha256()
            with archive.open(_entry(member.path), "w", force_zip64=True) as file:
                for piece in member.content():
                    # Told of every piece: a large study's lines take minutes, and a silent worker is taken to be lost.
                    watch("writing", at, len(members))
                    digest.update(piece)
                    file.write(piece)
            hashes[member.path] = digest.hexdigest()
        manifest = {
            "format": FORMAT,
            "study": study.slug,
            "study_hash": study.study_hash,
            "sealed": sealed_state(study),
            "made": today(),
            "assay": SOFTWARE_VERSION,
            "figures": code_version(),
            "sha256": hashes,
        }
        archive.writestr(_entry(MANIFEST), orjson.dumps(manifest, option=INDENTED))
    if fingerprint(study, ties=ties) != before:
        raise WrongState(
            "Judgments came in or changed while the bundle was being written. Pause the study, then try again."
        )
    watch("writing", len(members), len(members))


def _entry(path: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, NO_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
