from django.db import migrations, models

from evaluation.services.packing import pack_rows


def pack(apps, schema_editor):
    pack_rows(apps.get_model("evaluation", "Answer").objects.all())


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0035_clarifying_source'),
    ]

    operations = [
        migrations.AddField(
            model_name='judgment',
            name='labels',
            field=models.TextField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='judgment',
            name='numbers',
            field=models.BinaryField(null=True),
        ),
        migrations.AddField(
            model_name='judgment',
            name='slots',
            field=models.TextField(editable=False, null=True),
        ),
        migrations.RunPython(pack, migrations.RunPython.noop, elidable=True),
    ]
