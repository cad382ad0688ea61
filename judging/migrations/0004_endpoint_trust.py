"""Who trusts an endpoint is stored, and so are the studies that may use it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def store_what_held(apps, schema_editor):
    """Endpoints of superusers are trusted by them, and each stays open to the studies that use it.

    Of one without a maker it can't be told whether an operator made it or an account is gone: the list of allowed
    endpoints decides until somebody says that it is trusted.
    """
    endpoints = apps.get_model("judging", "Endpoint").objects
    judges = apps.get_model("judging", "Judge").objects
    for endpoint in endpoints.select_related("created_by"):
        maker = endpoint.created_by
        if maker is not None and maker.is_active and maker.is_superuser:
            endpoint.trust, endpoint.trusted_by = "superuser", maker
            endpoint.save(update_fields=["trust", "trusted_by"])
        elif maker is None:
            print(  # noqa: T201 - whoever upgrades must see it
                f"  Endpoint {endpoint.name}: nobody knows who made it. If it is yours, `manage.py set_endpoint "
                f"{endpoint.name} --trust`; until then ASSAY_ENDPOINTS_ALLOWED decides."
            )
        used_by = judges.filter(endpoint=endpoint).values_list("study", flat=True)
        endpoint.studies.add(*set(used_by))


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0006_attributes'),
        ('judging', '0003_counted_when_complete'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='endpoint',
            name='local',
            field=models.BooleanField(default=False, help_text='What it is sent stays with whoever runs this installation. Only such an endpoint is sent items of queries whose split is private; one on this machine that passes them on elsewhere is none.', verbose_name='Keeps what it is sent'),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='open_to_all',
            field=models.BooleanField(default=False, verbose_name='Open to every study'),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='studies',
            field=models.ManyToManyField(blank=True, help_text='Their owners and editors can choose it for judges.', related_name='endpoints', to='evaluation.study', verbose_name='Open to studies'),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='trust',
            field=models.CharField(blank=True, choices=[('', "nobody's: the list of allowed endpoints decides"), ('superuser', "a superuser's, as long as they are one"), ('operator', "the operator's")], default='', editable=False, max_length=10),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='trusted_by',
            field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='endpoint',
            constraint=models.CheckConstraint(condition=models.Q(('trust__in', ['', 'superuser', 'operator'])), name='endpoint_trust_known'),
        ),
        migrations.AddConstraint(
            model_name='endpoint',
            constraint=models.CheckConstraint(condition=models.Q(('trusted_by__isnull', True), ('trust', 'superuser'), _connector='OR'), name='endpoint_trusted_by_a_superuser'),
        ),
        migrations.RunPython(store_what_held, migrations.RunPython.noop, elidable=True),
    ]
