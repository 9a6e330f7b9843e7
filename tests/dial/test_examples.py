"""Every example manifest as an application of Core answers, and calls a tool of each kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capabilities.manifests import OTHERWISE
from tests.catalog.content.files import write
from tests.contract import proves
from tests.dial.harbour import (
    PASS,
    PROMPT,
    SKILL,
    Harbour,
    serve_harbour,
    system_of,
    tools_of,
)
from tests.dial.installation import TYPE, asking, attachments, called, stages
from tests.dial_core import Core, serve_core
from tests.dial_core.core import Reply
from tests.dial_core.models import CALL, Answer, Body
from tests.manifest.documents import example
from tests.sites.serving import serve

CLOCK = "internal_timeawareness_current_timestamp"
FINE = [{"text": "Fine."}]
CONTEXTS = "internal_attachments_available_context"
INTERPRETER = "internal_code_execution_python_interpreter"
FETCH, ATTACH = "internal_web_fetch", "internal_representation_add_attachment"
FILES = ("list", "read_lines", "search", "find", "write", "edit", "delete", "copy", "move")
FILE_TOOLS = [f"internal_file_{name}" for name in FILES]
READ_SKILL = "internal_skills_read_skill"
TASK, GENERAL = "internal_task", "general-purpose"
NEW = re.compile(r"\s+\[(session_id|Timestamp): .*\]")


@pytest.fixture(scope="module")
def harbour() -> Iterator[Harbour]:
    with serve_harbour() as served:
        yield served


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory, harbour: Harbour) -> Iterator[Core]:
    """Serve a Core in which our application type is registered as an operator does it."""
    folder: Path = tmp_path_factory.mktemp("examples")
    layer = write(folder / "content", prompt__harbour_prompt=PROMPT)
    with (
        serve_core() as core,
        serve(
            folder,
            DIAL_URL=core.url,
            ENABLE_PREVIEW_FEATURES="true",
            EXTERNAL_URL_FETCH_ENABLED="true",
            PY_INTERPRETER_URL=harbour.url,
            PREDEFINED_EXTRA_PATHS=f'["{layer}"]',
        ) as site,
    ):
        core.read(json.loads(site.manage("dial_registration")))
        yield core


class Conversation:
    """One question to an example. `asked` are its model's requests, call by call."""

    def __init__(self, core: Core, harbour: Harbour) -> None:
        self.core, self.harbour = core, harbour
        self.asked: list[Body] = []
        harbour.heard.clear()
        harbour.calls.clear()

    async def ask(self, name: str, *answers: Answer, text: str = "Please.") -> Reply:
        model = self.harbour.give(self.core)
        model.answers, self.asked = list(answers), model.asked
        document = self.harbour.reached(example(name))
        self.core.add_application(name, None, document, TYPE)
        return await self.core.call_application(name, asking(text))

    @property
    def tools(self) -> list[str]:
        """Return the names of the tools in the first model call."""
        return tools_of(self.asked[0])

    @property
    def prompt(self) -> str:
        """Return the operator's prompt, without the list of skills."""
        return system_of(self.asked[0]).partition("\n\nSkills are ")[0]

    @property
    def results(self) -> list[str]:
        """Return the results of the model's own calls, without values that differ each time."""
        return [
            NEW.sub("", message["content"])
            for message in self.asked[-1]["messages"]
            if message["role"] == "tool" and message["tool_call_id"].startswith(CALL)
        ]


@pytest.fixture
def conversation(core: Core, harbour: Harbour) -> Conversation:
    return Conversation(core, harbour)


@proves("m5")
async def test_the_smallest_tells_the_time(conversation: Conversation):
    reply = await conversation.ask("smallest", called(CLOCK, timezone="Europe/Riga"), FINE)

    assert conversation.tools == [CLOCK, READ_SKILL]
    [result] = conversation.results
    assert result.endswith("(Europe/Riga, source=argument)")
    assert statuses(reply) == {"Current time": "completed"}


