"""Code in the sandbox: its results, its variables, and the files that it reads and writes."""

import asyncio
import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.messages import Attachment, to_dict
from apps.capabilities.interpreter.sandbox.state import KEY, write_state
from tests.capabilities.interpreter.tools import CALLER, Folder, answered, attached, python, read
from tests.capabilities.manifests import ReadOnlyFiles
from tests.contract import proves
from tests.servers.internet import internet, ok
from tests.tables import each_row

GONE = "earlier calls cannot be loaded, so their variables and functions are lost"


@each_row(
    ("code", "read"),
    [
        ("1 + 1", {"result": "2"}),
        ("'x'", {"result": "'x'"}),
        ("print('a')\nprint('b')", {"stdout": "a\nb\n"}),
        ("x = 1", {}),
        ("", {}),
        ("# nothing", {}),
        ("None", {}),
        ("[i * i\n for i in\n range(4)\n]", {"result": "[0, 1, 4, 9]"}),
        ("a = 2; a * 'é'  # twice", {"result": "'éé'"}),
        ("'''a\nb'''.split()", {"result": "['a', 'b']"}),
        ("f'{1:>3}'\n\n", {"result": "'  1'"}),
        ("import math\nmath.sqrt(2)", {"result": "1.4142135623730951"}),
        ("async def f():\n    return 3\nawait f()", {"result": "3"}),
        ("class A:\n    def __repr__(self):\n        return 'an A'\nA()", {"result": "an A"}),
        ("import json\r\njson.dumps([1])", {}),
        ("repr = 7\n'still'", {"result": "'still'"}),
    ],
)
async def test_code_gives_what_it_prints_and_its_last_value(code, read):
    async with python() as own:
        assert await own.run(code) == {"status": "SUCCESS", **read}


async def test_an_error_of_the_code_is_shown_with_its_line():
    async with python() as own:
        read = await own.run("x = 1\nprint('before')\nx / 0")

    assert read["status"] == "FAILURE"
    assert read["stdout"] == "before\n"
    assert "line 3" in read["stderr"]
    assert "ZeroDivisionError: division by zero" in read["stderr"]


@pytest.mark.parametrize("name", ["TimeoutError", "MemoryError", "RecursionError"])
async def test_an_error_that_only_looks_like_a_limit_is_the_codes_own(name):
    async with python() as own:
        read = await own.run(f"x = 1\nraise {name}('mine')")
        after = await own.run("x")

    assert f"{name}: mine" in read["stderr"]
    assert "notes" not in read
    assert after["result"] == "1"


async def test_names_of_files_are_one_line_for_a_person():
    code = "open('a\\nb.csv', 'w').write('1')\nopen('c' * 300 + '.csv', 'w').write('1')\nNone"
    files = Folder()
    async with python(files) as own:
        result = await own.call(code)

    assert result.attachments[0].title == "a b.csv"
    assert all(len(attachment.title) <= 100 for attachment in result.attachments)
    assert all(name.isprintable() and len(name) < 100 for name in files.kept)


async def test_a_syntax_error_is_told():
    async with python() as own:
        read = await own.run("def f(:")

    assert read["status"] == "FAILURE"
    assert "SyntaxError" in read["stderr"]


async def test_long_values_are_cut():
    async with python() as own:
        read = await own.run("list(range(100_000))")

    assert len(read["result"]) < 20_100
    assert read["result"].endswith("… (cut)")


# --- What is kept -----------------------------------------------------------------------------


async def test_variables_and_functions_are_there_in_the_next_call():
    async with python() as own:
        await own.run("x = 20\ndef double(n):\n    return n * 2")
        failed = await own.run("y = 1\n1 / 0")
        read = await own.run("double(x) + y")

    assert failed["status"] == "FAILURE"
    assert read == {"status": "SUCCESS", "result": "41"}


@proves("14.1")
async def test_variables_are_there_in_the_next_request():
    async with python() as first:
        await first.run("x = 20")
    async with python(state=first.saved) as second:
        read = await second.run("x + 1")

    assert read == {"status": "SUCCESS", "result": "21"}
    assert len(json.dumps(first.saved)) < 2000


