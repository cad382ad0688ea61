import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0050_news_and_archive'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Erasure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('reason', models.CharField(max_length=300)),
                ('n_raters', models.PositiveIntegerField(default=0)),
                ('n_judgments', models.PositiveIntegerField(default=0)),
                ('n_items', models.PositiveIntegerField(default=0)),
                ('is_cleared', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='StudyWebhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.URLField(max_length=500)),
                ('told', models.JSONField(blank=True, default=list, editable=False)),
                ('problem', models.CharField(blank=True, editable=False, max_length=300)),
                ('tries', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('next_at', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=255)),
                ('size', models.PositiveBigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('received', models.PositiveBigIntegerField(default=0)),
                ('file', models.CharField(max_length=120)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.AddField(
            model_name='item',
            name='erased_hash',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=64),
        ),
        migrations.AddField(
            model_name='study',
            name='closed_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='study',
            name='erases_withdrawn',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='study',
            name='ids_deleted_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='study',
            name='practice_each_visit',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='study',
            name='retention_days',
            field=models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000)]),
        ),
        migrations.AddField(
            model_name='study',
            name='texts_language',
            field=models.CharField(blank=True, db_default='', default='', max_length=35, validators=[django.core.validators.RegexValidator('^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*\\Z', 'A language is written as in “de”, “pt-BR” or “zh-Hant” (BCP 47).')]),
        ),
        migrations.AddField(
            model_name='study',
            name='visits',
            field=models.PositiveSmallIntegerField(db_default=1, default=1, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)]),
        ),
        migrations.AddField(
            model_name='study',
            name='written_formulas',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name='seal',
            name='kind',
            field=models.CharField(choices=[('study', 'study'), ('item', 'item'), ('rater', 'rater'), ('exclusion', 'exclusion'), ('erasure', 'erasure')], max_length=10),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.CheckConstraint(condition=models.Q(('retention_days', None), ('retention_days__gte', 1), _connector='OR'), name='study_retention_positive'),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.CheckConstraint(condition=models.Q(('visits__gte', 1)), name='study_visits_positive'),
        ),
        migrations.AddField(
            model_name='erasure',
            name='by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='erasure',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='erasures', to='evaluation.study'),
        ),
        migrations.AddField(
            model_name='studywebhook',
            name='study',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='webhook', to='evaluation.study'),
        ),
        migrations.AddField(
            model_name='upload',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='erasure',
            index=models.Index(condition=models.Q(('is_cleared', False)), fields=['study'], name='erasure_to_clear'),
        ),
        migrations.AddConstraint(
            model_name='erasure',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='erasure_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='upload',
            constraint=models.UniqueConstraint(fields=('user', 'sha256', 'name'), name='upload_once_per_file'),
        ),
        migrations.AddConstraint(
            model_name='upload',
            constraint=models.CheckConstraint(condition=models.Q(('received__lte', models.F('size'))), name='upload_within_its_size'),
        ),
    ]