@proves("m5")
async def test_rest_calls_go_out_with_path_query_header_and_body(conversation: Conversation):
    reply = await conversation.ask(
        "rest_api",
        called("berths_find_ship", ship="9/1"),
        called("berths_print_pass", visitor={"name": "Anna"}),
        FINE,
    )

    [asked, *_] = conversation.asked
    assert conversation.tools == [CLOCK, "berths_find_ship", "berths_print_pass", READ_SKILL]
    assert conversation.prompt == (
        "You help the harbour master of Ventspils.\n\nPilots come on board at the outer buoy."
    )
    assert [asked[name] for name in ("temperature", "top_p", "seed")] == [0.4, 0.9, 11]
    found, printed = conversation.harbour.heard
    assert found.target == "/v1/ships/9%2F1?columns=berth%2Cdeparture"
    assert found.told("x-harbour-key", "x-version") == {
        "x-harbour-key": "not-a-real-key",
        "x-version": "3",
    }
    assert (printed.target, json.loads(printed.body)) == (
        "/v1/passes",
        {"visitor": '{"name":"Anna"}'},
    )
    assert conversation.results[0] == '{"berth":7,"ship":"9/1"}'
    [attached] = attachments(reply)
    assert attached["type"] == "application/pdf"
    assert conversation.core.storage.items[attached["url"]].content == PASS
    assert statuses(reply) == {"Ship: 9/1": "completed", "berths · print_pass": "completed"}


@proves("m5")
async def test_deployments_answer_each_in_its_way(conversation: Conversation):
    tables = "files/harbour/tide-tables.pdf"
    reply = await conversation.ask(
        "dial_deployment",
        called("rag_search_tool", query="When?", attachment_urls=[tables]),
        called("interpreter-lv", query="Hello"),
        called("ask_weather", query="Wind?"),
        FINE,
    )

    assert conversation.prompt.startswith("You keep the harbour's papers. Today is 2")
    offered = [CONTEXTS, CLOCK, "rag_search_tool", "interpreter-lv", "ask_weather"]
    assert conversation.tools == [*offered, READ_SKILL]
    assert conversation.results == ["High at six.", "Labdien!", "Calm."]
    experts = conversation.harbour.experts
    [question] = experts["rag-tides"].asked[0]["messages"]
    assert question["custom_content"]["attachments"][0]["url"] == tables
    [told] = experts["weather-expert"].asked
    assert told["messages"][0] == {"role": "system", "content": "Two sentences at most."}
    assert (told["reasoning_effort"], told["tools"][0]["type"]) == ("minimal", "static_function")
    assert set(statuses(reply).values()) == {"completed"}


@proves("m5")
async def test_tools_come_from_servers_toolsets_and_applications(conversation: Conversation):
    reply = await conversation.ask(
        "remote_tools",
        called("Crane_desk_free_cranes", day="Monday"),
        called("read_mcp_resource", toolset="Crane desk", uri="urn:cranes:prices"),
        called("Shifts_who_works", hour=6),
        called("applications_public_customs-clerk", query="Tea?"),
        FINE,
    )

    assert conversation.tools == [
        CLOCK,
        "Crane_desk_free_cranes",
        "Crane_desk_book",
        "Shifts_who_works",
        "read_mcp_resource",
        "applications_public_customs-clerk",
        READ_SKILL,
    ]
    assert conversation.results == ["Crane 4.", "Ten an hour.", "Ilze.", "Nothing to declare."]
    assert conversation.harbour.calls == [("free_cranes", "Monday"), ("who_works", 6)]
    assert "Nobody stands below." in json.dumps(conversation.asked[0]["messages"])
    assert set(statuses(reply).values()) == {"completed"}


