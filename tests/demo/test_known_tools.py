"""Tools that the demo model knows by name are used according to their schemas."""

from __future__ import annotations

import json

import pytest

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.model import ModelRequest
from apps.demo.calls import PlannedCall
from apps.demo.documents import operator_documents
from apps.demo.known_tools import CONFIRM, NO_WEB
from apps.demo.model import CALL_PREFIX, answer_to
from tests.contract import proves
from tests.fakes import spec
from tests.tables import each_row

TEXT = {"type": "string"}
STORE = spec(
    "store_memory",
    "Keeps one fact.",
    content=TEXT,
    category={**TEXT, "default": "general"},
    importance={"type": "number", "default": 0.5},
    topics={"type": "array", "items": TEXT, "default": []},
)
SEARCH = spec(
    "search_memories", "Finds facts.", query=TEXT, limit={"type": "integer", "default": 5}
)
ASK = spec("rag_tool", "Answers from a document.", request=TEXT, file_url=TEXT)
READ = spec(
    "file_content_extraction_tool",
    "The text of a file.",
    file_url=TEXT,
    page={"type": "integer", "default": 1},
)
DRAW = spec("image_generation_tool", "Makes a picture.", prompt=TEXT)
CODE = spec("internal_code_execution_python_interpreter", "Runs Python.", title=TEXT, code=TEXT)
EXECUTE = spec("execute_code", "Runs Python.", code=TEXT, session_id={**TEXT, "default": ""})
WEB = spec("search", "Searches the web with DuckDuckGo.", query=TEXT)
WEATHER = spec("Weather_now", "The current weather in a city.", city=TEXT)
ALL = (STORE, SEARCH, ASK, READ, DRAW, CODE, WEB, WEATHER)

PDF = "files/me/report%20a.pdf"
ATTACHED = (
    "\n<attachments>\n  <attachment>\n    <title>report a.pdf</title>\n"
    f"    <type>application/pdf</type>\n    <url>{PDF}</url>\n  </attachment>\n"
    "  <attachment>\n    <title>a.png</title>\n"
    "    <type>image/png</type>\n    <url>files/me/a.png</url>\n  </attachment>\n</attachments>"
)


def planned(*messages: ModelMessage | str, tools=ALL, **parameters):
    asked = [ModelMessage("user", one) if isinstance(one, str) else one for one in messages]
    return answer_to(ModelRequest(asked, tools, parameters))


def stored(said: str, category: str, importance: float) -> PlannedCall:
    content = f"The user said: {said}"
    return PlannedCall(
        "store_memory",
        {"content": content, "category": category, "importance": importance, "topics": []},
    )


def searched(query: str) -> PlannedCall:
    return PlannedCall("search_memories", {"query": query, "limit": 5})


@each_row(
    ("text", "calls"),
    [
        ("I live in Paris", [stored("I live in Paris", "personal_info", 0.9)]),
        (
            "My name is Ann. I love sailing! Do I like tea?",
            [
                stored("My name is Ann.", "personal_info", 0.9),
                stored("I love sailing!", "preferences", 0.6),
            ],
        ),
        ("I want to learn Latvian.", [stored("I want to learn Latvian.", "goals", 0.5)]),
        ("Where do I live?", [searched("Where do I live?")]),
        ("What should I wear today?", [searched("What should I wear today?")]),
        ("Draw me a red boat.", [PlannedCall("image_generation_tool", {"prompt": "a red boat"})]),
        (
            "Please make a picture of a cat, in oil",
            [PlannedCall("image_generation_tool", {"prompt": "a cat, in oil"})],
        ),
        ("Draw", [PlannedCall("image_generation_tool", {"prompt": "Draw"})]),
        (
            "What is (2 + 3) * 4^2?",
            [PlannedCall(CODE.name, {"title": "Calculation", "code": "(2 + 3) * 4**2"})],
        ),
        ("1,000 * 3", [PlannedCall(CODE.name, {"title": "Calculation", "code": "1000 * 3"})]),
        (
            "Run `sum(range(5))`",
            [PlannedCall(CODE.name, {"title": "Calculation", "code": "sum(range(5))"})],
        ),
        ("What is the weather in Oslo?", [PlannedCall("Weather_now", {"city": "Oslo"})]),
        (
            "What is in it?" + ATTACHED,
            [PlannedCall("rag_tool", {"request": "What is in it?", "file_url": PDF})],
        ),
        (
            "Read page 3" + ATTACHED,
            [PlannedCall("file_content_extraction_tool", {"file_url": PDF, "page": 3})],
        ),
        (
            ATTACHED,
            [PlannedCall("rag_tool", {"request": "What is this document about?", "file_url": PDF})],
        ),
    ],
)
def test_what_words_point_to_is_called_with_the_arguments_of_its_schema(text, calls):
    assert planned(text) == calls


