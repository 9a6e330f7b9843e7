"""Many applications with many versions."""

from __future__ import annotations

from typing import Any

from apps.catalog.models import (
    Application,
    ApplicationDraft,
    ApplicationVersion,
    PublishingRequest,
    empty_manifest,
)


def make_many(applications: int, versions: int, **fields: Any) -> list[Application]:
    """Create applications. Every second one has a draft, and every fourth a request to publish it."""
    first = Application.objects.count()
    manifest = empty_manifest()
    rows = Application.objects.bulk_create(
        Application(
            slug=f"many-{number}",
            title=f"Many {number}",
            manifest=manifest,
            version=versions,
            live_number=versions,
            **fields,
        )
        for number in range(first, first + applications)
    )
    make_versions(rows, 1, versions)
    drafts = ApplicationDraft.objects.bulk_create(
        ApplicationDraft(
            application=row, title="Another", manifest=manifest, based_on=versions, version=1
        )
        for row in rows[::2]
    )
    PublishingRequest.objects.bulk_create(
        PublishingRequest(draft=draft, person_name="anna", note="Please") for draft in drafts[::2]
    )
    return rows


def make_versions(rows: list[Application], first: int, last: int) -> None:
    ApplicationVersion.objects.bulk_create(
        (
            ApplicationVersion(
                application=row,
                number=number,
                title=row.title,
                document=row.manifest,
                author_name="anna",
                via="admin",
                note=f"The change {number}",
            )
            for row in rows
            for number in range(first, last + 1)
        ),
        batch_size=1000,
    )
