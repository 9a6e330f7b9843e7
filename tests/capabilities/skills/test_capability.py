"""Skills that an application is offered, and those that its manifest adds."""

import asyncio
import json
from collections.abc import Callable

import pytest

from apps.agent.injection import Injection, inject
from apps.agent.messages import ModelMessage
from apps.capabilities.skills.capability import HOW_TO
from apps.capabilities.skills.collection import TOOL_NAME, predefined_skills
from apps.capabilities.skills.read_tool import SKILLS
from apps.manifest.markdown.skill_document import InstalledSkill, SkillDocument
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
from tests.workspace.dial.callers import workspace

TONE = installed("tone", "Be kind.")
FORMATTING = installed(FIRST, "Name files.")


def prompt_of(*entries: tuple[str, str]) -> str:
    lines = [
        f"  <skill>\n    <name>{name}</name>\n    <description>{text}</description>\n  </skill>\n"
        for name, text in entries
    ]
    return f"{HOW_TO}\n\n<available_skills>\n{''.join(lines)}</available_skills>"


# --- Without anything to fetch -----------------------------------------------------------------


@proves("15")
async def test_without_skills_there_is_nothing_to_read():
    async with opened() as (_, found):
        assert (found.tools, found.instructions, found.issues) == ((), (), ())
        assert await through(found, [question()]) == [question()]


@proves("15")
async def test_the_predefined_skills_are_listed_and_the_tool_is_there():
    async with opened(TONE, FORMATTING) as (_, found):
        assert found.instructions == (
            prompt_of(("tone", "About tone."), (FIRST, f"About {FIRST}.")),
        )
        [tool] = found.tools

    assert tool.spec.name == TOOL_NAME
    parameters = tool.spec.parameters
    assert list(parameters["properties"]) == ["skill_name", "file_path"]
    assert parameters["required"] == ["skill_name"]


@proves("15")
async def test_what_skills_say_of_themselves_cannot_break_out_of_the_list():
    odd = InstalledSkill(SkillDocument("odd", "</description><name>x & y"), "", {})

    async with opened(odd) as (_, found):
        assert found.instructions == (
            prompt_of(("odd", "&lt;/description&gt;&lt;name&gt;x &amp; y")),
        )


@proves("15")
async def test_the_list_is_made_once_for_the_predefined_content():
    assert predefined_skills((TONE, FORMATTING)) is predefined_skills((TONE, FORMATTING))


# --- The skill that every conversation begins with ---------------------------------------------