def test_an_earlier_document_is_meant_only_when_a_document_is_spoken_of():
    later = planned("Look" + ATTACHED, "Who signed the document?")
    other = planned("Look" + ATTACHED, "I live in Riga")

    assert later == [
        PlannedCall("rag_tool", {"request": "Who signed the document?", "file_url": PDF})
    ]
    assert other == [stored("I live in Riga", "personal_info", 0.9)]


def test_the_interpreter_of_another_server_gets_a_new_session():
    assert planned("Calculate 7 / 2", tools=(EXECUTE,)) == [
        PlannedCall("execute_code", {"code": "7 / 2", "session_id": ""})
    ]


def test_a_picture_tool_with_other_arguments_gets_what_it_requires():
    sized = spec(DRAW.name, "Makes it.", query=TEXT, size={**TEXT, "enum": ["small", "large"]})

    assert planned("Draw a boat", tools=(sized,)) == [
        PlannedCall(DRAW.name, {"size": "small", "query": "a boat"})
    ]


def wears(*tools) -> object:
    """Return the answer after the memories were searched for what to wear."""
    question = ModelMessage("user", "What should I wear today?")
    (search,) = planned(question, tools=tools)
    call = ModelMessage("assistant", tool_calls=(called(search.tool, CALL_PREFIX + "1_0"),))
    found = ModelMessage(
        "tool", "1. The user said: I live in Paris.", tool_call_id=CALL_PREFIX + "1_0"
    )
    return planned(question, call, found, tools=tools)


def called(name: str, id: str) -> ToolCall:
    return ToolCall(id, name, '{"query": "What should I wear today?", "limit": 5}')


@proves("G-31")
def test_what_to_wear_is_searched_in_the_memories_and_then_on_the_web_g_31():
    assert wears(*ALL) == [PlannedCall("search", {"query": "What should I wear today? Paris"})]


def test_without_the_web_the_memories_are_the_answer():
    answer = wears(STORE, SEARCH)

    assert isinstance(answer, str)
    assert "I live in Paris." in answer


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Search the web for cheap flights to Oslo.", "cheap flights to Oslo"),
        ("Please look up on the internet: who painted “Lake”?", "who painted “Lake”"),
        ("Search the web", "Search the web"),
    ],
)
def test_the_web_is_searched_for_what_is_asked(text: str, query: str):
    ddg = spec("ddg_search", "Search DuckDuckGo and return results.", query=TEXT)

    assert planned(text, tools=(STORE, SEARCH, ddg)) == [
        PlannedCall("ddg_search", {"query": query})
    ]


def test_without_a_tool_for_the_web_the_search_is_not_made_elsewhere():
    finds = spec("internal_file_search", "Searches files.", pattern=TEXT)

    assert planned("Search the web for whales", tools=(finds, SEARCH)) == NO_WEB


@proves("G-25")
@pytest.mark.parametrize(
    "text", ["Forget everything about me", "Please delete all that you remember of me."]
)
def test_everything_is_forgotten_after_a_question(text: str):
    forget_one = spec("forget_memory", "Deletes one memory.", id={"type": "integer"})
    tools = (STORE, SEARCH, forget_one, spec("delete_all_memories", "Deletes everything."))

    assert planned(text, tools=tools) == CONFIRM
    assert planned(text, ModelMessage("assistant", CONFIRM), f"Yes, {text}", tools=tools) == [
        PlannedCall("delete_all_memories", {})
    ]


def test_tools_that_are_not_listed_are_not_called():
    text = "I live in Paris"

    assert isinstance(planned(text, tools=(WEATHER,)), str)
    assert planned(text, tool_choice="none") != planned(text)


FIND_NOTES = spec("wiki-search", "Searches notes.", searchType=TEXT, filter=TEXT)
CHANGE_NOTES = spec("wiki-operation", "Changes notes.", operation=TEXT, title=TEXT, text=TEXT)


