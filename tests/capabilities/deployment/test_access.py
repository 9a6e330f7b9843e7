"""Optional deployments that the caller may not use are omitted."""

from collections.abc import Collection
from typing import Any

import pytest

from apps.accounts.caller import Caller, KeyLimits
from apps.capabilities.deployment.capability import deployment
from apps.errors import Unsupported
from apps.manifest.parts import parts_in_use
from apps.manifest.validation.validation import read_manifest
from apps.runs.workspaces import open_workspace
from tests.capabilities.deployment.scripts import Workspace, opened, simple, team
from tests.catalog.rows import make_application, make_deployment
from tests.contract import proves
from tests.fakes import ScriptedModel
from tests.manifest.documents import manifest as document

FILTERED: dict[str, Any] = {"tool_access_filter": {"enabled": True}}


class Knowing(Workspace):
    """Knows three deployments, and whether they can be used. An exception is raised."""

    def __init__(self, usable: Collection[str] | Exception | None) -> None:
        super().__init__({name: ScriptedModel() for name in ("own", "a b", "other")})
        self.usable = usable
        self.looked_up: list[str] = []

    async def usable_deployments(self) -> Any:
        if isinstance(self.usable, Exception):
            raise self.usable
        return self.usable

    async def deployment(self, deployment_id: str) -> Any:
        self.looked_up.append(deployment_id)
        return await super().deployment(deployment_id)


async def looked_up(workspace: Knowing, **features: Any) -> list[str]:
    tools = [simple(name) for name in ("own", "a b", "other")]
    async with opened(workspace, *tools, features={"timestamp": None, **features}) as contribution:
        assert contribution.issues == ()
        assert len(contribution.tools) == len(workspace.looked_up)
    return workspace.looked_up


@proves("6.3")
async def test_what_may_not_be_used_is_left_out_without_a_word_and_never_looked_up():
    assert await looked_up(Knowing(["own", "a%20b", "unheard-of"]), **FILTERED) == ["own", "a b"]
    assert await looked_up(Knowing([]), **FILTERED) == []


@proves("6.3")
@pytest.mark.parametrize("usable", [None, Unsupported("no list")])
async def test_where_it_cannot_be_told_everything_may_be_used(usable):
    assert await looked_up(Knowing(usable), **FILTERED) == ["own", "a b", "other"]


@proves("6.3")
@pytest.mark.parametrize("features", [{}, {"tool_access_filter": None}, {"tool_access_filter": {}}])
async def test_nothing_is_left_out_unless_it_is_wanted(features):
    assert await looked_up(Knowing([]), **features) == ["own", "a b", "other"]


@proves("6.3")
def test_the_filter_needs_no_preview_features():
    written = document(tool_sets=[team(simple())], features={"timestamp": None, **FILTERED})

    found = read_manifest(written, preview=False)

    assert {part.name for part in parts_in_use(found)} == deployment.serves
    assert found.features is not None
    assert found.features.tool_access_filter is not None
    assert found.features.tool_access_filter.enabled


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("caller", "usable"),
    [
        (Caller("session-1"), {"gpt", "open"}),
        (Caller("user-7", "user", user_id=7), {"gpt", "open", "private"}),
        (Caller("key-1", "key", limits=KeyLimits(scope=frozenset())), {"gpt"}),
    ],
)
async def test_here_models_and_the_applications_of_the_caller_are_usable(caller, usable):
    from channels.db import database_sync_to_async
    from django.contrib.auth.models import User

    def rows() -> None:
        User.objects.create_user("grace", pk=7)
        make_deployment("gpt")
        make_deployment("off", is_enabled=False)
        make_application("open", is_public=True)
        make_application("private")
        make_application("disabled", is_public=True, is_enabled=False)

    await database_sync_to_async(rows)()

    assert await open_workspace(caller).usable_deployments() == usable
