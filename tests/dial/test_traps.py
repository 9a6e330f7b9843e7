"""Unexpected behavior of Core. Each of the fifteen kinds has a test that names it: §8.1 to §8.15."""

from __future__ import annotations

import re
from pathlib import Path

import httpx

from tests.dial.installation import (
    TYPE,
    Installation,
    ask_helper,
    asking,
    helpers,
    manifest,
    said,
    stages,
)
from tests.dial_core import Core, Faults

TESTS = Path(__file__).resolve().parent.parent
PLACES = ("dial", "dial_core", "gateway", "workspace/dial")


def test_every_trap_has_a_test():
    written = "".join(
        path.read_text() for place in PLACES for path in (TESTS / place).glob("test_*.py")
    )

    assert [
        n for n in range(1, 16) if not re.search(rf"§8\.{n}\b", written.replace("to §8.15", ""))
    ] == []


async def test_a_refusal_in_plain_text_is_told_in_words_of_ours(
    core: Core, installation: Installation
):
    """§8.2."""
    core.add_model("closed", [[{"text": "x"}]])
    core.faults["closed"] = Faults(error=(403, "Forbidden deployment: closed"))
    installation.add("closing", "closed")

    reply = await core.call_application("closing", asking("Hello"), stream=False)

    assert reply.status == 403
    assert reply.json()["error"]["display_message"].startswith("You don't have permission to use")
    assert "Forbidden deployment" not in reply.text


async def test_who_brings_no_key_is_told_401(installation: Installation):
    """§8.5: applications of the SDK return 400."""
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        answer = await client.post(
            f"{installation.site.url}/openai/deployments/quick_apps2/chat/completions",
            json=asking("Hello"),
            headers={"X-DIAL-APPLICATION-ID": "any"},
        )

    assert answer.status_code == 401


async def test_properties_are_fetched_also_where_core_sends_them(
    core: Core, installation: Installation
):
    """§8.6: they are in a header unless the type disables it, and any client can send a header."""
    other = f"{TYPE}-with-header"
    core.configuration.schemas[other] = {
        **core.configuration.schemas[TYPE],
        "$id": other,
        "dial:appendApplicationPropertiesHeader": True,
    }
    model = core.add_model("told", [[{"text": "x"}]])
    core.add_application("heading", None, manifest("told"), other)

    reply = await core.call_application("heading", asking("Hello"))

    assert said(reply) == "x"
    assert "x-dial-application-properties" in core.sent[0].headers
    assert "/openai/applications/heading" in {hop.path for hop in core.requests}
    assert model.asked[0]["messages"][0]["content"].startswith("Be brief.\n\nSkills are ")


async def test_an_application_is_found_where_only_models_are_listed_as_deployments(
    core: Core, installation: Installation
):
    """§8.7."""
    core.add_model("lead-apps", ask_helper)
    core.add_model("echo-below")
    installation.add("below", "echo-below")
    installation.add("above", "lead-apps", helpers("below"))

    reply = await core.call_application("above", asking("Hello"))

    assert said(reply) == "Hello"


async def test_a_folder_that_is_attached_keeps_its_prefix_on_the_way(
    core: Core, installation: Installation
):
    """§8.11."""
    bucket = core.keys.projects["dial-demo-key"].bucket
    core.put(f"files/{bucket}/dir/a.txt", b"x")
    folder = {
        "type": "application/vnd.dial.metadata+json",
        "title": "dir",
        "url": f"metadata/files/{bucket}/dir/",
    }
    core.add_model("folders", [[{"text": "Seen."}]], inputAttachmentTypes=["*/*"])
    installation.add("folding", "folders")

    reply = await core.call_application("folding", asking("Look", attachments=[folder]))

    assert (reply.status, said(reply)) == (200, "Seen.")


async def test_a_chunk_of_cores_own_without_an_id_is_read(core: Core, installation: Installation):
    """§8.12."""
    core.add_model("lead-usage", ask_helper)
    core.add_model("echo-usage")
    installation.add("counted", "echo-usage")
    installation.add("counting", "lead-usage", helpers("counted"))
    core.settings.replaces_usage = True
    try:
        reply = await core.call_application("counting", asking("Hello"))
    finally:
        core.settings.replaces_usage = False

    assert said(reply) == "Hello"
    assert "id" not in reply.events()[-1]


async def test_keys_that_we_do_not_know_are_no_mistake(core: Core, installation: Installation):
    """§8.13."""
    core.add_model("lenient", [[{"text": "Fine."}]])
    installation.add("leniently", "lenient")
    question = asking("Hello", skills=[], hologram={"depth": 3})

    reply = await core.call_application("leniently", {**question, "hologram": True})

    assert (reply.status, said(reply)) == (200, "Fine.")


async def test_names_with_spaces_are_encoded_once(core: Core, installation: Installation):
    """§8.14."""
    below = "applications/public/my parrot__1"
    core.add_model("lead-spaces", ask_helper)
    core.add_model("echo-spaces")
    installation.add(below, "echo-spaces")
    installation.add("applications/public/my lead__1", "lead-spaces", helpers(below))

    reply = await core.call_application("applications/public/my lead__1", asking("Hello"))

    assert said(reply) == "Hello"
    assert stages(reply)[0][2] == "completed"
    paths = {hop.path for hop in core.requests}
    assert "/openai/deployments/applications/public/my%20parrot__1/chat/completions" in paths
    assert not [path for path in paths if "%25" in path]
