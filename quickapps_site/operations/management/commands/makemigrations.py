"""Write migrations for changes to the database schema. Changed texts and choices need none."""

from django.core.management.commands import makemigrations

from quickapps_site.operations.schema_changes import SchemaAutodetector


class Command(makemigrations.Command):
    autodetector = SchemaAutodetector
