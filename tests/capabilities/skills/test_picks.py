"""Skills that users pick for a question."""

import pytest

from apps.agent.messages import ModelMessage
from apps.capabilities.skills.capability import skills_prompt
from apps.capabilities.skills.collection import TOOL_NAME
from apps.capabilities.skills.read_tool import SKILLS
from tests.capabilities.skills.openings import (
    FIRST,
    installed,
    opened,
    question,
    soft,
    text_of,
    through,
)
from tests.contract import proves
from tests.dial_core import Core
from tests.dial_core.core import KEY
from tests.tables import each_row
from tests.workspace.dial.callers import workspace

TONE = installed("tone", "Ours.")
FORMATTING = installed(FIRST, "Name files.")


@pytest.fixture(autouse=True)
def preview(settings):
    settings.ENABLE_PREVIEW_FEATURES = True


@pytest.fixture
def bucket(core: Core) -> str:
    holder = core.keys.holder(KEY)
    assert holder is not None
    return f"skills/{holder.bucket}"


def put(core: Core, url: str, name: str, body: str = "Do it.") -> None:
    core.add_skill(url, {"SKILL.md": text_of(name, body).encode()})


def shown(messages) -> list[str]:
    return [m.tool_calls[0].arguments if m.tool_calls else m.text for m in messages]


@proves("15")
async def test_a_picked_skill_is_read_right_after_its_question(core, bucket):
    put(core, f"{bucket}/a", "brief", "Be brief.")
    put(core, f"{bucket}/b", "bold", "Be bold.")
    asked = [
        question("One", f"{bucket}/b", f"{bucket}/a"),
        ModelMessage("assistant", "1"),
        question("Two", f"{bucket}/a"),
    ]

    async with opened(FORMATTING, messages=asked, workspace=workspace(core.url)) as (_, found):
        assert soft(found) == []
        messages = await through(found, asked)
        again = await through(found, messages)
        [tidy] = found.tidying
        left = tidy(messages)

    brief, bold = text_of("brief", "Be brief."), text_of("bold", "Be bold.")
    assert shown(messages) == [
        "One",
        '{"skill_name":"bold"}', bold,
        '{"skill_name":"brief"}', brief,
        f'{{"skill_name":"{FIRST}"}}', FORMATTING.text,
        "1",
        "Two",
        '{"skill_name":"brief"}', brief,
    ]  # fmt: skip
    assert {call.name for message in messages for call in message.tool_calls} == {TOOL_NAME}
    assert again == messages
    assert left == [question("One"), ModelMessage("assistant", "1"), question("Two")]


@proves("15")
async def test_a_picked_skill_is_listed_and_can_be_read(core, bucket):
    core.add_skill(f"{bucket}/a", {"SKILL.md": text_of("brief").encode(), "x.md": b"X"})
    asked = [question("One", f"{bucket}/a")]

    async with opened(TONE, messages=asked, workspace=workspace(core.url)) as (own, found):
        collection = own.findings[SKILLS]
        assert list(collection.skills) == ["brief", "tone"]
        assert await collection.skills["brief"].read_file("x.md") == "X"
        assert found.instructions == (skills_prompt(collection.skills.values()),)


@proves("15")
async def test_a_picked_skill_goes_before_one_of_the_application(core, bucket):
    put(core, f"{bucket}/a", "tone", "Theirs.")
    asked = [question("One", f"{bucket}/a")]

    async with opened(TONE, messages=asked, workspace=workspace(core.url)) as (own, found):
        assert own.findings[SKILLS].skills["tone"].text == text_of("tone", "Theirs.")
        assert soft(found) == [
            f"The skill 'tone' of the predefined content is left out: {bucket}/a has a skill with the same name, which takes precedence. Rename one of them."
        ]


@proves("15")
async def test_of_two_picked_ones_with_one_name_the_newest_is_used(core, bucket):
    put(core, f"{bucket}/a", "tone", "Old.")
    put(core, f"{bucket}/b", "tone", "New.")
    asked = [question("One", f"{bucket}/a"), question("Two", f"{bucket}/b")]

    async with opened(messages=asked, workspace=workspace(core.url)) as (_, found):
        messages = await through(found, asked)

    assert shown(messages) == [
        "One",
        '{"skill_name":"tone"}',
        "Error: Another skill with the name 'tone' was picked later and is used instead.",
        "Two",
        '{"skill_name":"tone"}',
        text_of("tone", "New."),
    ]


