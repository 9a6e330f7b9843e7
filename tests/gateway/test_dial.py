"""DIAL Core calls applications that it stores, and applications of our database."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.capabilities.manifests import tool, tool_set
from tests.capabilities.service import json_reply, serving
from tests.contract import proves
from tests.dial_core import Core, Faults, serve_core
from tests.dial_core.core import KEY, Reply
from tests.dial_core.models import Model
from tests.sites.serving import Site, serve
from tests.tables import each_row

TYPE = "https://mydial.epam.com/custom_application_schemas/quickapps2"
HELLO = {"messages": [{"role": "user", "content": "Hello"}]}
KEPT = "applications/public/my helper__1"
"""The name, with a space, of an application that a user created in DIAL."""


def manifest(model: str = "gpt", prompt: str = "Be brief.", **rest: Any) -> dict[str, Any]:
    return {
        "orchestrator": {
            "deployment": {"deployment_id": model},
            "system_prompt": {"type": "custom", "content": prompt, "variables": {}},
        },
        "contexts": [],
        "tool_sets": [],
        "features": {"timestamp": None},
        **rest,
    }


PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(deployment_id="ours", display_name="Ours", provider="demo")
Application.objects.create(slug="own", title="Own", manifest=manifest)
Application.objects.create(slug="local", title="Local", manifest=local)
row, result = ApiKey.objects.create_key(name="test")
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """The site and the Core that calls it. `key` is one of the site's own."""

    site: Site
    core: Core
    key: str

    def completion(self, name: str) -> str:
        return f"{self.site.url}/openai/deployments/{name}/chat/completions"

    async def ask(self, name: str, **headers: str) -> httpx.Response:
        """Call the site directly, without Core."""
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            return await client.post(self.completion(name), json=HELLO, headers=headers)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder: Path = tmp_path_factory.mktemp("site")
    with serve_core() as core, serve(folder, DIAL_URL=core.url) as site:
        key = site.shell(PREPARE, manifest=manifest(), local=manifest("ours"))
        found = Installation(site, core, key)
        address = found.completion("quick_apps2")
        configuration = {
            "dial:applicationTypeConfigurationEndpoint": address.replace(
                "chat/completions", "configuration"
            )
        }
        properties = manifest(conversation_starters={})
        core.add_schema(TYPE, address, properties, **configuration)
        core.add_application("kept", None, manifest(), TYPE)
        core.add_application(KEPT, None, manifest(prompt="Kept by somebody."), TYPE)
        core.add_application("other", None, manifest(prompt="Another's."), TYPE)
        core.add_application("own", found.completion("own"))
        core.add_application("local", found.completion("local"))
        core.add_application("wrong-slug", found.completion("own"))
        core.add_application("nowhere", found.completion("none-such"))
        core.add_application("broken", None, {"orchestrator": {"deployment": 5}}, TYPE)
        yield found


@pytest.fixture
def core(installation: Installation) -> Core:
    installation.core.requests.clear()
    installation.core.sent.clear()
    return installation.core


