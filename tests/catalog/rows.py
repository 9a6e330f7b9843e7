"""Initial rows of the catalog's tests."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from apps.catalog.models import Application, empty_manifest
from apps.catalog.versions.version_recorder import save_live
from apps.workspace.local.models import Deployment, Secret


def store_application(**fields: Any) -> Application:
    application = Application(**fields)
    save_live(application)
    return application


def make_application(slug: str = "travel", **fields: Any) -> Application:
    return store_application(**{"slug": slug, "title": slug.title(), "is_shared": True, **fields})


def make_deployment(deployment_id: str = "demo-model", **fields: Any) -> Deployment:
    deployment = Deployment(
        **{
            "deployment_id": deployment_id,
            "display_name": deployment_id,
            "provider": Deployment.Provider.DEMO,
            **fields,
        }
    )
    deployment.save()
    return deployment


def make_operator(name: str = "operator") -> User:
    return User.objects.create_superuser(name, "", "a-password-for-tests")


def secrets() -> list[tuple[str, str, list[str]]]:
    """Return the name, value and servers of each secret."""
    return list(Secret.objects.order_by("name").values_list("name", "value", "servers"))


def manifest_with(**changes: Any) -> dict[str, Any]:
    return {**empty_manifest(), **changes}