async def test_variables_survive_an_answer_that_ran_no_code():
    async with python() as first:
        await first.run("x = 20")
    history = [answered(first.saved), attached(), answered({"other": 1})]
    async with python(state={"other": 1}, messages=history) as second:
        read = await second.run("x")

    assert read == {"status": "SUCCESS", "result": "20"}


async def test_calls_at_the_same_time_build_on_each_other():
    async with python() as own:
        await own.run("seen = []")
        await asyncio.gather(*(own.run(f"seen.append({n})") for n in range(5)))
        read = await own.run("sorted(seen)")

    assert read["result"] == "[0, 1, 2, 3, 4]"


async def test_a_fresh_session_forgets():
    tool_with_flag = {"type": "boolean", "description": "Start anew.", "default": False}
    from tests.capabilities.interpreter.tools import document, predefined_tool

    tool = predefined_tool()
    tool["open_ai_tool"]["function"]["parameters"]["properties"]["open_session"] = tool_with_flag
    async with python(manifest=document(tool)) as own:
        await own.run("x = 20")
        read = await own.run("x", open_session=True)

    assert "NameError" in read["stderr"]


async def test_a_call_that_was_stopped_leaves_the_variables_of_the_call_before(monkeypatch):
    monkeypatch.setattr("apps.capabilities.interpreter.sandbox.workers.CODE_SECONDS", 1.0)
    async with python() as own:
        await own.run("x = 20")
        stopped = await own.run("x = 30\nwhile True: pass")
        read = await own.run("x")

    assert stopped["notes"] == ["Variables are as they were before this call."]
    assert read["result"] == "20"


async def test_variables_that_are_too_large_are_not_kept_and_the_model_is_told(monkeypatch):
    monkeypatch.setattr("apps.capabilities.interpreter.sandbox.state.MOST_BYTES", 4096)
    async with python() as own:
        await own.run("x = 1")
        large = await own.run("import random\ny = [random.random() for _ in range(20_000)]\nlen(y)")
        read = await own.run("x")

    assert large["result"] == "20000"
    assert "too large to be stored (more than 4096 bytes packed)" in large["notes"][0]
    assert "NameError" in read["stderr"]
    assert "notes" not in read


async def test_another_callers_variables_are_not_loaded():
    async with python() as first:
        await first.run("x = 20")
    async with python(state=first.saved, caller=Caller("user-8")) as second:
        read = await second.run("x")

    assert "NameError" in read["stderr"]
    assert GONE in read["notes"][0]


@proves("14.1")
@pytest.mark.parametrize("change", ["flip", "cut", "rubbish", "list", "number", "unsigned"])
async def test_variables_that_were_tampered_with_are_not_loaded(change):
    async with python() as first:
        await first.run("x = 20")
    kept = first.saved[KEY]
    text: Any = {
        "flip": "A" + kept["state"][1:] if kept["state"][0] != "A" else "B" + kept["state"][1:],
        "cut": kept["state"][:-3],
        "rubbish": "\udcff:\0",
        "list": [1, 2],
        "number": 7,
        "unsigned": base64.b64encode(b"MONTY").decode(),
    }[change]
    async with python(state={KEY: {**kept, "state": text}}) as second:
        read = await second.run("1")

    assert read["result"] == "1"
    assert GONE in read["notes"][0]


@pytest.mark.parametrize("content", [b"", b"rubbish", b"MONTY" + bytes(50)])
async def test_variables_that_the_interpreter_cannot_load_are_tried_once(content):
    async with python(state={KEY: write_state(content, CALLER)}) as own:
        first = await own.run("x = 1\nx")
        second = await own.run("x + 1")
        stopped = await own.run("'a' * 10**10")

    assert first["notes"] == [
        (
            "The state of earlier calls could not be loaded, so the interpreter started with an "
            "empty state."
        )
    ]
    assert (first["result"], second) == ("1", {"status": "SUCCESS", "result": "2"})
    assert stopped["notes"] == ["Variables are as they were before this call."]