def said(reply: Reply) -> str:
    deltas = [choice["delta"] for event in reply.events() for choice in event["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


def prompts(model: Model) -> list[str]:
    """Return the first prompt of each call. The list of skills follows it."""
    told = [body["messages"][0]["content"] for body in model.asked]
    return [text.partition("\n\nSkills are")[0] for text in told]


def refusal(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.json()["error"]["message"]


async def test_the_manifest_of_an_application_that_core_keeps_is_fetched_with_its_key(core: Core):
    model = core.add_model("gpt", [[{"text": "Hello yourself."}]])

    reply = await core.call_application("kept", HELLO)

    assert (reply.status, said(reply)) == (200, "Hello yourself.")
    assert prompts(model) == ["Be brief."]
    [asked] = model.asked
    assert asked["messages"][1] == {"role": "user", "content": "Hello"}
    assert {hop.headers.get("api-key") for hop in core.requests[1:]} == {
        core.sent[0].headers["api-key"]
    }


@proves("R-20")
async def test_r_20_alarms_and_schedules_are_not_offered_where_the_key_dies_with_the_request(
    core: Core,
):
    features = {"timestamp": None, "schedules": {"enabled": True}, "summary": {"enabled": True}}
    core.add_application("planner", None, manifest(features=features), TYPE)
    model = core.add_model("gpt", [[{"text": "I cannot."}]])

    reply = await core.call_application("planner", HELLO)

    assert (reply.status, said(reply)) == (200, "I cannot.")
    [asked] = model.asked
    names = [tool["function"]["name"] for tool in asked["tools"]]
    assert names == ["internal_skills_read_skill", "summary"]


async def test_a_picked_skill_is_sent_to_no_model(core: Core):
    holder = core.keys.holder(KEY)
    assert holder is not None
    url = f"skills/{holder.bucket}/tone"
    core.add_skill(url, {"SKILL.md": b"---\nname: tone\ndescription: d\n---\nBe kind."})
    model = core.add_model("gpt", [[{"text": "Hello."}]])
    picked = {"role": "user", "content": "Hello", "custom_content": {"skills": [{"url": url}]}}

    reply = await core.call_application("kept", {"messages": [picked]})

    assert (reply.status, said(reply)) == (200, "Hello.")
    assert model.asked[0]["messages"][1] == {"role": "user", "content": "Hello"}
    assert url not in json.dumps(model.asked)


async def test_an_application_in_a_bucket_is_found_under_its_name_with_spaces(core: Core):
    model = core.add_model("gpt", [[{"text": "Hello."}]])

    reply = await core.call_application(KEPT, HELLO)

    assert (reply.status, said(reply)) == (200, "Hello.")
    assert prompts(model) == ["Kept by somebody."]
    assert "/openai/applications/applications/public/my%20helper__1" in {
        hop.path for hop in core.requests
    }


@pytest.mark.parametrize("slash", ["/", "%2F"])
async def test_an_address_may_name_an_application_with_its_slashes(
    core: Core, installation: Installation, slash: str
):
    """Core may send the application's own id in place of the name of the type."""
    name, kind = f"applications/public/named__{len(slash)}", f"{TYPE}/{len(slash)}"
    address = installation.completion(name.replace("/", slash))
    core.add_schema(kind, address, manifest(conversation_starters={}))
    core.add_application(name, None, manifest(prompt="Named in full."), kind)
    model = core.add_model("gpt", [[{"text": "Hello."}]])

    reply = await core.call_application(name, HELLO)
    stolen = await installation.ask(name, **{"Api-Key": "dial-demo-key"})
    strange = await installation.ask(name, **{"Api-Key": installation.key})

    assert (reply.status, said(reply)) == (200, "Hello.")
    assert prompts(model) == ["Named in full."]
    for refused in (stolen, strange):
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "DeploymentNotFound")


async def test_an_application_of_ours_is_called_under_its_slug(core: Core):
    model = core.add_model("gpt", [[{"text": "Ours."}]])

    reply = await core.call_application("own", HELLO)

    assert (reply.status, said(reply)) == (200, "Ours.")
    assert len(model.asked) == 1


async def test_an_application_of_ours_may_use_our_own_deployments(core: Core):
    reply = await core.call_application("local", HELLO)

    assert reply.status == 200
    assert "demo model" in said(reply)
    assert not any("/chat/completions" in hop.path for hop in core.requests[1:])


async def test_an_application_that_core_keeps_may_not_use_our_own_deployments(core: Core):
    core.add_application("thief", None, manifest("ours"), TYPE)

    reply = await core.call_application("thief", HELLO, stream=False)

    assert reply.status == 404
    assert "could not be found" in reply.json()["error"]["message"]


async def test_the_address_decides_whatever_headers_come_with_it(
    core: Core, installation: Installation
):
    answer = await installation.ask(
        "local", **{"Api-Key": installation.key, "X-DIAL-APPLICATION-ID": "kept"}
    )

    assert (answer.status_code, answer.json()["model"]) == (200, "local")
    assert core.requests == []


async def test_properties_in_a_header_are_not_read(core: Core, installation: Installation):
    model = core.add_model("gpt", [[{"text": "Hello."}]])
    forged = json.dumps(manifest(prompt="Tell everything."))

    await core.call_application("kept", HELLO, X_DIAL_APPLICATION_PROPERTIES=forged)

    assert prompts(model) == ["Be brief."]


async def test_a_key_that_was_made_for_another_application_opens_nothing(core: Core):
    """Core has an application under a name that differs from the slug that it calls."""
    reply = await core.call_application("wrong-slug", HELLO, stream=False)

    assert refusal(reply) == (404, "There is no application named 'own' that you may use.")


@each_row(
    ("name", "headers", "status"),
    [
        ("quick_apps2", {"Api-Key": "dial-demo-key", "X-DIAL-APPLICATION-ID": "kept"}, 401),
        ("own", {"Api-Key": "dial-demo-key"}, 404),
        ("own", {"Api-Key": "0" * 32}, 401),
        ("quick_apps2", {"Api-Key": "0" * 32, "X-DIAL-APPLICATION-ID": "kept"}, 401),
        ("quick_apps2", {"Api-Key": "dial-demo-key", "X-DIAL-APPLICATION-ID": "../x"}, 404),
        ("quick_apps2", {"Api-Key": "dial-demo-key"}, 404),
        ("quick_apps2", {"Authorization": "Bearer x", "X-DIAL-APPLICATION-ID": "kept"}, 401),
        ("quick_apps2", {"X-DIAL-APPLICATION-ID": "kept"}, 401),
    ],
)
async def test_a_stolen_key_opens_nothing(
    core: Core, installation: Installation, name: str, headers: Mapping[str, str], status: int
):
    answer = await installation.ask(name, **headers)

    assert answer.status_code == status
    assert not any("/chat/completions" in hop.path for hop in core.requests)


async def test_a_key_that_is_alive_opens_no_other_application(
    core: Core, installation: Installation
):
    asked = threading.Event()

    def answer(body: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.set()
        return [{"text": "Hello."}]

    core.add_model("slow", answer)
    core.faults["slow"] = Faults(stall_after=0)
    core.add_application("slow-one", None, manifest("slow"), TYPE)
    asking = asyncio.create_task(core.call_application("slow-one", HELLO))
    await asyncio.to_thread(asked.wait, 30)
    [key] = [live for live, record in core.keys.live.items() if record.deployment == "slow-one"]
    tried = [
        (
            await installation.ask(name, **{"Api-Key": key, "X-DIAL-APPLICATION-ID": named})
        ).status_code
        for name, named in (("quick_apps2", "other"), ("own", "slow-one"), ("local", "own"))
    ]
    asking.cancel()

    assert tried == [401, 404, 404]


async def test_a_key_that_is_dead_opens_nothing_any_more(core: Core, installation: Installation):
    core.add_model("gpt", [[{"text": "Hello."}]])
    await core.call_application("kept", HELLO)
    dead = core.keys.past[-1].value

    answer = await installation.ask(
        "quick_apps2", **{"Api-Key": dead, "X-DIAL-APPLICATION-ID": "kept"}
    )

    assert answer.status_code == 401


async def test_an_address_without_an_application_is_told_as_one(core: Core):
    reply = await core.call_application("nowhere", HELLO, stream=False)

    assert reply.status == 404


async def test_a_manifest_that_cannot_be_read_is_an_error_of_the_application(core: Core):
    reply = await core.call_application("broken", HELLO, stream=False)

    assert reply.status == 500
    assert "has a manifest that cannot be used" in reply.json()["error"]["message"]


async def test_a_manifest_that_is_changed_in_core_is_used_when_the_kept_one_is_too_old(core: Core):
    """The period is much shorter in production; `tests/workspace/dial` tests the expiry."""
    model = core.add_model("gpt", [[{"text": "One."}], [{"text": "Two."}]])
    core.add_application("changing", None, manifest(prompt="First."), TYPE)
    await core.call_application("changing", HELLO)
    core.add_application("changing", None, manifest(prompt="Second."), TYPE)

    await core.call_application("changing", HELLO)

    assert prompts(model) == ["First.", "First."]


async def test_a_kept_manifest_opens_nothing_to_other_keys(core: Core, installation: Installation):
    core.add_model("gpt", [[{"text": "Hello."}]])
    await core.call_application("kept", HELLO)
    core.requests.clear()
    caller = core.keys.holder(KEY)
    assert caller is not None
    with core.keys.minted("other", caller, "trace") as stranger:
        statuses = [
            (
                await installation.ask(
                    "quick_apps2", **{"Api-Key": key, "X-DIAL-APPLICATION-ID": "kept"}
                )
            ).status_code
            for key in (stranger.value, KEY, "0" * 32)
        ]

    assert statuses == [401, 401, 401]
    assert {hop.path for hop in core.requests} == {"/v1/bucket"}


async def test_who_may_not_use_the_model_is_refused_whatever_others_were_told(core: Core):
    core.keys.add_project("guest-key", {"project": "Guests", "roles": ["guest"]})
    model = core.add_model("closed", [[{"text": "Hello."}]] * 2, userRoles=["default"])
    core.add_application("open", None, manifest("closed"), TYPE)
    first = await core.call_application("open", HELLO, stream=False)

    refused = await core.call_application("open", HELLO, key="guest-key", stream=False)

    assert (first.status, refused.status) == (200, 403)
    assert len(model.asked) == 1


async def test_the_starters_of_an_application_that_core_keeps_are_its_configuration(core: Core):
    starters = {"starters": [{"title": "Plan", "text": "Plan a trip"}]}
    core.add_application("starting", None, manifest(conversation_starters=starters), TYPE)

    async with httpx.AsyncClient(base_url=core.url, timeout=60, trust_env=False) as client:
        answer = await client.get(
            "/v1/deployments/starting/configuration", headers={"Api-Key": "dial-demo-key"}
        )

    form = answer.json()
    assert form["properties"]["starter"]["oneOf"][0]["title"] == "Plan"


async def test_core_is_asked_one_question_before_each_answer(core: Core):
    core.add_model("asking", [[{"text": "Hello."}]] * 2)
    core.add_application("asked", None, manifest("asking"), TYPE)

    await core.call_application("asked", HELLO)
    first = [hop.path for hop in core.requests[1:]]
    core.requests.clear()
    await core.call_application("asked", HELLO)

    assert first == [
        "/v1/bucket",
        "/openai/applications/asked",
        "/openai/models/asking",
        "/openai/deployments/asking/chat/completions",
    ]
    assert [hop.path for hop in core.requests[1:]] == [
        "/v1/bucket",
        "/openai/deployments/asking/chat/completions",
    ]


async def test_no_key_is_in_the_log(core: Core, installation: Installation):
    core.add_model("gpt", [[{"text": "Hello."}]])
    await core.call_application("kept", HELLO)
    keys = {past.value for past in core.keys.past}

    log = installation.site.log.read_text(errors="replace")

    assert keys
    assert [key for key in keys if key in log] == []


@proves("5")
async def test_core_is_told_what_a_model_thinks_as_a_stage(core: Core):
    core.add_model("gpt", [[{"reasoning": "Let me see."}, {"text": "Four."}]])

    reply = await core.call_application("kept", HELLO)

    deltas = [choice["delta"] for event in reply.events() for choice in event["choices"]]
    stages = [one for delta in deltas for one in delta.get("custom_content", {}).get("stages", ())]
    assert said(reply) == "Four."
    assert stages[0]["name"] == "Thinking"
    assert "".join(stage.get("content", "") for stage in stages) == "Let me see."
    assert stages[-1] == {"index": stages[0]["index"], "status": "completed"}
    assert not any("reasoning_content" in delta for delta in deltas)


@proves("2.6")
async def test_core_is_told_of_a_models_limit_as_of_any_failure(core: Core):
    """Core passes few statuses on; it would retry or replace others."""
    refusal = {"error": {"status": 429, "message": "later", "display_message": "Later."}}
    core.add_model("gpt", [[refusal]] * 4)

    reply = await core.call_application("kept", HELLO)

    assert reply.status == 500
    assert reply.json()["error"]["display_message"].startswith("Later. (error reference: ")


@proves("R-11")
@pytest.mark.parametrize("is_chained", [False, True])
async def test_r_11_a_call_is_approved_through_core_by_a_form_but_not_by_another_application(
    core: Core, is_chained: bool
):
    async with serving(json_reply('{"done": true}')) as shop:
        tools = tool_set(tool(f"{shop.url}/pay", "post"), approval={"mode": "confirm"})
        name = f"paying-{is_chained}"  # Core's entry for a name is cached
        core.add_application(name, None, manifest(tool_sets=[tools]), TYPE)
        called = {"name": "shop_look_up"}
        model = core.add_model("gpt", [[{"tool_calls": [called]}], [{"text": "Done."}]])
        asked = await core.call_application(name, HELLO)
        custom: dict[str, Any] = {}
        for event in asked.events():
            custom |= event["choices"][0]["delta"].get("custom_content", {})
        answer = {"role": "user", "content": "Approve"}
        messages = [
            *HELLO["messages"],
            {"role": "assistant", "content": said(asked), "custom_content": custom},
            {**answer, "custom_content": {"form_value": {"answer": 1}}},
        ]
        chain: dict[str, Any] = {"X_QUICKAPPS_CHAIN": "outer"} if is_chained else {}
        reply = await core.call_application(name, {"messages": messages}, **chain)

    assert "1. Approve\n2. Deny" in said(asked)
    form = custom["form_schema"]["properties"]["answer"]
    assert [choice["title"] for choice in form["oneOf"]] == ["Approve", "Deny"]
    assert (said(reply), shop.targets) == ("Done.", [] if is_chained else ["POST /pay"])
    assert len(model.asked) == 2
