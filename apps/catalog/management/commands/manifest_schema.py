import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from apps.catalog.registration import TYPE_ID, Addresses, clean_url
from apps.manifest.schema.manifest_schema import manifest_schema, registered_schema


class Command(BaseCommand):
    help = "Print the JSON schema of manifests as DIAL Core registers it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--base-url",
            default=settings.SITE_URL,
            help="The URL at which DIAL Core reaches this server (default: %(default)s).",
        )
        parser.add_argument(
            "--id", default=settings.APP_SCHEMA_ID, help="The schema's $id (default: %(default)s)."
        )
        parser.add_argument(
            "--plain", action="store_true", help="Omit the keys that only DIAL Core needs."
        )
        parser.add_argument(
            "--preview",
            action="store_true",
            default=settings.ENABLE_PREVIEW_FEATURES,
            help="Include preview features (default: ENABLE_PREVIEW_FEATURES).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        service = clean_url("--base-url", options["base_url"])
        addresses = Addresses(service, service)
        installation = {
            "preview": options["preview"],
            "default_deployment": settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        }
        schema = (
            manifest_schema(**installation)
            if options["plain"]
            else registered_schema(
                schema_id=options["id"],
                completion_url=addresses.completion(TYPE_ID),
                configuration_url=addresses.configuration(TYPE_ID),
                **installation,
            )
        )
        self.stdout.write(json.dumps(schema, indent=2, ensure_ascii=False))
