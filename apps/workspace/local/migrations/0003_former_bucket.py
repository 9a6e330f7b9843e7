from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0002_mcp_server'),
    ]

    operations = [
        migrations.CreateModel(
            name='FormerBucket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('bucket', models.CharField(db_index=True, max_length=100)),
            ],
        ),
    ]
