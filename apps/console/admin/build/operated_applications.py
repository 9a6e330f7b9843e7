"""Determines which applications a user can see, change and erase in the admin."""

from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from apps.catalog.application_files import managed_files
from apps.catalog.application_files.models import managed_directory_of
from apps.catalog.models import Application, Role
from apps.console.admin.theme import Admin
from apps.console.operator_rights import ERASE, has_role, is_editor, sees_all, visible_applications

ARCHIVE_FIRST = "Archive the application first. Then you can delete it."


class OperatedApplications(Admin[Application]):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        managed_files.refresh()
        return visible_applications(request).order_by(*(self.get_ordering(request) or ("title",)))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(super().has_module_permission(request) or is_editor(request))

    def has_view_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        if super().has_view_permission(request) and (obj is None or sees_all(request.user)):
            return True
        return is_role_enough(request, obj, super().has_view_permission(request))

    def has_change_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        if obj is not None and managed_directory_of(obj.pk):
            return False
        return is_role_enough(request, obj, super().has_change_permission(request))

    def has_delete_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        """Require the permission to erase. Only an owner can delete an application, and only after
        it has been archived.
        """
        may: bool = super().has_delete_permission(request) and request.user.has_perm(ERASE)
        if not may or obj is None:
            return may
        is_owner = has_role(request, obj, Role.OWNER) and not managed_directory_of(obj.pk)
        return is_owner and obj.archived_at is not None

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Show the deletion page. For an application that is not archived, explain what to do."""
        row = self.get_object(request, object_id)
        if (
            row is not None
            and row.archived_at is None
            and self.has_delete_permission(request)
            and self.has_change_permission(request, row)
        ):
            self.message_user(request, ARCHIVE_FIRST, messages.WARNING)
            return redirect(self.url("change", row.pk))
        answer: HttpResponse = super().delete_view(request, object_id, extra_context)
        return answer

    def deletions_seen(self, request: HttpRequest) -> Q:
        # A deleted application has no roles. Its last owner may restore it.
        if sees_all(request.user):
            return Q()
        return Q(before__owner=request.user.get_username())


def is_role_enough(
    request: HttpRequest, application: Application | None, is_permitted: bool
) -> bool:
    """Return True if the user can edit the application. If `application` is None, return True if
    the user can edit at least one application.

    If `is_permitted` is False, permissions to access all applications do not count.
    """
    if not is_permitted:
        return is_editor(request, application)
    return application is None or has_role(request, application, Role.EDITOR)
