"""Core is slow, down, unstable, or sends invalid data: the answer reports this without a long
delay."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest

from tests.dial.installation import Installation, ask_helper, asking, helpers, said
from tests.dial_core import Core
from tests.dial_core.core import Reply
from tests.dial_core.troubles import Trouble
from tests.load.processes import connections

SECONDS = 30
"""Core's timeout for requests other than completions."""
MOST_SECONDS = 150
"""The same on a busy machine. A slowly dripping Core would be read forever."""
AT_ONCE = 25
"""Requests for an application while its Core has problems."""
IDLE_CONNECTIONS = 60
"""Connections that pools may keep; each of the requests had three."""
Kind = Literal["silent", "gone", "garbage", "dripping"]
WORDS: dict[Kind, str] = {
    "silent": "A request to a required service timed out. Please try again later.",
    "dripping": "A request to a required service timed out. Please try again later.",
    "gone": "A network error occurred while contacting a required service. Please try again later.",
    "garbage": "",
}


async def timed(core: Core, name: str) -> tuple[Reply, float]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    return await core.call_application(name, asking("Hello"), stream=True), loop.time() - began


async def is_quiet(core: Core, installation: Installation) -> bool:
    """Pools close connections that were idle for too long when the next request arrives."""
    core.add_model("settled")
    installation.add("settling", "settled")
    end = asyncio.get_running_loop().time() + MOST_SECONDS
    while asyncio.get_running_loop().time() < end:
        await core.call_application("settling", asking("Hello"))
        if connections(installation.pid) <= IDLE_CONNECTIONS:
            return True
    return False


@pytest.mark.slow("a site behind a Core, each in a process of its own")
async def test_a_core_that_cannot_vouch_is_told_in_time_and_nothing_piles_up(
    core: Core, installation: Installation
):
    core.add_model("never-asked", [])
    for kind in WORDS:
        installation.add(f"troubled-{kind}", "never-asked")
        core.troubles[f"troubled-{kind}"] = Trouble(kind)

    asked = [timed(core, f"troubled-{kind}") for kind in WORDS for _ in range(AT_ONCE)]
    found = await asyncio.gather(*asked)

    assert max(seconds for _, seconds in found) < MOST_SECONDS
    assert {reply.status for reply, _ in found} == {500}
    for number, kind in enumerate(WORDS):
        for reply, _ in found[number * AT_ONCE : (number + 1) * AT_ONCE]:
            assert reply.json()["error"]["display_message"].startswith(WORDS[kind])
    assert core.models["never-asked"].asked == []
    assert await is_quiet(core, installation)


async def test_a_core_that_comes_and_goes_is_asked_again(core: Core, installation: Installation):
    core.add_model("flapped", ask_helper)
    core.add_model("parrot")
    installation.add("flapping", "flapped", helpers("parrot"))
    core.troubles["flapping"] = Trouble("flapping", path="/v1/bucket")

    reply = await core.call_application("flapping", asking("Hello"))

    assert said(reply) == "Hello"


@pytest.mark.parametrize("kind", ["gone", "garbage"])
async def test_a_tool_whose_deployment_core_cannot_reach_fails_and_the_run_goes_on(
    core: Core, installation: Installation, kind: Kind
):
    name = f"lame-{kind}"
    core.add_model(f"lead-{name}", ask_helper)
    core.add_model(f"parrot-{name}")
    installation.add(name, f"lead-{name}", helpers(f"parrot-{name}"))
    path = f"/openai/deployments/parrot-{name}/"
    core.troubles[name] = Trouble(kind, path=path)

    reply = await core.call_application(name, asking("Hello"))

    assert "error" not in reply.events()[-1]
    assert said(reply) != "Hello"
    assert "html" not in said(reply)
