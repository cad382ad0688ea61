import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotator', '0005_round_jobs'),
        ('evaluation', '0051_people_over_time'),
    ]

    operations = [
        migrations.CreateModel(
            name='ErasedVisit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(blank=True, max_length=64)),
                ('status', models.CharField(blank=True, choices=[('reserved', 'reserved'), ('active', 'active'), ('awaiting_review', 'awaiting review'), ('approved', 'approved'), ('partially_approved', 'partially approved'), ('rejected', 'rejected'), ('returned', 'returned'), ('timed_out', 'timed out'), ('screened_out', 'screened out'), ('unknown', 'unknown')], max_length=20)),
                ('pay', models.DecimalField(decimal_places=2, default=0, max_digits=9)),
                ('bonuses', models.DecimalField(decimal_places=2, default=0, max_digits=9)),
                ('day', models.DateField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='submission',
            name='submission_once_per_participant',
        ),
        migrations.AddField(
            model_name='assignment',
            name='visit_number',
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        migrations.AddField(
            model_name='participant',
            name='erasure_asked_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='participant',
            name='visit_number',
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        migrations.AddField(
            model_name='submission',
            name='visit_number',
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        migrations.AlterField(
            model_name='panelevent',
            name='panel',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='annotator.panel'),
        ),
        migrations.AddIndex(
            model_name='participant',
            index=models.Index(condition=models.Q(('erasure_asked_at__isnull', False)), fields=['study'], name='participant_to_erase'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.UniqueConstraint(fields=('participant', 'external_id', 'visit_number'), name='submission_once_per_visit'),
        ),
        migrations.AddField(
            model_name='erasedvisit',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='erased_visits', to='evaluation.study'),
        ),
        migrations.AddConstraint(
            model_name='erasedvisit',
            constraint=models.CheckConstraint(condition=models.Q(('pay__gte', 0), ('bonuses__gte', 0)), name='erased_visit_paid_no_less_than_nothing'),
        ),
        migrations.AddConstraint(
            model_name='erasedvisit',
            constraint=models.UniqueConstraint(condition=models.Q(('digest', ''), _negated=True), fields=('study', 'digest'), name='erased_visit_once'),
        ),
    ]
