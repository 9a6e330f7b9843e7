"""Applications in the admin: somebody sees those that they edit, and deletes those that they own."""

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from apps.catalog.application_files import managed
from apps.catalog.application_files.models import managed_directory_of
from apps.catalog.models import Application, Role
from apps.console.admin.theme import Admin
from apps.console.operated import has_role, is_editor, seen, sees_all


class OperatedApplications(Admin[Application]):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        managed.refresh()
        return seen(request).order_by(*(self.get_ordering(request) or ("title",)))

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
        may: bool = super().has_delete_permission(request)
        if not may or obj is None:
            return may
        return has_role(request, obj, Role.OWNER) and not managed_directory_of(obj.pk)

    def deletions_seen(self, request: HttpRequest) -> Q:
        # Nobody has a role in a deleted one; its last owner may bring it back.
        if sees_all(request.user):
            return Q()
        return Q(before__owner=request.user.get_username())


def is_role_enough(
    request: HttpRequest, application: Application | None, is_permitted: bool
) -> bool:
    """Return whether the person edits the application, or any with None.

    With the permission, an editor by whichever way; without it, by a grant or as the owner.
    """
    if not is_permitted:
        return is_editor(request, application)
    return application is None or has_role(request, application, Role.EDITOR)