@proves("15")
async def test_a_skill_that_is_both_picked_and_configured_is_one(core, bucket):
    put(core, f"{bucket}/a", "brief")
    asked = [question("One", f"{bucket}/a")]
    configured = [{"type": "dial-skill", "url": f"{bucket}/a"}]

    async with opened(configured=configured, messages=asked, workspace=workspace(core.url)) as (
        own,
        found,
    ):
        assert list(own.findings[SKILLS].skills) == ["brief"]
        assert soft(found) == []
    assert len([hop for hop in core.requests if hop.path.endswith("SKILL.md")]) == 1


@proves("15")
async def test_a_pick_that_fails_is_told_to_the_model_and_to_the_operator(core, bucket):
    asked = [question("One", f"{bucket}/my%20tone")]

    async with opened(messages=asked, workspace=workspace(core.url)) as (_, found):
        messages = await through(found, asked)
        [issue] = soft(found)

    assert issue.startswith("The picked skill 'my tone' could not be loaded: The file '")
    assert len(found.tools) == 1
    assert shown(messages)[:2] == ["One", '{"skill_name":"my tone"}']
    assert messages[2].text.startswith("Error: The skill 'my tone' could not be loaded: The file '")


async def test_without_core_a_pick_fails_and_the_answer_is_given():
    asked = [question("One", "skills/b/tone")]

    async with opened(TONE, messages=asked) as (_, found):
        messages = await through(found, asked)
        [issue] = soft(found)

    assert "which this installation does not use" in issue
    assert [message.role for message in messages] == ["user", "assistant", "tool"]


@proves("15")
async def test_while_core_cannot_be_asked_every_pick_fails(settings):
    settings.DIAL_URL = "http://127.0.0.1:9"
    asked = [question("One", "skills/b/tone")]

    async with opened(TONE, messages=asked, workspace=workspace("http://127.0.0.1:9")) as (
        own,
        found,
    ):
        messages = await through(found, asked)
        [issue] = found.issues

    assert issue.message.endswith(". Only predefined skills are available.")
    assert messages[2].text.startswith("Error: The skill 'tone' could not be loaded: DIAL Core")
    assert list(own.findings[SKILLS].skills) == ["tone"]


@proves("15")
async def test_only_so_many_of_the_newest_are_used(core, bucket, settings):
    settings.SKILL_INVOCATION_MAX_SKILLS = 2
    for name in ("a", "b", "c"):
        put(core, f"{bucket}/{name}", name)
    asked = [
        question("One", f"{bucket}/a", f"{bucket}/c"),
        question("Two", f"{bucket}/b"),
        question("Three", f"{bucket}/c"),
    ]

    async with opened(messages=asked, workspace=workspace(core.url)) as (own, found):
        messages = await through(found, asked)
        assert list(own.findings[SKILLS].skills) == ["c", "b"]
        assert soft(found) == [
            ("3 skills were picked; the limit is 2, so only the newest are used.")
        ]

    assert shown(messages) == [
        "One",
        '{"skill_name":"c"}', text_of("c"),
        "Two",
        '{"skill_name":"b"}', text_of("b"),
        "Three",
        '{"skill_name":"c"}', text_of("c"),
    ]  # fmt: skip


@proves("15")
@each_row(
    "written", ["x", {"url": "x"}, 5, [5], [{}], [{"url": 7}], [{"url": " "}], [None, [], "x"]]
)
async def test_what_is_no_pick_is_told_once_and_left_out(written):
    asked = [ModelMessage("user", "One", extra={"skills": written}), ModelMessage("user", "Two")]

    async with opened(TONE, messages=asked) as (_, found):
        messages = await through(found, asked)
        assert soft(found) == ["custom_content.skills: expected a list of objects with a url."]

    assert messages == [ModelMessage("user", "One"), ModelMessage("user", "Two")]


@proves("15")
@pytest.mark.parametrize("written", [None, [], [{"url": "skills/b/tone"}]])
async def test_without_preview_picks_are_taken_out_and_nothing_else(written, settings):
    settings.ENABLE_PREVIEW_FEATURES = False
    extra = {"skills": written, "form_value": 1}
    asked = [ModelMessage("user", "One", extra=extra), ModelMessage("assistant", "1", extra=extra)]

    async with opened(TONE, messages=asked) as (own, found):
        messages = await through(found, asked)
        assert (list(own.findings[SKILLS].skills), soft(found)) == (["tone"], [])

    assert messages == [
        ModelMessage("user", "One", extra={"form_value": 1}),
        ModelMessage("assistant", "1", extra={"form_value": 1}),
    ]


@proves("15")
async def test_picks_of_answers_are_nobodys_wish():
    asked = [question(), ModelMessage("assistant", "1", extra={"skills": [{"url": "skills/b/x"}]})]

    async with opened(TONE, messages=asked) as (_, found):
        assert await through(found, asked) == [question(), ModelMessage("assistant", "1")]
        assert soft(found) == []
