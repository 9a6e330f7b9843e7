from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from apps.agent.answers.replies import ask_model
from apps.agent.events import TextDelta, Usage
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.model import Delta, ModelRequest, Reply, ToolCallDelta
from apps.capabilities.skills.capability import skills_prompt
from apps.capabilities.skills.collection import predefined_skills
from apps.demo.model import CALL_PREFIX, DemoModel
from apps.demo.results import READ_SKILL
from apps.demo.talk import MARKDOWN
from apps.manifest.narrative import narrate_question
from tests.capabilities.skills.openings import installed
from tests.fakes import spec
from tests.tables import each_row

WEATHER = spec("weather", "The weather in a city.", city={"type": "string"})
QUESTION = ModelMessage("user", "The weather in Oslo and Lima?")


pytestmark = pytest.mark.usefixtures("quick_demo")


async def deltas_of(*messages: ModelMessage, tools=(WEATHER,), **parameters) -> list[Delta]:
    request = ModelRequest(messages, tools, parameters)
    return [delta async for batch in DemoModel().stream(request) for delta in batch]


async def reply_to(*messages: ModelMessage, tools=(WEATHER,), **parameters) -> Reply:
    request = ModelRequest(messages, tools, parameters)
    return await ask_model(DemoModel(), request, lambda event: None, name="demo")


async def answer_to(text: str, tools=(WEATHER,), **parameters) -> str:
    reply = await reply_to(ModelMessage("user", text), tools=tools, **parameters)
    return reply.message.text


async def test_tools_are_called_all_at_once_with_ids_of_their_own():
    reply = await reply_to(QUESTION)

    assert reply.finish_reason == "tool_calls"
    assert [(call.name, call.arguments) for call in reply.message.tool_calls] == [
        ("weather", '{"city":"Oslo"}'),
        ("weather", '{"city":"Lima"}'),
    ]
    assert len({call.id for call in reply.message.tool_calls}) == 2
    assert all(call.id.startswith(CALL_PREFIX) for call in reply.message.tool_calls)


async def test_the_arguments_of_a_call_arrive_in_pieces():
    deltas = [one for one in await deltas_of(QUESTION) if isinstance(one, ToolCallDelta)]

    assert len(deltas) > 4


async def test_what_the_tools_returned_is_the_answer_and_no_tool_is_called_again():
    asked = (await reply_to(QUESTION)).message
    first, second = asked.tool_calls
    results = (
        ModelMessage("tool", '{"temperature": 7}', tool_call_id=first.id),
        ModelMessage("tool", "Error: no such city", tool_call_id=second.id),
    )

    reply = await reply_to(QUESTION, asked, *results)

    assert reply.message == ModelMessage(
        "assistant",
        "**Weather** (Oslo)\n\n- **Temperature:** 7\n\n"
        "**Weather** (Lima) failed:\n\n> Error: no such city\n\n"
        "*The built-in demo model only repeats what the tools returned.*",
    )


async def test_calls_that_others_made_are_not_taken_for_its_own():
    made = ModelMessage("assistant", tool_calls=(ToolCall("synthetic", "clock", "{}"),))
    result = ModelMessage("tool", "12:00", tool_call_id="synthetic")

    assert (await reply_to(QUESTION, made, result)).finish_reason == "tool_calls"


async def test_calls_of_an_earlier_question_are_not_reported_again():
    asked = (await reply_to(QUESTION)).message
    earlier = [ModelMessage("tool", "7", tool_call_id=call.id) for call in asked.tool_calls]
    conversation = (
        QUESTION,
        asked,
        *earlier,
        ModelMessage("assistant", "7"),
        ModelMessage("user", "Hello"),
    )

    assert (await reply_to(*conversation)).message.text.startswith("Hello! I am the **built-in")


async def test_what_a_call_lacks_is_asked_for():
    assert await answer_to("How is the weather?") == (
        "**Weather** needs a value for *city*, and I found none.\n\n"
        "Say it in your question, and I will call it."
    )


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("What can you do?", "I am the **built-in demo model**"),
        ("help", "I am the **built-in demo model**"),
        ("Hello there", "Hello! I am the **built-in demo model**"),
        ("Who was Napoleon?", "I cannot answer that. I am the **built-in demo model**"),
        ("   ", "You wrote no text"),
        ("Thank you!", "You are welcome."),
    ],
)
async def test_it_says_what_it_is_and_never_pretends_to_know(text, beginning):
    assert (await answer_to(text)).startswith(beginning)


async def test_it_names_the_tools_that_it_was_offered():
    assert "- **Weather**: The weather in a city." in await answer_to("help")
    assert "offers me no tools" in await answer_to("help", tools=())


async def test_it_says_that_it_reads_no_files():
    question = ModelMessage("user", "What is this?", attachments=(Attachment(data="x"),) * 2)

    assert (
        "I see 2 attached files, but I cannot read files."
        in (await reply_to(question)).message.text
    )


async def test_it_says_how_it_reads_files_where_a_tool_does():
    question = ModelMessage("user", "What is this?", attachments=(Attachment(data="x"),))
    reading = spec("internal_file_read_lines", "Reads lines.", path={"type": "string"})

    assert (
        "I see 1 attached file. Name one, as in *Read lines 0 to 20 of notes.txt*."
        in (await reply_to(question, tools=(reading,))).message.text
    )


