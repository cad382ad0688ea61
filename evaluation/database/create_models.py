"""Tables that are made together by a migration."""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import CreateModel
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.state import ProjectState


class CreateModels(Operation):
    """Models with all their fields and constraints, whatever the order in which they point at each other.

    A CreateModel by itself has Django make the classes of all models anew that are related to the new one, which of n
    models is n² classes. Here they are made once, when all models are known.
    """

    category = OperationCategory.ADDITION
    # What takes all tables of an app away is a new database.
    reversible = False

    def __init__(self, *models: CreateModel) -> None:
        self.models = models

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        # The classes of what was known before are made again with those of the new models.
        state.__dict__.pop("apps", None)
        for each in self.models:
            each.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for each in self.models:
            each.database_forwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create models {', '.join(each.name for each in self.models)}"
