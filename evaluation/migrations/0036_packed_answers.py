from django.db import migrations, models


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
            name='answered',
            field=models.TextField(editable=False, null=True),
        ),
    ]
