"""Authenticates staff for the admin API, with a session or an operator key."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import DjangoModelPermissions
from rest_framework.request import Request

from apps.catalog.models import OperatorKey

SCHEME = "Bearer"


class OperatorKeyAuthentication(BaseAuthentication):
    """Authenticates requests with `Authorization: Bearer <operator key>` as the key's owner."""

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, OperatorKey] | None:
        scheme, _, written = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        key = find_key(written.strip())
        if key is None:
            raise AuthenticationFailed("The key is unknown, revoked, or has expired.")
        return key.user, key

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


def find_key(written: str) -> OperatorKey | None:
    """Return the operator key, or None if it is unknown, revoked or expired, or if its owner is not
    active staff.
    """
    prefix, _, _ = written.partition(".")
    key = OperatorKey.objects.select_related("user").filter(prefix=prefix, revoked=False).first()
    if key is None or not key.is_valid(written) or key.has_expired:
        return None
    return key if key.user.is_active and key.user.is_staff else None


class StaffWithPermission(DjangoModelPermissions):
    """Allows only staff with Django's permissions for the model, including `view` for reading."""

    perms_map = {
        **DjangoModelPermissions.perms_map,
        "GET": ["%(app_label)s.view_%(model_name)s"],
        "HEAD": ["%(app_label)s.view_%(model_name)s"],
    }

    def _queryset(self, view: Any) -> Any:
        # The base class uses only the queryset's model.
        return view.get_queryset() if view.queryset is None else view.queryset

    def has_permission(self, request: Request, view: Any) -> bool:
        is_staff = request.user.is_active and request.user.is_staff
        return is_staff and super().has_permission(request, view)


class OperatorKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = OperatorKeyAuthentication
    name = "operatorKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An operator key."}
