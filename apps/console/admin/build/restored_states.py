"""Previews how restoring a recorded state would change an application."""

from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from apps.accounts.client_address import address_of
from apps.catalog.actions import restore_state
from apps.catalog.actions.set_properties import GRANTING
from apps.catalog.history.differences import differences
from apps.catalog.history.display import rendered_differences
from apps.catalog.history.recorded_models import Snapshot
from apps.catalog.history.restoration import earlier_state
from apps.catalog.models import Application, Change
from apps.catalog.versions.definitions import COLUMNS
from apps.catalog.versions.publishing_requests import TWO_PEOPLE
from apps.console.admin.build.compared_versions import refusal_reasons
from apps.console.admin.rows.history import HistoryAdmin
from apps.console.admin.rows.restoration import Restoration
from apps.console.operator_rights import may_grant, may_rule_publishing

AS_DRAFT = "Title, description, icon and manifest become the draft. Nothing goes live until it is published."


def prepare_state(
    admin: HistoryAdmin[Any],
    request: HttpRequest,
    change: Change,
    state: Snapshot,
    stored: Application | None,
) -> Restoration:
    row = stored or Application(pk=change.object_id, version=change.version or 0)
    present = {} if stored is None else admin.kind.snapshot(stored)
    columns = {
        name
        for name in columns_for(request, stored).intersection(state)
        if name not in present or present[name] != state[name]
    }
    found = earlier_state(admin.kind, state, stored)
    values = {name: found.values[name] for name in columns}
    if "owner" in values:
        values["owner"] = User.objects.filter(pk=values["owner"]).first()
    wanted = present | {name: state[name] for name in columns}
    changed = differences(admin.kind.readable(present), admin.kind.readable(wanted))
    is_draft = stored is None or bool(restore_state.changed_text(stored, values))
    act = partial(restore_state.execute, change=change.pk, address=address_of(request))
    return Restoration(
        partial(act, row, values, request.user),
        rendered_differences(changed),
        found.notes,
        tuple(refusal_reasons(restore_state.check, row, values, request.user)),
        button="Restore as draft" if is_draft and stored is not None else "Restore",
        about=AS_DRAFT if is_draft else "",
    )


def columns_for(request: HttpRequest, row: Application | None) -> set[str]:
    """Return the columns that the user may restore. Omit `is_enabled` for an archived application,
    which must remain disabled.
    """
    return {
        *COLUMNS,
        "slug",
        *(("is_enabled",) if row is None or row.archived_at is None else ()),
        *(GRANTING if may_grant(request, row) else ()),
        *((TWO_PEOPLE,) if may_rule_publishing(request, row) else ()),
    }