@proves("m5")
async def test_a_predefined_toolset_and_a_prompt_of_core_are_put_in(conversation: Conversation):
    reply = await conversation.ask(
        "predefined",
        called("web_search_tool", query="Ferry?"),
        called(INTERPRETER, title="Sum", code="1 + 1"),
        FINE,
    )

    hub = ["rag_search_tool", "image_generation_tool", "web_search_tool"]
    assert conversation.tools == [CLOCK, *hub, INTERPRETER, READ_SKILL]
    assert conversation.prompt == "You count in tonnes."
    assert conversation.results[0] == "The ferry is late."
    assert '"result": "2"' in conversation.results[1]
    assert statuses(reply) == {
        "Searching the web Ferry?": "completed",
        "Calling Python Code Interpreter Sum": "completed",
    }


@proves("m5")
async def test_features_bring_the_tools_that_were_chosen_and_a_skill_of_core(
    conversation: Conversation,
):
    reply = await conversation.ask(
        "features",
        called("internal_file_find", pattern="*"),
        called(READ_SKILL, skill_name="radio-phrases"),
        called(READ_SKILL, skill_name="radio-phrases", file_path="more.md"),
        FINE,
    )

    chosen = ["internal_file_read_lines", "internal_file_search", "internal_file_find"]
    assert conversation.tools == [*chosen, READ_SKILL]
    found, skill, file = conversation.results
    assert (found, skill) == ("(no file matches)", SKILL)
    assert file == f"Skill 'radio-phrases' has no bundled files.{OTHERWISE}"
    assert statuses(reply) == {"Reading Skill: radio-phrases": "completed"}  # the failed one


@proves("m5")
async def test_preview_features_work_together(conversation: Conversation):
    reply = await conversation.ask(
        "preview",
        called("Logbook_look_up", word="rope"),
        called("paper-reader", query="Is it complete?"),
        called(TASK, subagent_type=GENERAL, prompt="Read it.", tool_sets=["papers"]),
        [{"text": "I read it."}],  # the sub-agent, which uses the same model
        called("internal_file_write", path="note.txt", content="High at six."),
        called(ATTACH, url="note.txt"),
        called("internal_file_list", path="files/harbour/charts/"),
        called(FETCH, url=f"{conversation.harbour.url}/tides"),
        called(READ_SKILL, skill_name="mooring"),
        called(READ_SKILL, skill_name="mooring", file_path="knots.md"),
        FINE,
        text="Ropes",
    )

    book = ["Logbook_open", "Logbook_note", "Logbook_look_up"]
    assert conversation.tools == [
        *(CONTEXTS, CLOCK, "paper-reader"),
        *(*FILE_TOOLS, FETCH, ATTACH, *book, READ_SKILL, TASK),
    ]
    looked_up, read, helped, written, attached, listed, fetched, *skill = conversation.results
    assert (looked_up, read, helped) == ("rope: page 3.", "The stamp is missing.", "I read it.")
    assert written.startswith("Created note.txt (12 bytes).")
    assert attached == "'note.txt' is now an attachment of the answer."
    assert listed == "17 files/harbour/charts/north.txt"
    assert "resolves to a blocked address" in fetched  # the network around the server stays closed
    assert conversation.harbour.heard == []
    assert "<file>knots.md</file>" in skill[0]
    assert skill[1] == "A bowline."
    assert [one["title"] for one in attachments(reply)] == ["note.txt"]
    *at_first, looked, noted = conversation.harbour.calls
    assert sorted(at_first) == [("look_up", "tides"), ("open", "Ropes")]
    assert looked == ("look_up", "rope")
    assert noted == ("note", ["assistant", "tool", "assistant"], 10)


@proves("m5")
async def test_old_spellings_still_run(conversation: Conversation):
    reply = await conversation.ask(
        "deprecated", called("digest", query="All of it"), called("Shifts_who_works", hour=6), FINE
    )

    assert conversation.tools == [CLOCK, "digest", "Shifts_who_works", "Shifts_swap", READ_SKILL]
    assert conversation.results == ["In short: yes.", "Ilze."]
    assert statuses(reply) == {"Shifts · who_works": "completed"}  # the other one requests no stage


def statuses(reply: Reply) -> dict[str, str]:
    """Return the statuses by the names of the stages, without durations."""
    return {re.sub(r" \[.*s\]$", "", name): status for name, _, status in stages(reply)}
