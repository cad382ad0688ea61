import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0052_closed_since'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='study',
            name='people_budget',
            field=models.DecimalField(blank=True, decimal_places=2, max_digits=10, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0.01'))]),
        ),
        migrations.AlterField(
            model_name='study',
            name='lease_minutes',
            field=models.PositiveIntegerField(default=60, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(525600)]),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.CheckConstraint(condition=models.Q(('people_budget', None), ('people_budget__gt', 0), _connector='OR'), name='study_people_budget_positive'),
        ),
        migrations.CreateModel(
            name='SavedTableMap',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('map', models.JSONField()),
                ('saved_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='table_maps', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('owner', 'name'), name='saved_table_map_name_unique'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='saved_table_map_has_name')],
            },
        ),
        migrations.CreateModel(
            name='InstallationKey',
            fields=[
                ('name', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('key', models.TextField()),
            ],
        ),
    ]
