"""Items of a file that are added to a running study: counted by a worker first, and added once that is confirmed."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.acts import begin_addition
from evaluation.api.base import StudyView
from evaluation.api.jobs import JobSerializer
from evaluation.api.making.files import FileSerializer, begin_job_of_file, sent_map
from evaluation.api.once import IDEMPOTENCY_KEY
from evaluation.api.problems import CONFLICTS
from evaluation.api.query import BodyTextField, read_body
from evaluation.dumps.imports.new_system import AGAINST
from evaluation.models import Job


class FileAdditionSerializer(FileSerializer):
    """A file of items, or with `system` of one new system's responses."""

    system = BodyTextField(required=False, max_length=120, help_text="Key of the new system.")
    label = BodyTextField(required=False, max_length=200)  # type: ignore[assignment]
    family = BodyTextField(required=False, max_length=80)
    against = serializers.ChoiceField(choices=AGAINST, default="all", help_text="Whom it is compared with.")


class StudyFileAdditions(StudyView):
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="add_items_of_file",
        summary="Have a worker count what a file would add to a running study",
        description="The job ends as staged, with its preview; confirm_job has it added. A table is read by the map, "
        "else by that of the study's last table, else by a guess.",
        tags=["items"],
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": FileAdditionSerializer},
        responses={202: JobSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        given = read_body(FileAdditionSerializer, request)
        names = {name: given.get(name, "") for name in ("system", "against", "label", "family")}

        def begin(kept: str, name: str) -> Job:
            return begin_addition(
                self.study,
                kept=kept,
                name=name,
                map=sent_map(request.user, given),
                new_system=names if names["system"] else None,
                by=request.user,
            )

        return begin_job_of_file(request, given, begin)