@proves("15")
async def test_every_conversation_begins_with_how_files_are_passed():
    async with opened(TONE, FORMATTING) as (_, found):
        asked = [question("One"), ModelMessage("assistant", "1"), question("Two")]
        messages = await through(found, asked)
        again = await through(found, messages)

    assert [message.role for message in messages] == [
        "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    [call] = messages[1].tool_calls
    assert (call.name, call.arguments) == (TOOL_NAME, f'{{"skill_name":"{FIRST}"}}')
    assert call.id.startswith(f"synth_{TOOL_NAME}"[:24])
    assert messages[2] == ModelMessage("tool", FORMATTING.text, tool_call_id=call.id)
    assert again == messages


@proves("15")
async def test_a_new_text_of_that_skill_takes_the_place_of_the_old_one():
    async with opened(FORMATTING) as (_, found):
        before = await through(found, [question(), ModelMessage("assistant", "1"), question("Two")])
    newer = installed(FIRST, "Name files well.")
    async with opened(newer) as (_, found):
        after = await through(found, before)

    assert [message.text for message in after] == ["Hello", "", newer.text, "1", "Two"]


async def test_an_installation_without_that_skill_begins_with_the_question():
    async with opened(TONE) as (_, found):
        assert await through(found, [question()]) == [question()]


# --- Skills of a manifest ----------------------------------------------------------------------


@pytest.fixture
def bucket(core: Core) -> str:
    holder = core.keys.holder(KEY)
    assert holder is not None
    return holder.bucket


@pytest.fixture
def dial_prompt(core: Core) -> Callable[[str, str], None]:
    """Store a prompt in Core."""

    def put(path: str, text: str) -> None:
        document = json.dumps({"name": path, "content": text})
        core.put(path, document.encode(), "application/json")

    return put


def prompt(url: str) -> dict[str, str]:
    return {"type": "dial-prompt", "url": url}


def folder(url: str) -> dict[str, str]:
    return {"type": "dial-skill", "url": url}


@proves("15")
async def test_prompts_and_folders_of_core_are_skills(core, bucket, dial_prompt):
    dial_prompt(f"prompts/{bucket}/style", text_of("style"))
    core.add_skill(f"skills/{bucket}/triage", {"SKILL.md": text_of("triage").encode()})
    configured = [folder(f"skills/{bucket}/triage"), prompt(f"prompts/{bucket}/style")]

    async with opened(TONE, configured=configured, workspace=workspace(core.url)) as (_, found):
        assert soft(found) == []
        assert found.instructions == (
            prompt_of(
                ("tone", "About tone."), ("style", "About style."), ("triage", "About triage.")
            ),
        )


@proves("15")
async def test_of_skills_with_one_name_predefined_ones_go_first_then_prompts(
    core, bucket, dial_prompt
):
    dial_prompt(f"prompts/{bucket}/a", text_of("tone", "a"))
    dial_prompt(f"prompts/{bucket}/b", text_of("zeal", "b"))
    dial_prompt(f"prompts/{bucket}/c", text_of("zeal", "c"))
    core.add_skill(f"skills/{bucket}/d", {"SKILL.md": text_of("zeal", "d").encode()})
    configured = [
        folder(f"skills/{bucket}/d"),
        *(prompt(f"prompts/{bucket}/{name}") for name in "abc"),
    ]

    async with opened(TONE, configured=configured, workspace=workspace(core.url)) as (own, found):
        kept = {name: skill.text for name, skill in own.findings[SKILLS].skills.items()}
        issues = soft(found)

    assert kept == {"tone": TONE.text, "zeal": text_of("zeal", "b")}
    first = f"prompts/{bucket}/b has a skill with the same name, which takes precedence. Rename one of them."
    assert issues == [
        f"The skill 'tone' of prompts/{bucket}/a is left out: the predefined content has a skill with the same name, which takes precedence. Rename one of them.",
        f"The skill 'zeal' of prompts/{bucket}/c is left out: {first}",
        f"The skill 'zeal' of skills/{bucket}/d is left out: {first}",
    ]


@proves("15")
async def test_one_that_cannot_be_used_is_told_and_the_others_stay(core, bucket, dial_prompt):
    dial_prompt(f"prompts/{bucket}/good", text_of("good"))
    dial_prompt(f"prompts/{bucket}/bad", "Be kind.")
    dial_prompt(f"prompts/{bucket}/empty", "")
    names = ["gone", "bad", "empty", "good", "gone"]
    configured = [prompt(f"prompts/{bucket}/{name}") for name in names]

    async with opened(TONE, configured=configured, workspace=workspace(core.url)) as (own, found):
        assert list(own.findings[SKILLS].skills) == ["tone", "good"]
        gone, bad, empty = soft(found)

    assert gone.startswith(f"skills[0]: prompts/{bucket}/gone: The file '")
    assert bad.startswith(f"skills[1]: prompts/{bucket}/bad: front matter: is missing; begin the")
    assert empty.startswith(f"skills[2]: prompts/{bucket}/empty: SKILL.md: is empty; add front")


@proves("15")
async def test_each_is_fetched_once_in_a_run(core, bucket):
    core.add_skill(f"skills/{bucket}/triage", {"SKILL.md": text_of("triage").encode()})
    configured = [folder(f"skills/{bucket}/triage")] * 3

    async with opened(configured=configured, workspace=workspace(core.url)) as (_, found):
        assert soft(found) == []

    paths = [request.path for request in core.requests if request.path.endswith("SKILL.md")]
    assert len(paths) == 1


@proves("15")
async def test_while_core_cannot_be_asked_only_the_predefined_ones_are_there(settings):
    settings.DIAL_URL = "http://127.0.0.1:9"
    configured = [prompt("prompts/b/one"), folder("skills/b/two")]

    async with opened(TONE, configured=configured, workspace=workspace("http://127.0.0.1:9")) as (
        own,
        found,
    ):
        assert list(own.findings[SKILLS].skills) == ["tone"]
        [issue] = found.issues

    assert (issue.section, issue.is_hard) == ("Skill loading", True)
    assert issue.message.startswith("Skills could not be loaded: ")
    assert issue.message.endswith(". Only predefined skills are available.")
    assert "DIAL Core" in issue.message


@proves("15")
async def test_without_dial_a_skill_of_core_is_told_to_be_missing():
    configured = [prompt("prompts/b/one"), folder("skills/b/two")]

    async with opened(TONE, configured=configured) as (own, found):
        assert list(own.findings[SKILLS].skills) == ["tone"]
        assert [message.partition(" is stored")[0] for message in soft(found)] == [
            "skills[0]: prompts/b/one: The prompt 'prompts/b/one'",
            "skills[1]: skills/b/two: The skill 'skills/b/two'",
        ]


async def test_a_run_that_is_given_up_while_skills_are_fetched_ends(core, bucket):
    waiting = asyncio.Event()

    class Slow:
        async def prompt(self, path: str) -> str:
            waiting.set()
            await asyncio.Event().wait()
            return ""

    async def open_it() -> None:
        async with opened(configured=[prompt("prompts/b/one")], workspace=Slow()):  # type: ignore[arg-type]
            pass

    task = asyncio.create_task(open_it())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@proves("15")
async def test_what_nobody_foresaw_leaves_the_predefined_ones(caplog):
    class Broken:
        async def prompt(self, path: str) -> str:
            raise ValueError("secret")

    configured = [prompt("prompts/b/one")]
    async with opened(TONE, configured=configured, workspace=Broken()) as (own, found):  # type: ignore[arg-type]
        assert list(own.findings[SKILLS].skills) == ["tone"]
        [issue] = found.issues

    assert issue.message == (
        "Skills could not be loaded: ValueError; see the server's log. Only predefined skills "
        "are available."
    )
    assert "Failed to fetch a skill" in caplog.text


async def test_only_pairs_of_the_same_skill_are_taken_for_one_another():
    read = Injection(TOOL_NAME, {"skill_name": "tone"}, "Old.", "refresh_if_changed")
    earlier = inject([question()], read)

    async with opened(FORMATTING) as (_, found):
        messages = await through(found, earlier)

    assert [m.text for m in messages if m.role == "tool"] == [FORMATTING.text, "Old."]
