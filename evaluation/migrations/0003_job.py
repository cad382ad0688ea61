import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ("evaluation", "0002_rater_in_figures"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("import", "import"), ("export", "export"), ("launch", "launch")], max_length=10)),
                ("slug", models.SlugField(max_length=80)),
                ("parameters", models.JSONField(blank=True, default=dict)),
                ("state", models.CharField(choices=[("queued", "queued"), ("running", "running"), ("done", "done"), ("failed", "failed")], default="queued", max_length=10)),
                ("phase", models.CharField(blank=True, max_length=40)),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("total", models.PositiveBigIntegerField(default=0)),
                ("message", models.CharField(blank=True, max_length=500)),
                ("problems", models.JSONField(blank=True, default=list)),
                ("n_problems", models.PositiveIntegerField(default=0)),
                ("file", models.CharField(blank=True, max_length=120)),
                ("file_name", models.CharField(blank=True, max_length=255)),
                ("lease", models.UUIDField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("by", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("study", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="jobs", to="evaluation.study")),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(condition=Q(("state__in", ["queued", "running"])), fields=("slug", "kind"), name="one_job_at_once_per_kind"),
                    models.CheckConstraint(condition=Q(("kind__in", ["import", "export", "launch"])), name="job_kind_known"),
                    models.CheckConstraint(condition=Q(Q(("lease__isnull", False), ("state", "running")), Q(Q(("state", "running"), _negated=True), ("lease", None)), _connector="OR"), name="job_leased_while_running"),
                    models.CheckConstraint(condition=Q(("state__in", ["queued", "running", "done", "failed"])), name="job_state_known"),
                ],
            },
        ),
    ]
