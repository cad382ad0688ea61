from django.db import migrations

from evaluation.database.light_migration import LightMigration


class Migration(LightMigration):
    """Readings are jobs of the core (`evaluation.models.Job`)."""

    dependencies = [("annotator", "0002_claim_cursor")]

    operations = [migrations.DeleteModel("PanelReading")]