async def test_it_shows_markdown():
    assert await answer_to("Show me Markdown.") == MARKDOWN


async def test_a_tool_is_called_also_where_markdown_is_mentioned():
    question = ModelMessage("user", "The weather in Oslo as Markdown")

    assert (await reply_to(question)).finish_reason == "tool_calls"


@pytest.mark.parametrize("text", ["Thanks, Oslo", "Hello Lima", "What can you do in Riga?"])
async def test_small_talk_does_not_go_on_from_an_earlier_question(text):
    conversation = (QUESTION, ModelMessage("assistant", "7"), ModelMessage("user", text))

    assert (await reply_to(*conversation)).finish_reason == "stop"


async def test_a_question_goes_on_from_an_earlier_one():
    conversation = (QUESTION, ModelMessage("assistant", "7"), ModelMessage("user", "And in Riga?"))

    (call,) = (await reply_to(*conversation)).message.tool_calls
    assert call.arguments == '{"city":"Riga"}'


async def test_it_tells_a_long_story():
    story = await answer_to("Tell me a long story")

    assert story.count("## Night") == 12
    assert len(story) > 4_000


@pytest.mark.parametrize(("text", "count"), [("Write 5 paragraphs.", 5), ("0 paragraphs", 1)])
async def test_it_writes_as_many_paragraphs_as_are_wanted(text, count):
    story = await answer_to("Tell me a long story")
    answer = await answer_to(text)

    assert answer.split("\n\n") == story.split("\n\n")[:count]


async def test_its_text_streams_word_by_word():
    deltas = await deltas_of(ModelMessage("user", "Thanks"))

    words = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert words[:3] == ["You ", "are ", "welcome. "]
    assert deltas[-1] == Usage(
        (6 + len(memoryview(WEATHER.written))) // 4, len("".join(words)) // 4
    )


async def test_a_limit_of_tokens_cuts_the_answer():
    reply = await reply_to(ModelMessage("user", "Tell me a story"), max_tokens=5)

    assert (len(reply.message.text), reply.finish_reason) == (20, "length")


async def test_the_same_conversation_gets_the_same_answer():
    assert await deltas_of(QUESTION) == await deltas_of(QUESTION)


async def test_a_conversation_without_a_question_is_answered():
    assert (await reply_to(ModelMessage("system", "Be brief."))).message.text.startswith(
        "You wrote no"
    )


async def test_it_can_be_stopped_at_any_word(monkeypatch):
    monkeypatch.setattr("apps.demo.model.WORD_SECONDS", 60)
    request = ModelRequest((ModelMessage("user", "Tell me a long story"),))
    arrived = asyncio.Event()

    async def listen() -> None:
        async with aclosing(DemoModel().stream(request)) as batches:
            async for _ in batches:
                arrived.set()

    task = asyncio.create_task(listen())
    async with asyncio.timeout(60):
        await arrived.wait()
        task.cancel()
        await asyncio.wait([task])

    assert task.cancelled()


READ = spec(READ_SKILL, "Reads a skill.", skill_name={"type": "string"})
LOOK = spec("file_read_lines", "Reads lines of a file.", path={"type": "string"})
SKILLS = predefined_skills((installed("tone"), installed("price-list"))).skills
PROMPT = ModelMessage("system", skills_prompt(SKILLS.values()))


async def calls_for(text: str, *tools, **parameters) -> list[tuple[str, str]]:
    reply = await reply_to(PROMPT, ModelMessage("user", text), tools=tools, **parameters)
    return [(call.name, call.arguments) for call in reply.message.tool_calls]


def read(name: str, path: str = "") -> tuple[str, str]:
    file = f',"file_path":"{path}"' if path else ""
    return (READ_SKILL, f'{{"skill_name":"{name}"{file}}}')


@each_row(
    ("text", "expected"),
    [
        ("Read the skill tone.", [read("tone")]),
        ("please use your Price-List skill", [read("price-list")]),
        ("Read the skills tone and price-list", [read("tone"), read("price-list")]),
        ("Read rates/2026.csv of the skill price-list.",
         [read("price-list"), read("price-list", "rates/2026.csv")]),
        ("Read the skill unknown", [(LOOK.name, '{"path":""}')]),
        ("Which skills do you have?", []),
        ("The skill price-lists", []),
        ("x" * 5_000 + " the skill tone", []),
    ],
)  # fmt: skip
async def test_a_question_that_names_a_skill_reads_it_and_nothing_else(text, expected):
    assert await calls_for(text, LOOK, READ) == expected


async def test_the_word_read_alone_means_no_skill():
    assert await calls_for("Read this, please", READ) == []


async def test_without_the_tool_no_skill_is_read():
    assert await calls_for("The skill tone", LOOK) == []


async def test_a_skill_is_read_where_the_call_is_demanded():
    choice = {"type": "function", "function": {"name": READ_SKILL}}
    for wanted in (choice, "required"):
        assert await calls_for("tone", READ, tool_choice=wanted) == [read("tone")]


async def test_a_greeting_is_one_also_where_the_person_looks_at_something():
    text = narrate_question("Hello!", "Orders", "order [4711]")

    assert await answer_to(text, tools=()) == await answer_to("Hello!", tools=())
