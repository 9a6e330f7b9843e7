"""Toolsets stored in DIAL, with a real server behind a Core that may require a sign-in."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from apps.accounts.caller import Caller, Credentials
from apps.agent.events import Event, StageOpened
from apps.agent.stages import silent
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.mcp.sessions import pool
from apps.capabilities.registry import Contribution, Opening
from apps.errors import DeploymentNotFound, ServiceFailed
from apps.manifest.parts import parts_in_use
from tests.capabilities.manifests import OTHERWISE, manifest, opened_together, use
from tests.capabilities.mcp.core import CALLER, KEY, Core, CoreWorkspace, core_before
from tests.capabilities.mcp.desk import messages, named
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.service import Reply, Seen, serving
from tests.contract import proves

DESK = "toolsets/public/desk%20one"
MAIL = "toolsets/public/mail"
PATIENCE_SECONDS = 120.0
ONLY_ADD: dict[str, Any] = {"allowed_tools": ["add"]}


def kept(deployment_id: str = DESK, **rest: Any) -> dict[str, Any]:
    return {"type": "dial-mcp", "deployment_id": deployment_id, **rest}


@asynccontextmanager
async def opened(
    workspace: CoreWorkspace, *tool_sets: Mapping[str, Any], **rest: Any
) -> AsyncIterator[Contribution]:
    opening = Opening(workspace, workspace.caller, silent)
    async with opened_together(manifest(*tool_sets, **rest), opening, mcp) as contribution:
        yield contribution


def names(contribution: Contribution) -> list[str]:
    return [tool.spec.name for tool in contribution.tools]


@proves("9.1")
async def test_a_toolset_is_sent_what_the_workspace_says_and_nothing_else(http_url):
    caller = CALLER.at(headers={"X-Trace": "t-0", "X-Other": "o"})

    async with nothing_left_over(), core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core, caller)
        workspace.along = {"X-Trace": "t-1"}
        async with opened(workspace, kept(name="desk")) as contribution:
            result = await use(named(contribution, "desk_add"), a=1, b=2)
        sent = {tuple(s.told("api-key", "x-trace", "x-other").items()) for s in core.seen}

    assert (messages(contribution), result.content) == ([], "3")
    assert sent == {(("api-key", KEY), ("x-trace", "t-1"))}
    assert workspace.reached == [DESK]


@proves("6.1", "10.1")
async def test_the_name_that_dial_knows_wins_and_stages_are_in_the_language_of_the_caller(http_url):
    caller = CALLER.at(locale="de")
    events: list[Event] = []

    async with nothing_left_over(), core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core, caller)
        workspace.names = {DESK: {"de": "Der Tisch", "en": "The desk"}}
        async with opened(workspace, kept(name="mine", **ONLY_ADD)) as contribution:
            (tool,) = contribution.tools
            await use(tool, events.append, a=1)

    assert tool.spec.name == "The_desk_add"
    assert [event.title for event in events if isinstance(event, StageOpened)] == [
        "Der Tisch · add"
    ]


async def test_a_toolset_without_a_name_is_reported_by_the_end_of_its_id(http_url):
    async with nothing_left_over(), core_before(http_url) as core:
        workspace = CoreWorkspace(core, outcomes={DESK: "denied", MAIL: "denied"})
        async with opened(workspace, kept(), kept(MAIL, name="post")) as contribution:
            assert messages(contribution) == [
                "Sign-in was denied for toolset 'desk one'",
                "Sign-in was denied for toolset 'post'",
            ]


@proves("9.1")
async def test_a_toolset_that_cannot_be_had_is_an_issue():
    async with nothing_left_over():
        workspace = CoreWorkspace(Core())
        workspace.failures = {
            DESK: DeploymentNotFound(DESK),
            MAIL: ServiceFailed("403 Forbidden", status=403),
            "c": ServiceFailed("DIAL Core answers 503.", status=503),
        }
        async with opened(workspace, kept(), kept(MAIL), kept("c")) as contribution:
            told = messages(contribution)

    assert told == [
        f"A required toolset ({DESK}) could not be found. Please contact your administrator.",
        f"Access to a required toolset ({MAIL}) is forbidden. Please contact your administrator.",
        "Toolset c: DIAL Core answers 503.",
    ]


@proves("9.3")
async def test_people_are_asked_once_to_sign_in_to_all_toolsets_that_want_it(http_url):
    toolsets = [kept(name="a", **ONLY_ADD), kept(MAIL, name="b", **ONLY_ADD)]

    async with nothing_left_over(), core_before(http_url, "toolsets/c") as core:
        workspace = CoreWorkspace(core)
        signed = kept("toolsets/c", name="c", **ONLY_ADD)
        async with opened(workspace, *toolsets, signed, kept(name="d", **ONLY_ADD)) as contribution:
            assert (names(contribution), messages(contribution)) == (
                ["a_add", "b_add", "c_add", "d_add"],
                [],
            )

    assert workspace.asked == [[DESK, MAIL]]


@proves("9.3")
@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("denied", "Sign-in was denied for toolset 'desk'"),
        ("timeout", "Sign-in timed out for toolset 'desk'"),
        ("error", "Sign-in failed for toolset 'desk'"),
        ("unavailable", "Toolset 'desk' requires sign-in, but no client channel is available"),
    ],
)
async def test_why_nobody_signed_in_is_told_and_the_others_go_on(outcome, told, http_url):
    async with nothing_left_over(), core_before(http_url) as core:
        workspace = CoreWorkspace(core, outcomes={DESK: outcome})
        async with opened(workspace, kept(name="desk"), kept(MAIL, **ONLY_ADD)) as contribution:
            (issue,) = contribution.issues
            assert (issue.message, issue.is_hard) == (told, True)
            assert names(contribution) == ["bits_add"]


@proves("9.3")
async def test_a_sign_in_that_does_not_help_is_told_and_not_asked_for_again(http_url):
    async with nothing_left_over(), core_before(http_url) as core:
        workspace = CoreWorkspace(core, replace(CALLER, credentials=Credentials(api_key="wrong")))
        async with opened(workspace, kept(name="desk")) as contribution:
            assert messages(contribution) == [
                "Sign-in succeeded but toolset 'desk' initialization still failed"
            ]

    assert workspace.asked == [[DESK]]


@proves("9.3")
async def test_nobody_is_asked_to_sign_in_to_a_server_that_the_manifest_names(http_url):
    async with nothing_left_over(), core_before(http_url) as core, serving(Reply(401)) as plain:
        workspace = CoreWorkspace(core)
        async with opened(workspace, over_http(plain.url)) as contribution:
            assert messages(contribution) == ["Authentication required for toolset 'desk'"]

    assert workspace.asked == []


@proves("9.3")
async def test_a_sign_in_that_ended_during_a_run_is_asked_for_once_by_all_calls(http_url):
    async with nothing_left_over(), core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core)
        async with opened(workspace, kept(name="desk")) as contribution:
            core.signed_in.clear()
            add = named(contribution, "desk_add")
            results = await asyncio.gather(*(use(add, a=number) for number in range(3)))
            core.signed_in.clear()
            later = await use(add, a=9)

    assert [result.content for result in results] == ["1", "2", "3"]
    assert later.content == "10"
    assert workspace.asked == [[DESK], [DESK]]


@proves("9.3")
async def test_a_call_without_a_sign_in_fails_as_calls_do(http_url):
    async with nothing_left_over(), core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core, outcomes={DESK: "denied"})
        async with opened(workspace, kept(name="desk")) as contribution:
            core.signed_in.clear()
            result = await use(named(contribution, "desk_add"), a=1)

    assert result.content == f"Authentication required for toolset 'desk'{OTHERWISE}"
    assert workspace.asked == [[DESK]]


@proves("9.3")
@pytest.mark.parametrize(
    ("outcome", "content", "calls"),
    [("success", "served", 2), ("denied", f"a service wants a sign-in{OTHERWISE}", 1)],
)
async def test_a_service_behind_a_tool_may_want_a_sign_in(outcome, content, calls, http_url):
    async with nothing_left_over(), core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core, outcomes={"desk/mail": outcome})
        async with opened(workspace, kept(name="desk")) as contribution:
            result = await use(named(contribution, "desk_guarded"))
        assert core.asked("tools/call") == calls

    assert result.content == content
    assert workspace.asked_for_services == ["desk/mail"]


@proves("9.3")
async def test_services_behind_any_server_may_want_one(http_url):
    async with nothing_left_over(), core_before(http_url) as core:
        workspace = CoreWorkspace(core, outcomes={"desk/mail": "timeout"})
        async with opened(workspace, over_http(http_url)) as contribution:
            result = await use(named(contribution, "desk_guarded"))

    assert result.content == f"a service wants a sign-in{OTHERWISE}"
    assert workspace.asked_for_services == ["desk/mail"]


@proves("9.5")
async def test_files_are_shared_with_the_toolset_before_it_is_called(http_url):
    async with nothing_left_over(), core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core)
        async with opened(workspace, kept(name="desk")) as contribution:
            peruse = named(contribution, "desk_peruse")
            own = f"{core.url}/v1/files/b/own.txt"
            result = await use(peruse, file="files/b/a.txt", others=["files/b/a.txt", own])
            await use(named(contribution, "desk_add"), a=1)

    assert result.content == "files/b/a.txt and 2 others"
    assert workspace.granted == [(["files/b/a.txt", "files/b/own.txt"], DESK)]


@proves("9.5")
@pytest.mark.parametrize(
    ("file", "what"),
    [("https://example.org/a.txt", "an external URL"), ("data:,a", "something else")],
)
async def test_only_files_of_dial_can_be_shared(file, what, http_url):
    async with nothing_left_over(), core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core)
        async with opened(workspace, kept(name="desk")) as contribution:
            with pytest.raises(Exception, match="is invalid") as refused:
                await use(named(contribution, "desk_peruse"), file=file)
        assert core.asked("tools/call") == 0

    assert (
        f"Parameter `file` requires a DIAL file but received {what}. "
        "Use `file:data::` or `file:base64::` / `file:text::`"
    ) in str(refused.value)


@proves("9.5")
async def test_files_that_cannot_be_shared_are_told_and_nothing_is_called(http_url):
    async with nothing_left_over(), core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core)
        async with opened(workspace, kept(name="a"), over_http(http_url)) as contribution:
            missing = await use(named(contribution, "a_peruse"), file="files/b/missing")
            nowhere = await use(named(contribution, "desk_peruse"), file="files/b/a.txt")
        assert core.asked("tools/call") == 0

    assert missing.content == f"This file does not exist.{OTHERWISE}"
    assert nowhere.content == (
        f"Files cannot be shared because dial_toolset_id is not configured.{OTHERWISE}"
    )


FILTERED: dict[str, Any] = {
    "features": {"timestamp": None, "tool_access_filter": {"enabled": True}}
}


@proves("6.3")
async def test_toolsets_that_may_not_be_used_are_left_out_before_anything_is_asked(http_url):
    async with nothing_left_over(), core_before(http_url) as core:
        workspace = CoreWorkspace(core)
        workspace.usable = ["toolsets/public/desk one"]
        mail, plain = kept(MAIL, name="mail"), over_http(http_url, **ONLY_ADD)
        toolsets = [kept(name="a", **ONLY_ADD), mail, plain]
        async with opened(workspace, *toolsets, **FILTERED) as contribution:
            assert (names(contribution), messages(contribution)) == (["a_add", "desk_add"], [])

    assert (workspace.reached, workspace.asked, workspace.listed) == ([DESK, DESK], [[DESK]], 1)


@proves("6.3")
async def test_servers_that_the_manifest_names_are_never_filtered(http_url):
    async with nothing_left_over(), core_before(http_url) as core:
        workspace = CoreWorkspace(core)
        async with opened(workspace, over_http(http_url), **FILTERED) as contribution:
            assert "desk_add" in names(contribution)

    assert workspace.listed == 0


@proves("9.2")
async def test_sessions_end_with_the_run_and_differ_by_the_key(http_url):
    async with nothing_left_over() as sessions, core_before(http_url, DESK) as core:
        first = CoreWorkspace(core)
        second = CoreWorkspace(core, replace(CALLER, credentials=Credentials(api_key=f"{KEY}-2")))
        toolset = kept(name="desk")
        async with opened(first, toolset) as one, opened(second, toolset) as two:
            counts = [
                (await use(named(contribution, "desk_count"))).content
                for contribution in (one, one, two)
            ]
            during = len(sessions.slots)
            assert KEY not in repr(list(sessions.slots))
        assert sessions.slots == {}
        async with opened(first, toolset) as three:
            counts.append((await use(named(three, "desk_count"))).content)

    assert counts == ["1", "2", "1", "1"]
    assert during == 2


async def test_a_session_that_two_runs_share_ends_with_the_later_one(http_url):
    async with nothing_left_over() as sessions, core_before(http_url, DESK) as core:
        workspace = CoreWorkspace(core)
        async with opened(workspace, kept(name="desk")) as outer:
            async with opened(workspace, kept(name="desk")):
                assert len(sessions.slots) == 1
            result = await use(named(outer, "desk_count"))
            (slot,) = sessions.slots.values()
            assert slot.opened == 1
        assert sessions.slots == {}

    assert result.content == "1"


def goodbyes(core: Core) -> int:
    """Return the number of sessions that were closed explicitly."""
    return sum(seen.method == "DELETE" for seen in core.seen)


@proves("9.2")
async def test_sessions_have_ended_when_the_run_has(http_url):
    """Core forgets the key after the answer, and refuses a later request to close."""
    async with nothing_left_over(), core_before(http_url, DESK, MAIL) as core:
        workspace = CoreWorkspace(core)
        async with opened(workspace, kept(name="a"), kept(MAIL, name="b")):
            assert goodbyes(core) == 0
        assert goodbyes(core) == 2

        with pytest.raises(ServiceFailed):
            async with opened(workspace, kept(name="a")):
                raise ServiceFailed("The model is gone.")
        assert goodbyes(core) == 3


@proves("9.2")
@pytest.mark.parametrize("how", ["ends", "is stopped"])
async def test_a_server_that_hears_no_goodbye_holds_nobody_up(how, http_url, monkeypatch):
    """A finished run waits a moment. A stopped run, whose key is invalid, does not wait."""
    monkeypatch.setattr(pool, "FAREWELL_SECONDS", 0.1 if how == "ends" else PATIENCE_SECONDS)
    saying, is_heard = asyncio.Event(), asyncio.Event()

    async def run(core: Core) -> None:
        async with opened(CoreWorkspace(core), kept(name="desk")):
            if how == "is stopped":
                is_open.set()
                await asyncio.Event().wait()

    async def hold(seen: Seen) -> None:
        if seen.method == "DELETE":
            saying.set()
            await is_heard.wait()

    is_open = asyncio.Event()
    async with nothing_left_over() as sessions, core_before(http_url, DESK) as core:
        core.hold = hold
        running = asyncio.create_task(run(core))
        if how == "is stopped":
            await is_open.wait()
            running.cancel()
        await asyncio.wait([running], timeout=PATIENCE_SECONDS / 2)

        assert running.done()
        assert len(sessions.closing) == 1
        await asyncio.wait_for(saying.wait(), PATIENCE_SECONDS)
        is_heard.set()


async def test_no_log_line_has_the_key(http_url, caplog):
    caplog.set_level("DEBUG")

    async with nothing_left_over(), core_before(http_url) as core:
        workspace = CoreWorkspace(core)
        async with opened(workspace, kept(name="desk")) as contribution:
            await use(named(contribution, "desk_add"), a=1)
            await use(named(contribution, "desk_fail"))

    ours = [record.getMessage() for record in caplog.records if record.name.startswith("apps")]
    assert any("desk_add" in line for line in ours)
    assert not any(KEY in line for line in ours)


def test_somebody_serves_toolsets_of_dial():
    document = manifest(kept(), over_http("https://x.example"))

    assert {part.name for part in parts_in_use(document)} <= mcp.serves | {"features.timestamp"}


@pytest.mark.django_db
async def test_a_workspace_without_the_toolset_says_what_to_do():
    async with nothing_left_over(), core_before("http://127.0.0.1:9") as core:
        workspace = Unable(core, Caller("user-7"))
        async with opened(workspace, kept(name="desk")) as contribution:
            (text,) = messages(contribution)

    assert text.startswith(f"Toolset desk: The toolset {DESK!r} is in DIAL Core, which")


class Unable(CoreWorkspace):
    async def mcp_endpoint(self, deployment_id: str) -> Any:
        return await super(CoreWorkspace, self).mcp_endpoint(deployment_id)