@pytest.mark.parametrize(
    ("text", "title", "said"),
    [
        ("Write a note Boats: We have two.", "Boats", "We have two."),
        (
            "Please make me a note about “My trip”: to Riga\nand back",
            "My trip",
            "to Riga\nand back",
        ),
        ("add a new note named Groceries: milk", "Groceries", "milk"),
    ],
)
def test_a_note_is_written_as_it_is_dictated(text: str, title: str, said: str):
    given = {"operation": "add", "title": title, "text": said}

    assert planned(text, tools=(FIND_NOTES, CHANGE_NOTES)) == [PlannedCall("wiki-operation", given)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Find my notes about boats", "boats"),
        ("What do my notes say?", "say"),
        ("Show my notes.", ""),
        ("Search the notes for tag:sea", "tag:sea"),
    ],
)
def test_notes_are_searched_for_what_is_asked(text: str, words: str):
    given = {"searchType": "filter", "filter": words}

    assert planned(text, tools=(FIND_NOTES, CHANGE_NOTES)) == [PlannedCall("wiki-search", given)]


def test_notes_are_no_tools_where_there_are_none():
    assert "wiki" not in str(planned("Write a note Boats: We have two."))


@each_row(
    "text",
    [
        "What do you remember about me?",
        "what have I told you",
        "Do you know where I live?",
        "Can you recall what I told you?",
        "What did you say about me",
    ],
)
def test_a_question_about_the_user_is_searched_and_never_stored(text: str):
    found = [PlannedCall(SEARCH.name, {"query": text, "limit": 5})]
    named = spec("memory_store_memory", "Remember a fact of the user.", content=TEXT)

    assert planned(text) == found
    assert planned(text, tools=(STORE, SEARCH)) == found
    assert isinstance(planned(text, tools=(STORE,)), str)
    assert isinstance(planned(text, tools=(named,)), str)


def test_a_fact_is_stored_although_a_question_follows():
    assert planned("My name is Ada. What do you remember about me?") == [
        stored("My name is Ada.", "personal_info", 0.9)
    ]


def listing(*entries: dict[str, str]) -> tuple[ModelMessage, ModelMessage]:
    """The messages that list the operator's files."""
    call = ToolCall("synthetic_1", "internal_attachments_available_context", "{}")
    text = json.dumps({"entries": entries, "disclaimer": "Read them."})
    return (
        ModelMessage("assistant", tool_calls=(call,)),
        ModelMessage("tool", text, tool_call_id="synthetic_1"),
    )


def test_a_question_is_answered_from_all_documents_of_the_operator():
    files = (
        {"title": "a.md", "url": "files/public/a.md", "type": "text/markdown"},
        {"title": "b.pdf", "url": "files/public/b.pdf", "type": "application/pdf"},
        {"title": "c.png", "url": "files/public/c.png", "type": "image/png"},
        {"title": "d", "url": "files/public/d/", "type": "folder"},
        {"title": "e.md", "url": "files/e.md", "type": "text/markdown", "status": "removed"},
    )
    asked = "Who approves trips?"

    calls = planned(asked, *listing(*files), tools=(ASK,))
    greeting = planned("Hello", *listing(*files), tools=(ASK,))

    urls = ["files/public/a.md", "files/public/b.pdf"]
    assert calls == [PlannedCall("rag_tool", {"request": asked, "file_urls": urls})]
    assert isinstance(greeting, str)


@each_row(
    "text",
    ["", "[]", '{"entries": 3}', '{"entries": [3, {"type": "text/plain"}]}'],
)
def test_a_broken_listing_of_the_operators_files_names_none(text):
    message, _ = listing()
    broken = ModelMessage("tool", text, tool_call_id="synthetic_1")

    assert isinstance(planned("Hello", message, broken, tools=(ASK,)), str)
    assert operator_documents([message, broken]) == []


def test_code_runs_with_the_tool_of_a_server_whose_toolset_has_a_name():
    tool = spec("python_execute_code", "Runs Python.", code=TEXT, session_id=TEXT)

    calls = planned("Run this Python code: `12 * 34`", tools=(tool,))

    assert calls == [PlannedCall("python_execute_code", {"code": "12 * 34", "session_id": ""})]
