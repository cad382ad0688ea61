"""Migrations of many operations that cost little to run."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import ProjectState


class LightMigration(migrations.Migration):
    """After each operation the class of the changed model is made anew, and no other.

    Django makes those of all models anew that are related to it, however distantly: 463 classes for the fifteen
    operations of one migration. What changes a table asks the others for their tables and columns alone, which
    their older classes know as well. The state counts as delayed, so that code that is run by a migration, and
    what follows the last, see classes that are all made anew.
    """

    def apply(
        self, project_state: ProjectState, schema_editor: BaseDatabaseSchemaEditor, collect_sql: bool = False
    ) -> ProjectState:
        def changed_alone(app_label: str, model_name: str, delay: bool = False) -> set[tuple[str, str]]:
            project_state.is_delayed = True
            return {(app_label, model_name)}

        project_state._find_reload_model = changed_alone  # type: ignore[attr-defined]
        try:
            return super().apply(project_state, schema_editor, collect_sql)
        finally:
            del project_state._find_reload_model  # type: ignore[attr-defined]
