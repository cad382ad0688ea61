from django.db import migrations


class Migration(migrations.Migration):
    """Readings are jobs of the core (`evaluation.models.Job`)."""

    dependencies = [("annotator", "0002_claim_cursor")]

    operations = [migrations.DeleteModel("PanelReading")]
