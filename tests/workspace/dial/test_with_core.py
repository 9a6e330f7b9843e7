"""Skills and sign-ins with the fake Core that other tests here use as well."""

from __future__ import annotations

import pytest

from apps.workspace.port import StoredSkill
from tests.dial_core.channel import HEADER
from tests.dial_core.core import KEY
from tests.workspace.dial.callers import called, workspace

TOOLSETS = ["desk", "toolsets/public/My crm"]


async def test_a_stored_skill_is_read_with_its_folders(fake):
    skill = f"skills/{fake.keys.holder(KEY).bucket}/tone of voice"
    for name, content in (
        ("SKILL.md", b"Be kind."),
        ("refs/a b.md", b"more"),
        ("refs/deep/data.csv", b"1,2"),
        ("logo.png", b"\x89PNG"),
    ):
        fake.put(f"{skill}/files/{name}", content)
    own = workspace(fake.url)

    assert await own.skill(skill) == StoredSkill("Be kind.", ("refs/a b.md", "refs/deep/data.csv"))
    assert await own.skill_file(skill, "refs/a b.md") == "more"


@pytest.mark.parametrize("answer", ["success", "denied", "error"])
async def test_what_the_person_does_at_the_client_is_known(fake, answer):
    for name in TOOLSETS:
        fake.configuration.add(fake.configuration.deployment(name, "toolset", {}))
    fake.channels.auto_answer = answer
    channel = fake.channels.add("Demo")

    with called(fake, channel=channel) as own:
        assert await own.sign_in(TOOLSETS) == dict.fromkeys(TOOLSETS, answer)

    (request,) = fake.requests
    assert request.headers[HEADER] == channel


async def test_a_person_who_does_nothing_is_not_waited_for_without_end(fake):
    fake.channels.auto_answer = "never"
    channel = fake.channels.add("Demo")

    with called(fake, channel=channel, sign_in_seconds=0.3) as own:
        assert await own.sign_in(TOOLSETS) == dict.fromkeys(TOOLSETS, "timeout")


async def test_the_channel_of_somebody_else_is_none(fake):
    channel = fake.channels.add("Ann")

    with called(fake, channel=channel) as own:
        assert await own.sign_in(TOOLSETS) == dict.fromkeys(TOOLSETS, "error")
