"""Returns an application's owner, audience and grants as JSON for the studio."""

from typing import Any

from django.http import HttpRequest

from apps.accounts.persons import display_name
from apps.catalog.models import Application, Role
from apps.console.operator_rights import may_grant, may_rule_publishing
from apps.console.people import VIEW_GROUPS, VIEW_USERS
from apps.console.studio.access import may_change_application


def access_data(request: HttpRequest, row: Application) -> dict[str, Any]:
    owner = row.owner
    can_change = may_change_application(request, row)
    return {
        "is_enabled": row.is_enabled,
        "is_published": row.live_number > 0,
        "audience": audience_of(row),
        "owner": None if owner is None else user_facts(owner),
        "takes_two": row.needs_second_publisher,
        "grants": [
            {
                **(user_facts(one.user) if one.user else group(one.group)),
                "role": Role(one.role).name.lower(),
            }
            for one in row.grants.select_related("user", "group__team").order_by("-role", "pk")
        ],
        "may_enable": can_change,
        "may_grant": can_change and may_grant(request, row),
        "may_rule": can_change and may_rule_publishing(request, row),
        "finds_all": request.user.has_perms((VIEW_USERS, VIEW_GROUPS)),
    }


def audience_of(row: Application) -> str:
    if row.is_public:
        return "public"
    return "shared" if row.is_shared else "private"


def user_facts(user: Any) -> dict[str, str]:
    facts = {"kind": "user", "what": "User"}
    return {**facts, "name": user.get_username(), "title": display_name(user)}


def group(row: Any) -> dict[str, str]:
    what = "Team" if hasattr(row, "team") else "Group"
    return {"kind": "group", "what": what, "name": row.name, "title": row.name}