async def test_a_stopped_call_does_not_bring_back_what_could_not_be_loaded():
    async with python(state={KEY: write_state(b"rubbish", CALLER)}) as own:
        await own.run("'a' * 10**10")

    assert own.saved == {KEY: {}}


@pytest.mark.parametrize("written", [None, {}, [], "text", 7, {"state": ""}, {"state": None}])
async def test_no_variables_are_no_mistake(written):
    async with python(state={KEY: written}) as own:
        assert await own.run("1") == {"status": "SUCCESS", "result": "1"}


async def test_variables_of_other_limits_are_not_loaded(monkeypatch):
    async with python() as first:
        await first.run("x = 20")
    monkeypatch.setattr("apps.capabilities.interpreter.sandbox.workers.MEMORY_MB", 64)
    async with python(state=first.saved) as second:
        read = await second.run("x")

    assert "NameError" in read["stderr"]
    assert read["notes"][0].startswith("The interpreter has changed since the last call")


# --- Files ------------------------------------------------------------------------------------


async def test_an_attachment_is_a_file_of_the_code():
    files = Folder(**{"sales.csv": b"a,b\n1,2\n"})
    code = "import csv, os\n[os.listdir('.'), list(csv.reader(open('sales.csv')))]"
    async with python(files, messages=[attached("files/user-7/sales.csv")]) as own:
        read = await own.run(code, attachment_urls=["sales.csv"])

    assert read["result"] == "[['sales.csv'], [['a', 'b'], ['1', '2']]]"
    assert "files" not in read
    assert files.kept == {}


@pytest.mark.parametrize(
    "wanted",
    ["files/user-7/my%20sales.csv", "my%20sales.csv", "my sales.csv", "user-7/my sales.csv"],
)
async def test_a_file_is_named_by_the_end_of_its_url(wanted):
    files = Folder(**{"my%20sales.csv": b"12"})
    async with python(files, messages=[attached("files/user-7/my%20sales.csv")]) as own:
        read = await own.run("open('my sales.csv').read()", attachment_urls=[wanted])

    assert read["result"] == "'12'"


async def test_the_newest_of_several_files_of_one_name_is_meant():
    files = Folder(**{"a/x.csv": b"old", "b/x.csv": b"new"})
    history = [attached("files/user-7/a/x.csv"), attached("files/user-7/b/x.csv")]
    async with python(files, messages=history) as own:
        newest = await own.run("open('x.csv').read()", attachment_urls=["x.csv"])
        older = await own.run("open('x.csv').read()", attachment_urls=["a/x.csv"])

    assert (newest["result"], older["result"]) == ("'new'", "'old'")


@proves("14.1")
async def test_code_does_not_run_while_a_file_is_missing():
    history = [
        attached("files/user-7/gone.csv", "files/user-7/a/x.csv", "files/user-7/b/x.csv"),
        replace(attached(), attachments=(Attachment(data="inline", title="inline.csv"),)),
    ]
    wanted = ["gone.csv", "other.csv", "inline.csv", "a/x.csv", "b/x.csv", "files/user-7/", ".."]
    async with python(Folder(**{"a/x.csv": b"1"}), messages=history) as own:
        result = await own.call("print('ran')", attachment_urls=wanted)

    assert result.content == (
        "Failed to prepare input files:\n- other.csv: no matching attachment found in "
        "conversation\n- inline.csv: no matching attachment found in conversation\n- x.csv: "
        "two of the files have this name; use one of them at a time\n- 'files/user-7/': no "
        "matching attachment found in conversation\n- '..': no matching attachment found in "
        "conversation\n- gone.csv: The file 'files/user-7/gone.csv' does not exist, or you have no access."
    )
    assert result.content_type == "application/json"
    assert own.saved == {}


async def test_a_file_that_is_too_large_is_not_loaded(settings):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 10
    files = Folder(**{"x.csv": b"x" * 11})
    async with python(files, messages=[attached("files/user-7/x.csv")]) as own:
        result = await own.call("1", attachment_urls=["x.csv"])

    assert "- x.csv: The file is 11 bytes; the limit is 10." in result.content


