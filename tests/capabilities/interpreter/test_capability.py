"""The interpreter tool: its availability, its results and its stages."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings as site
from pydantic import TypeAdapter

from apps.agent.events import Event, StageClosed, StageDelta, StageOpened
from apps.capabilities.interpreter.capability import interpreter
from apps.capabilities.interpreter.sandbox.advice import MODULES
from apps.errors import InvalidParameter
from apps.manifest.kinds.internal import InternalToolSet
from apps.manifest.parts import parts_in_use
from apps.manifest.toolsets.kinds import ToolSet
from apps.manifest.toolsets.tools import AnyInternalTool, InternalTool, PredefinedTool
from tests.capabilities.interpreter.tools import document, predefined_tool, python
from tests.capabilities.manifests import manifest, stage_text, timeless
from tests.contract import proves
from tests.tables import each_row

PREDEFINED = Path(site.BASE_DIR) / "predefined"


@proves("14.1")
def test_the_predefined_tool_is_a_tool_of_a_manifest():
    tool: object = TypeAdapter(AnyInternalTool).validate_python(predefined_tool())

    assert isinstance(tool, InternalTool)
    function = tool.open_ai_tool.function
    assert function.name == "internal_code_execution_python_interpreter"
    assert list(function.parameters.properties) == [
        "title",
        "code",
        "display_title",
        "attachment_urls",
        "data_sample_config",
    ]
    assert function.parameters.required == ("title", "code")
    assert tool.attachment.supported_types == ("*/*",)
    assert tool.attachment.propagate_types_to_choice == (
        "image/png",
        "image/jpeg",
        "application/vnd.plotly.v1+json",
    )


def test_the_predefined_toolset_names_the_tool():
    written = json.loads((PREDEFINED / "toolset" / "py_interpreter.json").read_text("utf-8"))
    toolset: object = TypeAdapter(ToolSet).validate_python(written)

    assert isinstance(toolset, InternalToolSet)
    assert toolset.name == "internal-tool-set"
    (tool,) = toolset.tools
    assert isinstance(tool, PredefinedTool)
    assert tool.template_name == "py_interpreter"


@proves("14.1")
def test_it_is_there_only_where_a_manifest_asks_for_it():
    assert interpreter.prepare(manifest()) is None
    assert interpreter.prepare(document({**predefined_tool(), "enabled": False})) is None
    assert interpreter.prepare(document()) is not None
    assert {part.name for part in parts_in_use(document())} >= interpreter.serves


async def test_the_description_tells_what_there_is():
    async with python() as own:
        description = own.tool.spec.description

    assert "json, math" in description
    assert "no numpy, pandas, matplotlib" in description
    assert "10 seconds and 128 MB" in description


@pytest.mark.parametrize("module", re.findall(r"\w+", MODULES.replace(" (files only)", "")))
async def test_a_module_that_the_description_names_is_there(module):
    async with python() as own:
        assert await own.run(f"import {module}") == {"status": "SUCCESS"}


@each_row(
    "code",
    [
        "import numpy",
        "import pandas",
        "import matplotlib",
        "import statistics",
        "import io",
        "import heapq",
        "import enum",
        "def f():\n    yield 1\nf()",
        "x = 1\ndel x",
        "class A: pass\nclass B(A): pass",
        "class A:\n    @staticmethod\n    def f(): pass",
        "class A:\n    @classmethod\n    def f(cls): pass",
        "super",
        "try:\n    pass\nexcept* ValueError:\n    pass",
        "from math import *",
        *("input", "globals", "dir", "vars", "callable", "bytearray", "issubclass"),
    ],
)
async def test_what_the_description_says_is_missing_is_missing(code):
    async with python() as own:
        assert (await own.run(code))["status"] == "FAILURE"


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("[n for n in map(lambda n: n * 2, range(3))]", "[0, 2, 4]"),
        ("class A:\n    def __init__(self):\n        self.n = 3\nA().n", "3"),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(3)", "P(x=3)"),
        ("match (1, 2):\n    case (1, n):\n        m = n\nm", "2"),
        ("eval('1 + 1')", "2"),
    ],
)
async def test_what_the_description_says_is_available_works(code, result):
    async with python() as own:
        assert await own.run(code) == {"status": "SUCCESS", "result": result}


@proves("10.1", "14.1")
async def test_a_call_is_shown_with_its_title_its_code_and_its_result():
    events: list[Event] = []
    async with python() as own:
        await own.call("1 + 1", events.append, title="Add two numbers")

    result = '{\n  "status": "SUCCESS",\n  "result": "2",\n  "stdout": "",\n  "stderr": "",\n  "display": {}\n}'
    assert timeless(events) == [
        StageOpened("call-1", "Calling Python Code Interpreter Add two numbers"),
        StageDelta("call-1", "> #### Request:\n\r\n```python\n1 + 1\n```\n\n\r"),
        StageDelta("call-1", f"> #### Response:\n\n```json\n{result}\n```\n"),
        StageClosed("call-1", 0.0),
    ]


@proves("14.1")
async def test_a_long_title_is_cut_after_seven_words():
    events: list[Event] = []
    async with python() as own:
        await own.call("1", events.append, title="a b c d e f g h i")

    assert events[0] == StageOpened("call-1", "Calling Python Code Interpreter a b c d e f g…")


@proves("14.1")
async def test_a_tool_without_displays_shows_the_code_all_the_same():
    tool = predefined_tool()
    for parameter in tool["open_ai_tool"]["function"]["parameters"]["properties"].values():
        parameter.pop("display")
    events: list[Event] = []

    async with python(manifest=document(tool)) as own:
        await own.call("1", events.append, title="Count")

    assert events[0] == StageOpened("call-1", "Calling Python Code Interpreter Count")
    assert "```python\n1\n```" in stage_text(events)
    assert "title" not in stage_text(events)


@each_row(
    ("arguments", "parameter"),
    [
        ({"code": 7}, "code"),
        ({"code": "'\ud800'"}, "code"),
        ({"code": "x" * 64_001}, "code"),
        ({"attachment_urls": "a.csv"}, "attachment_urls"),
        ({"attachment_urls": ["a.csv"] * 21}, "attachment_urls"),
        ({"data_sample_config": {"page": -1}}, "data_sample_config.page"),
        ({"data_sample_config": {"page_size": 0}}, "data_sample_config.page_size"),
        ({"title": None}, "title"),
    ],
)
async def test_a_wrong_argument_is_named(arguments, parameter):
    async with python() as own:
        with pytest.raises(InvalidParameter) as error:
            await own.call(**{"code": "1", **arguments})

    assert error.value.parameter == parameter


@proves("14.1")
@pytest.mark.parametrize(
    ("sample", "result", "stdout"),
    [
        (None, "'abcdefgh'", "01234567\n"),
        ({"sample_data": False, "page_size": 4}, "'abcdefgh'", "01234567\n"),
        ({}, "'abcdefgh'\n[Page 1 of 1]", "01234567\n\n[Page 1 of 1]"),
        (
            {"page_size": 4},
            "'abc\n[Page 1 of 3] Use page=1 to see more.",
            "0123\n[Page 1 of 3] Use page=1 to see more.",
        ),
        (
            {"page_size": 4, "page": 1},
            "defg\n[Page 2 of 3] Use page=2 to see more.",
            "4567\n[Page 2 of 3] Use page=2 to see more.",
        ),
        ({"page_size": 4, "page": 99}, "h'\n[Page 3 of 3]", "\n\n[Page 3 of 3]"),
    ],
)
async def test_long_output_is_read_page_by_page(sample, result, stdout):
    async with python() as own:
        read = await own.run("print('01234567')\n'abcdefgh'", data_sample_config=sample)

    assert (read["result"], read["stdout"]) == (result, stdout)


@proves("13.3", "R-13")
async def test_the_time_of_the_application_stops_a_call():
    async with python(manifest=document(tool_defaults={"timeout_seconds": 0.3})) as own:
        result = await own.call("while True: pass")

    assert result.content == (
        "Unable to execute code. The execution takes too long. The tool call "
        "`internal_code_execution_python_interpreter` timed out after 0.3 seconds. Consider "
        "retrying with a smaller input or a simpler request."
    )
