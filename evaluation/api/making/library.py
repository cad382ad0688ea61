"""The library of forms, from whose entries studies are made."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import ApiView
from evaluation.library.entries import COLLECTIONS, library


class LibraryEntrySerializer(serializers.Serializer[Any]):
    key = serializers.CharField(help_text="For create_study's `library`.")
    collection = serializers.ChoiceField(choices=list(COLLECTIONS.items()))
    name = serializers.CharField()
    about = serializers.CharField()
    source = serializers.CharField(help_text="The paper or benchmark whose form it is.")  # type: ignore[assignment]
    differs = serializers.CharField(help_text="What is not as it was published; empty where all is.")
    protocol = serializers.CharField()
    title = serializers.CharField(help_text="The draft's, without another.")
    questions = serializers.ListField(child=serializers.CharField(), help_text="Those that must be answered.")
    items = serializers.IntegerField(help_text="To try.")


class LibraryList(ApiView):
    @extend_schema(
        operation_id="list_library",
        summary="The entries of the library of forms",
        tags=["studies"],
        responses=LibraryEntrySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        records = [
            {
                "key": each.key,
                "collection": each.collection,
                "name": each.name,
                "about": each.about,
                "source": each.source,
                "differs": each.differs,
                "protocol": each.protocol.key,
                "title": each.title,
                "questions": each.asked,
                "items": len(each.items),
            }
            for each in library().values()
        ]
        return Response(records)
