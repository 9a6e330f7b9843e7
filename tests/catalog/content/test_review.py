from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from apps.catalog.checks import content_is_usable
from apps.catalog.content.installed import installed_content
from apps.catalog.content.review import content_problems
from tests.catalog.content.files import content, write
from tests.contract import proves
from tests.manifest.documents import function, rest_tool, rest_tools

SHIP = rest_tool("ship", type="restapi-tool")


pytestmark = pytest.mark.django_db


def test_what_comes_with_the_code_is_right():
    assert content_problems(installed_content()) == []


@pytest.mark.parametrize(
    "tool",
    [
        SHIP,
        rest_tool("ship"),
        {"type": "internal-tool", "open_ai_tool": function("clock")},
        {"open_ai_tool": function("clock")},
        {"type": "deployment-tool", "open_ai_tool": function(), "deployment": {"name": "x"}},
        {"open_ai_tool": function(), "deployment": {"deployment_id": "x"}},
        {"type": "dial-deployment-simple", "deployment_id": "x"},
        {"type": "predefined-tool", "template_name": "other", "override": {"enabled": False}},
        {"template_name": "other"},
    ],
)
def test_tools_of_every_kind_are_right_by_themselves(tmp_path, tool):
    assert content_problems(content(tmp_path, tool__it=tool, tool__other=SHIP)) == []


def test_everything_that_is_wrong_is_told_with_file_and_place(tmp_path):
    found = content(
        tmp_path,
        prompt__empty="",
        tool__bad={"type": "restapi-tool", "open_ai_tool": 5},
        tool__ship=SHIP,
        toolset__harbour=rest_tools({"template_name": "shp"}, {"template_name": "ship"}),
        toolset__gone={"type": "predefined", "template_name": "harbor"},
    )

    assert [line.removeprefix(f"{tmp_path}/") for line in content_problems(found)] == [
        "prompt/empty.md: the file is empty.",
        "tool/bad.json: The predefined tool 'bad' is not valid. open_ai_tool: expected an object "
        'with "function", found the integer 5; rest_api_method_info: is missing; write an object '
        'with "method_url" and "method_type"',
        "toolset/gone.json: There is no predefined toolset 'harbor'; did you mean 'harbour'?",
        "toolset/harbour.json: tools[0]: In the predefined toolset 'harbour': "
        "There is no predefined tool 'shp'; did you mean 'ship'?",
    ]


@proves("m4.2")
def test_every_start_warns_of_broken_content(tmp_path, settings):
    settings.PREDEFINED_DIR = write(tmp_path, tool__bad=b"{")

    (found,) = content_is_usable()

    assert (found.id, found.is_serious()) == ("quickapps.W003", False)
    assert found.msg.startswith(f"{tmp_path}/tool/bad.json: Line 1, column 2: not valid JSON")


def test_the_command_lists_what_is_there(capsys, tmp_path, settings):
    settings.PREDEFINED_DIR = write(tmp_path / "1", tool__ship=SHIP)

    call_command("check_content", str(write(tmp_path / "2", prompt__polite="Be polite.")))

    assert capsys.readouterr().out == "prompt polite\ntool ship\n2 items, no problems.\n"


@proves("m4.2")
def test_the_command_fails_with_everything_that_is_wrong(tmp_path, settings):
    settings.PREDEFINED_DIR = tmp_path / "nowhere"

    with pytest.raises(CommandError) as failed:
        call_command("check_content", str(write(tmp_path / "2", prompt__empty="")))

    assert str(failed.value).splitlines() == [
        f"{tmp_path}/nowhere: the directory does not exist.",
        f"{tmp_path}/2/prompt/empty.md: the file is empty.",
    ]
