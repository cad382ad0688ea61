import annotator.models.crowd
import datetime
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from evaluation.database.create_models import CreateModels


class Migration(migrations.Migration):

    replaces = [
        ('annotator', '0013_link_group'),
        ('annotator', '0002_claim_cursor'),
        ('annotator', '0003_reading_jobs'),
        ('annotator', '0004_round_claim'),
        ('annotator', '0005_round_jobs'),
        ('annotator', '0006_people_over_time'),
        ('annotator', '0007_linked_studies'),
    ]

    initial = True

    dependencies = [
        ('evaluation', '0051_people_over_time'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='EntryRule',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entry_rules', to='evaluation.study')),
                    ('other', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='evaluation.study')),
                    ('kind', models.CharField(choices=[('not', 'not they'), ('only', 'only they')], max_length=4)),
                    ('took', models.CharField(choices=[('any', 'took part in'), ('passed', 'passed the qualification of'), ('failed', 'failed the qualification or the attention checks of'), ('completed', 'completed'), ('excluded', 'was excluded from')], default='any', max_length=9)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('study', 'other', 'kind'), name='entry_rule_once_per_other'), models.CheckConstraint(condition=models.Q(('took__in', ['any', 'passed', 'failed', 'completed', 'excluded'])), name='entry_rule_took_known'), models.CheckConstraint(condition=models.Q(('study', models.F('other')), _negated=True), name='entry_rule_not_of_itself')],
                },
            ),
            migrations.CreateModel(
                name='Participant',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='participants', to='evaluation.study')),
                    ('platform', models.CharField(default='link', max_length=30)),
                    ('external_id', models.CharField(blank=True, max_length=120)),
                    ('rater', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='participant', to='evaluation.rater')),
                    ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.revision')),
                    ('token', models.CharField(default=annotator.models.crowd.new_token, max_length=64, unique=True)),
                    ('arm', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.arm')),
                    ('step', models.CharField(choices=[('instructions', 'instructions'), ('training', 'training'), ('qualification', 'qualification'), ('items', 'items'), ('comments', 'comments'), ('done', 'done')], default='instructions', max_length=15)),
                    ('outcome', models.CharField(blank=True, choices=[('completed', 'completed'), ('no_consent', 'no consent'), ('failed_qualification', 'failed qualification'), ('failed_attention', 'failed attention checks'), ('full', 'study full'), ('withdrawn', 'withdrawn'), ('returned', 'returned'), ('timed_out', 'timed out')], max_length=25)),
                    ('quota', models.PositiveIntegerField()),
                    ('visit_number', models.PositiveSmallIntegerField(db_default=1, default=1)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('consented_at', models.DateTimeField(blank=True, null=True)),
                    ('consent_version', models.CharField(blank=True, max_length=64)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('comments', models.TextField(blank=True)),
                    ('unsent_comments', models.TextField(blank=True, default='')),
                    ('erasure_asked_at', models.DateTimeField(blank=True, null=True)),
                    ('in_play', models.BooleanField(default=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('study', 'platform', 'external_id'), name='participant_once_per_study'), models.CheckConstraint(condition=models.Q(models.Q(('step', 'done'), models.Q(('outcome', ''), _negated=True)), models.Q(models.Q(('step', 'done'), _negated=True), ('outcome', '')), _connector='OR'), name='participant_done_has_outcome')],
                    'indexes': [models.Index(condition=models.Q(('outcome', '')), fields=['study', 'arm'], name='participant_live_by_arm'), models.Index(condition=models.Q(('in_play', True)), fields=['study'], name='participant_in_play'), models.Index(condition=models.Q(('erasure_asked_at__isnull', False)), fields=['study'], name='participant_to_erase')],
                },
            ),
            migrations.CreateModel(
                name='Submission',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='annotator.participant')),
                    ('external_id', models.CharField(blank=True, max_length=120)),
                    ('external_study_id', models.CharField(blank=True, max_length=120)),
                    ('visit_number', models.PositiveSmallIntegerField(db_default=1, default=1)),
                    ('extra', models.JSONField(blank=True, default=dict)),
                    ('entered_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('outcome', models.CharField(blank=True, choices=[('completed', 'completed'), ('no_consent', 'no consent'), ('failed_qualification', 'failed qualification'), ('failed_attention', 'failed attention checks'), ('full', 'study full'), ('withdrawn', 'withdrawn'), ('returned', 'returned'), ('timed_out', 'timed out')], max_length=25)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('participant', 'external_id', 'visit_number'), name='submission_once_per_visit')],
                },
            ),
            migrations.CreateModel(
                name='Slot',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='evaluation.study')),
                    ('item', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='slots', to='evaluation.item')),
                    ('arm', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.arm')),
                    ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.query')),
                    ('k', models.PositiveSmallIntegerField()),
                    ('order', models.CharField(max_length=120)),
                    ('rank', models.PositiveBigIntegerField()),
                    ('state', models.CharField(choices=[('open', 'open'), ('reserved', 'reserved'), ('filled', 'filled'), ('retired', 'retired')], default='open', max_length=10)),
                    ('holder', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotator.assignment')),
                    ('leased_until', models.DateTimeField(blank=True, null=True)),
                    ('replaces', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='replaced_by', to='annotator.slot')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('item', 'k'), name='slot_k_unique'), models.CheckConstraint(condition=models.Q(models.Q(('holder', None), ('state__in', ['open', 'retired'])), models.Q(('holder__isnull', False), ('state__in', ['reserved', 'filled'])), _connector='OR'), name='slot_held_while_reserved_or_filled'), models.CheckConstraint(condition=models.Q(models.Q(('leased_until__isnull', False), ('state', 'reserved')), models.Q(models.Q(('state', 'reserved'), _negated=True), ('leased_until', None)), _connector='OR'), name='slot_leased_while_reserved')],
                    'indexes': [models.Index(condition=models.Q(('state', 'open')), fields=['study', 'arm', 'rank'], name='slot_open_by_rank'), models.Index(condition=models.Q(('state', 'reserved')), fields=['study', 'arm', 'leased_until'], name='slot_reserved_by_lease')],
                },
            ),
            migrations.CreateModel(
                name='Assignment',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotator.participant')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='evaluation.item')),
                    ('slot', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotator.slot')),
                    ('once', models.BigIntegerField(blank=True, null=True)),
                    ('visit_number', models.PositiveSmallIntegerField(db_default=1, default=1)),
                    ('attempt', models.PositiveSmallIntegerField(default=0)),
                    ('order', models.CharField(max_length=120)),
                    ('state', models.CharField(choices=[('reserved', 'reserved'), ('submitted', 'submitted'), ('skipped', 'skipped'), ('expired', 'expired'), ('returned', 'returned'), ('discarded', 'discarded')], default='reserved', max_length=10)),
                    ('surplus', models.BooleanField(default=False)),
                    ('reserved_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('draft', models.JSONField(blank=True, default=dict)),
                    ('judgment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignment', to='evaluation.judgment')),
                    ('passed', models.BooleanField(blank=True, null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['reserved', 'submitted']), ('surplus', False)), fields=('slot',), name='one_live_assignment_per_slot'), models.UniqueConstraint(condition=models.Q(('state', 'reserved')), fields=('participant',), name='one_reserved_per_participant'), models.UniqueConstraint(fields=('participant', 'item', 'attempt'), name='one_assignment_per_attempt'), models.UniqueConstraint(condition=models.Q(('slot__isnull', False)), fields=('participant', 'once'), name='once_per_rule'), models.CheckConstraint(condition=models.Q(('slot', None), ('once__isnull', False), _connector='OR'), name='assignment_slot_has_once'), models.CheckConstraint(condition=models.Q(('ended_at', None), ('ended_at__gte', models.F('reserved_at')), _connector='OR'), name='assignment_ends_after_reserved')],
                },
            ),
            migrations.CreateModel(
                name='Panel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='panel', to='evaluation.study')),
                    ('platform', models.CharField(default='link', max_length=30)),
                    ('settings', models.JSONField(blank=True, default=dict)),
                    ('returned', models.CharField(choices=[('keep', 'keep what was submitted'), ('discard', 'exclude and re-collect')], default='keep', max_length=10)),
                    ('whom', models.JSONField(blank=True, default=dict)),
                    ('external_id', models.CharField(blank=True, max_length=120)),
                    ('drafted_at', models.DateTimeField(blank=True, null=True)),
                    ('status', models.CharField(blank=True, max_length=30)),
                    ('status_at', models.DateTimeField(blank=True, null=True)),
                    ('places', models.PositiveIntegerField(blank=True, null=True)),
                    ('synced_at', models.DateTimeField(blank=True, null=True)),
                    ('drafted', models.JSONField(blank=True, default=dict)),
                    ('there', models.JSONField(blank=True, default=dict)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('platform', 'external_id'), name='panel_study_once'), models.CheckConstraint(condition=models.Q(('drafted_at', None), models.Q(('external_id', ''), _negated=True), _connector='OR'), name='panel_drafted_has_id')],
                },
            ),
            migrations.CreateModel(
                name='PersonalLink',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personal_links', to='evaluation.study')),
                    ('label', models.CharField(max_length=120)),
                    ('key', models.CharField(default=annotator.models.crowd.new_token, max_length=64, unique=True)),
                    ('group', models.CharField(blank=True, max_length=60)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_reason', models.CharField(blank=True, max_length=300)),
                ],
                options={
                    'ordering': ['pk'],
                    'constraints': [models.UniqueConstraint(fields=('study', 'label'), name='personal_link_label_unique'), models.CheckConstraint(condition=models.Q(models.Q(('revoked_at', None), ('revoked_reason', '')), models.Q(('revoked_at__isnull', False), models.Q(('revoked_reason', ''), _negated=True)), _connector='OR'), name='personal_link_revoked_has_reason')],
                },
            ),
            migrations.CreateModel(
                name='LinkedStudy',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('platform', models.CharField(max_length=30)),
                    ('external_id', models.CharField(max_length=120)),
                    ('visit_number', models.PositiveSmallIntegerField()),
                    ('status', models.CharField(blank=True, max_length=30)),
                    ('status_at', models.DateTimeField()),
                    ('places', models.PositiveIntegerField()),
                    ('panel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='linked_studies', to='annotator.panel')),
                ],
                options={
                    'ordering': ['visit_number', 'pk'],
                    'constraints': [models.UniqueConstraint(fields=('platform', 'external_id'), name='linked_study_once'), models.CheckConstraint(condition=models.Q(('visit_number__gte', 2), models.Q(('external_id', ''), _negated=True)), name='linked_study_is_of_a_further_visit')],
                },
            ),
            migrations.CreateModel(
                name='PanelRecord',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('panel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='records', to='annotator.panel')),
                    ('external_id', models.CharField(max_length=120)),
                    ('participant_id', models.CharField(max_length=120)),
                    ('submission', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='panel_record', to='annotator.submission')),
                    ('status', models.CharField(choices=[('reserved', 'reserved'), ('active', 'active'), ('awaiting_review', 'awaiting review'), ('approved', 'approved'), ('partially_approved', 'partially approved'), ('rejected', 'rejected'), ('returned', 'returned'), ('timed_out', 'timed out'), ('screened_out', 'screened out'), ('unknown', 'unknown')], default='unknown', max_length=20)),
                    ('status_at', models.DateTimeField()),
                    ('applied', models.CharField(blank=True, max_length=20)),
                    ('started_at', models.DateTimeField(blank=True, null=True)),
                    ('completed_at', models.DateTimeField(blank=True, null=True)),
                    ('code', models.CharField(blank=True, max_length=120)),
                    ('return_asked_at', models.DateTimeField(blank=True, null=True)),
                    ('bonuses', models.DecimalField(blank=True, decimal_places=2, max_digits=9, null=True)),
                    ('bonuses_at', models.DateTimeField(blank=True, null=True)),
                    ('linked_study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='records', to='annotator.linkedstudy')),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('bonuses', None), models.Q(('bonuses__gte', 0), ('bonuses_at__isnull', False)), _connector='OR'), name='panel_record_bonuses_read'), models.UniqueConstraint(fields=('panel', 'external_id'), name='panel_record_once'), models.CheckConstraint(condition=models.Q(('status__in', ['reserved', 'active', 'awaiting_review', 'approved', 'partially_approved', 'rejected', 'returned', 'timed_out', 'screened_out', 'unknown'])), name='panel_record_status_known')],
                    'indexes': [models.Index(fields=['panel', 'participant_id'], name='panel_record_by_person')],
                },
            ),
            migrations.CreateModel(
                name='PanelEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('platform', models.CharField(max_length=30)),
                    ('event_id', models.CharField(max_length=120)),
                    ('signed', models.CharField(blank=True, db_index=True, max_length=64)),
                    ('kind', models.CharField(max_length=60)),
                    ('occurred_at', models.DateTimeField()),
                    ('received_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('payload', models.JSONField()),
                    ('panel', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='annotator.panel')),
                    ('applied_at', models.DateTimeField(blank=True, null=True)),
                    ('problem', models.CharField(blank=True, max_length=300)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('platform', 'event_id'), name='panel_event_once')],
                    'indexes': [models.Index(condition=models.Q(('applied_at', None)), fields=['occurred_at', 'id'], name='panel_event_waiting')],
                },
            ),
            migrations.CreateModel(
                name='PanelAct',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('panel', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='acts', to='annotator.panel')),
                    ('record', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='acts', to='annotator.panelrecord')),
                    ('kind', models.CharField(choices=[('approve', 'approve'), ('reject', 'reject'), ('request_return', 'ask to return'), ('bonus', 'bonus')], max_length=20)),
                    ('purpose', models.CharField(blank=True, max_length=120)),
                    ('amount', models.DecimalField(blank=True, decimal_places=2, max_digits=8, null=True)),
                    ('reason', models.TextField(blank=True)),
                    ('category', models.CharField(blank=True, max_length=40)),
                    ('state', models.CharField(choices=[('intended', 'to be sent'), ('sending', 'being sent'), ('done', 'done'), ('refused', 'refused by the panel'), ('unknown', 'outcome unknown'), ('cancelled', 'cancelled')], default='intended', max_length=10)),
                    ('batch', models.CharField(blank=True, max_length=120)),
                    ('others', models.DecimalField(blank=True, decimal_places=2, max_digits=9, null=True)),
                    ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('sent_at', models.DateTimeField(blank=True, null=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('note', models.TextField(blank=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['cancelled', 'refused']), _negated=True), fields=('record', 'kind', 'purpose'), name='panel_act_once'), models.CheckConstraint(condition=models.Q(models.Q(('amount__gt', 0), ('amount__isnull', False), ('kind', 'bonus'), models.Q(('purpose', ''), _negated=True)), models.Q(models.Q(('kind', 'bonus'), _negated=True), ('amount', None)), _connector='OR'), name='panel_act_bonus_has_amount'), models.CheckConstraint(condition=models.Q(('state__in', ['intended', 'cancelled']), ('sent_at__isnull', False), _connector='OR'), name='panel_act_sent_has_time')],
                    'indexes': [models.Index(condition=models.Q(('state__in', ['intended', 'sending', 'unknown'])), fields=['panel', 'id'], name='panel_act_open')],
                },
            ),
            migrations.CreateModel(
                name='KnownMismatch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('panel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='known_mismatches', to='annotator.panel')),
                    ('key', models.CharField(max_length=300)),
                    ('note', models.CharField(max_length=300)),
                    ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('panel', 'key'), name='known_mismatch_once')],
                },
            ),
            migrations.CreateModel(
                name='DraftRound',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='draft_rounds', to='annotator.assignment')),
                    ('number', models.PositiveSmallIntegerField()),
                    ('instruction', models.TextField()),
                    ('before', models.JSONField(default=list)),
                    ('after', models.JSONField(default=list)),
                    ('state', models.CharField(choices=[('waiting', 'waiting'), ('done', 'done'), ('failed', 'failed')], default='waiting', max_length=10)),
                    ('model', models.CharField(blank=True, max_length=200)),
                    ('problem', models.CharField(blank=True, max_length=300)),
                    ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('job', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='evaluation.job')),
                    ('answered_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['number'],
                    'constraints': [models.UniqueConstraint(fields=('assignment', 'number'), name='draft_round_number_unique'), models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('assignment',), name='draft_round_one_waiting')],
                },
            ),
            migrations.CreateModel(
                name='UnreadArrivals',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='unread_arrivals', to='evaluation.study')),
                    ('day', models.DateField()),
                    ('names', models.CharField(max_length=200)),
                    ('n', models.PositiveIntegerField(default=0)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('study', 'day', 'names'), name='unread_arrivals_once_a_day')],
                },
            ),
            migrations.CreateModel(
                name='ClaimCursor',
                fields=[
                    ('arm', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='evaluation.arm')),
                    ('first_open', models.PositiveBigIntegerField(default=0)),
                    ('earliest_lease', models.DateTimeField(db_column='leases_from', default=datetime.datetime(2000, 1, 1, 0, 0, tzinfo=datetime.timezone.utc))),
                    ('in_play', models.BigIntegerField(default=0)),
                ],
                options={
                    'db_table': 'annotator_armfront',
                },
            ),
            migrations.CreateModel(
                name='ErasedVisit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='erased_visits', to='evaluation.study')),
                    ('digest', models.CharField(blank=True, max_length=64)),
                    ('status', models.CharField(blank=True, choices=[('reserved', 'reserved'), ('active', 'active'), ('awaiting_review', 'awaiting review'), ('approved', 'approved'), ('partially_approved', 'partially approved'), ('rejected', 'rejected'), ('returned', 'returned'), ('timed_out', 'timed out'), ('screened_out', 'screened out'), ('unknown', 'unknown')], max_length=20)),
                    ('pay', models.DecimalField(decimal_places=2, default=0, max_digits=9)),
                    ('bonuses', models.DecimalField(decimal_places=2, default=0, max_digits=9)),
                    ('day', models.DateField()),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('pay__gte', 0), ('bonuses__gte', 0)), name='erased_visit_paid_no_less_than_nothing'), models.UniqueConstraint(condition=models.Q(('digest', ''), _negated=True), fields=('study', 'digest'), name='erased_visit_once')],
                },
            ),
        ),
    ]
