from django.db import migrations, models

from apps.concurrent_indexes import AddIndexWithoutBlocking


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('accounts', '0007_legal_holds'),
    ]

    operations = [
        AddIndexWithoutBlocking(
            model_name='auditentry',
            index=models.Index(fields=['actor', 'at'], name='audit_by_caller', opclasses=('varchar_pattern_ops', 'timestamptz_ops')),
        ),
        AddIndexWithoutBlocking(
            model_name='auditentry',
            index=models.Index(fields=['event', 'at'], name='audit_by_event'),
        ),
        AddIndexWithoutBlocking(
            model_name='auditentry',
            index=models.Index(condition=models.Q(('application', ''), _negated=True), fields=['application', 'at'], name='audit_by_application'),
        ),
        AddIndexWithoutBlocking(
            model_name='auditentry',
            index=models.Index(condition=models.Q(('address', ''), _negated=True), fields=['address', 'at'], name='audit_by_address'),
        ),
        AddIndexWithoutBlocking(
            model_name='auditentry',
            index=models.Index(condition=models.Q(('subject', ''), _negated=True), fields=['subject', 'at'], name='audit_by_subject', opclasses=('varchar_pattern_ops', 'timestamptz_ops')),
        ),
        migrations.RemoveIndex(
            model_name='auditentry',
            name='audit_by_actor',
        ),
    ]
