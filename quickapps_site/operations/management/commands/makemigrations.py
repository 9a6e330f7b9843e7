"""Writes migrations for changes to the schema. Changed texts and choices need no migrations."""

from django.core.management.commands import makemigrations

from quickapps_site.operations.schema_changes import SchemaAutodetector


class Command(makemigrations.Command):
    autodetector = SchemaAutodetector
