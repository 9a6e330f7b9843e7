"""Migrate the database. The hint about missing migrations ignores changed texts and choices."""

from django.core.management.commands import migrate

from quickapps_site.operations.schema_changes import SchemaAutodetector


class Command(migrate.Command):
    autodetector = SchemaAutodetector