async def test_an_attachment_from_the_internet_is_fetched_under_guard(settings):
    history = [attached("http://files.example/a%201.csv", "http://127.0.0.1/b.csv")]
    async with internet({"/a%201.csv": ok(b"1,2")}), python(messages=history) as own:
        off = await own.call("1", attachment_urls=["a%201.csv"])
        settings.EXTERNAL_URL_FETCH_ENABLED = True
        read = await own.run("open('a 1.csv').read()", attachment_urls=["file:url::a%201.csv"])
        refused = await own.call("1", attachment_urls=["b.csv"])

    assert "- a 1.csv: External URL fetching is disabled by operator policy" in off.content
    assert read["result"] == "'1,2'"
    assert "- b.csv: External URL http://127.0.0.1/b.csv resolves to a blocked" in refused.content


async def test_files_that_the_code_writes_become_attachments():
    code = (
        "import json, os\n"
        "os.mkdir('out')\n"
        "with open('out/table.csv', 'w') as f:\n"
        "    for n in range(3): f.write(f'{n}\\n')\n"
        "open('chart.plotly.json', 'w').write(json.dumps({'data': [], 'layout': {}}))\n"
        "open('page.html', 'w').write('<script>')\n"
        "open('empty.csv', 'w').write('')\n"
        "None"
    )
    files = Folder()
    async with python(files) as own:
        result = await own.call(code)
        read = await own.run("import os\nos.listdir('.')")

    contents = {kind: content for content, kind in files.kept.values()}
    assert contents == {
        "text/csv": b"0\n1\n2\n",
        "application/vnd.plotly.v1+json": b'{"data": [], "layout": {}}',
    }
    assert [(a.type, a.title) for a in result.attachments] == [
        ("application/vnd.plotly.v1+json", "chart.plotly.json"),
        ("text/csv", "table.csv"),
    ]
    assert [a.url for a in result.attachments] == [f"files/user-7/{name}" for name in files.kept]
    assert [a.title for a in result.propagated] == ["chart.plotly.json"]
    assert "Files of other kinds are not stored: page.html." in result.content
    assert read["result"] == "[]"


async def test_a_read_only_folder_of_files_does_not_cost_the_result_of_the_code():
    async with python(ReadOnlyFiles()) as own:
        result = await own.call("open('a.csv', 'w').write('1')\n6 * 7")

    assert (result.failure, result.attachments) == (None, ())
    assert read(result) == {
        "status": "SUCCESS",
        "result": "42",
        "files": {"a.csv": "Content will be presented as attachment"},
        "notes": ["a.csv could not be stored: The service can’t store files right now."],
    }


async def test_attachments_get_the_title_that_the_model_chose():
    code = "for n in range(2): open(f'{n}.csv', 'w').write('1')"
    async with python() as own:
        several = await own.call(code, display_title="Sales")
        one = await own.call("open('../data/1.csv', 'w').write('1')", display_title="Sales")

    assert [a.title for a in several.attachments] == ["Sales (1)", "Sales (2)"]
    assert [a.title for a in one.attachments] == ["Sales"]


@proves("14.1")
async def test_without_an_owner_of_files_an_attachment_travels_in_the_answer():
    async with python(caller=Caller("")) as own:
        result = await own.call("open('a.png', 'wb').write(b'\\x89PNG')")

    assert result.attachments == (Attachment("image/png", "a.png", data="iVBORw=="),)


async def test_a_file_that_cannot_be_kept_is_told_and_the_result_stays():
    from apps.errors import FileRefused

    class Full(Folder):
        async def keep(self, name: str, content: bytes, content_type: str) -> Any:
            raise FileRefused("The storage is full.")

    async with python(Full()) as own:
        read = await own.run("open('a.csv', 'w').write('1')\n5")

    assert (read["result"], read["notes"]) == (
        "5",
        ["a.csv could not be stored: The storage is full."],
    )


async def test_the_state_is_plain_json():
    async with python() as own:
        await own.run("x = {'a': {1, 2}, 'b': b'3'}")

    assert (
        json.loads(json.dumps(to_dict(answered(own.saved))))["custom_content"]["state"] == own.saved
    )
    assert CALLER.credentials.api_key not in json.dumps(own.saved)
