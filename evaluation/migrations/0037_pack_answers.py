from django.db import migrations

from evaluation.services.packing import pack_rows


def pack(apps, schema_editor):
    pack_rows(apps.get_model("evaluation", "Judgment").objects.all())


class Migration(migrations.Migration):
    # Some judgments at a time, so that people can go on with their work meanwhile.
    atomic = False

    dependencies = [
        ('evaluation', '0036_packed_answers'),
    ]

    operations = [
        migrations.RunPython(pack, migrations.RunPython.noop, elidable=True),
    ]
