"""Applications in the admin: somebody sees those that they edit, and deletes those that they own."""

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from apps.catalog.application_files import managed
from apps.catalog.application_files.models import managed_directory_of
from apps.catalog.models import Application, Role
from apps.console.admin.theme import Admin
from apps.console.operated import has_role, seen, sees_all


class OperatedApplications(Admin[Application]):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        managed.refresh()
        return seen(request).order_by(*(self.get_ordering(request) or ("title",)))

    def has_view_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        if obj is None or sees_all(request.user):
            return bool(super().has_view_permission(request))
        return bool(super().has_view_permission(request) and has_role(request, obj, Role.EDITOR))

    def has_change_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        may: bool = super().has_change_permission(request)
        return may and (obj is None or may_change(request, obj, Role.EDITOR))

    def has_delete_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        may: bool = super().has_delete_permission(request)
        return may and (obj is None or may_change(request, obj, Role.OWNER))

    def deletions_seen(self, request: HttpRequest) -> Q:
        # Nobody has a role in a deleted one; its last owner may bring it back.
        if sees_all(request.user):
            return Q()
        return Q(before__owner=request.user.get_username())


def may_change(request: HttpRequest, application: Application, least: Role) -> bool:
    """Whether the person has the role, and the application is not kept in files."""
    return has_role(request, application, least) and not managed_directory_of(application.pk)
