"""DIAL's code interpreter: sessions, files, results, and every kind of failure."""

import base64

import pytest

from apps.accounts.caller import Caller
from apps.agent.messages import Attachment
from tests.capabilities.interpreter.dial_interpreter import SUCCESS, answered, dial_interpreter
from tests.capabilities.interpreter.tools import Folder, attached, document, python
from tests.capabilities.interpreter.tools import answered as said
from tests.capabilities.manifests import OTHERWISE
from tests.capabilities.service import Reply
from tests.contract import proves
from tests.servers.internet import internet, ok
from tests.tables import each_row

STATE = {"py_interpreter_state": {"session_id": "session-1"}}
PNG = b"\x89PNG\r\n"
CLOSED = (
    "Python Code Interpreter session has been closed. Open a new session to work with Python Code "
    "Interpreter."
)
UNAUTHORIZED = (
    "Python Code Interpreter does not accept the user's API key. Tell the user that there is a "
    "problem with the API key; calling the tool again does not help."
)
UNREACHABLE = "Python Code Interpreter cannot be reached. Try again later."


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr("apps.capabilities.interpreter.dial.client.FIRST_PAUSE_SECONDS", 0.001)


# --- Sessions ---------------------------------------------------------------------------------


@proves("14.1")
async def test_the_first_call_opens_a_session_and_the_next_one_uses_it(settings):
    async with dial_interpreter(settings) as dial, python() as own:
        first = await own.run("1 + 1")
        await own.run("2 + 2")

    assert first == {"status": "SUCCESS", "result": "2"}
    assert dial.operations == ["open_session", "execute_code", "execute_code"]
    assert dial.bodies("execute_code") == [
        {"sessionId": "session-1", "code": "1 + 1"},
        {"sessionId": "session-1", "code": "2 + 2"},
    ]
    assert dial.keys == {"caller-key"}
    assert own.saved == STATE


@proves("14.1")
@pytest.mark.parametrize(
    "state",
    [
        STATE,
        {"py_interpreter_session_id": "session-1"},
        {"session_id": "session-1"},
        {"py_interpreter_state": {"session_id": None}, "session_id": "session-1"},
    ],
)
async def test_a_session_of_an_earlier_answer_is_checked_once_and_used(settings, state):
    async with (
        dial_interpreter(settings, sessions={"session-1": {}}) as dial,
        python(state=state) as own,
    ):
        await own.run("1")
        await own.run("2")

    assert dial.operations == ["get_session", "execute_code", "execute_code"]
    assert own.saved == STATE


@proves("14.1")
async def test_the_newest_answer_that_names_a_session_counts(settings):
    history = [
        said({"py_interpreter_state": {"session_id": "old"}}),
        said(STATE),
        said({"py_interpreter_state": {}}),
    ]
    async with (
        dial_interpreter(settings, sessions={"session-1": {}, "old": {}}) as dial,
        python(messages=history) as own,
    ):
        await own.run("1")

    assert dial.bodies("get_session") == [{"sessionId": "session-1"}]


@proves("14.1")
async def test_the_configured_session_is_used_where_there_is_no_other(settings):
    settings.PY_INTERPRETER_DEFAULT_SESSION_ID = "shared"
    async with dial_interpreter(settings, sessions={"shared": {}}) as dial, python() as own:
        await own.run("1")

    assert dial.operations == ["get_session", "execute_code"]
    assert dial.bodies("execute_code") == [{"sessionId": "shared", "code": "1"}]


@proves("14.1")
@pytest.mark.parametrize("status", [400, 404])
async def test_a_session_that_is_gone_is_replaced_silently(settings, status):
    async with (
        dial_interpreter(settings, scripted={"get_session": [Reply(status)]}) as dial,
        python(state={"py_interpreter_state": {"session_id": "gone"}}) as own,
    ):
        read = await own.run("1")

    assert read == {"status": "SUCCESS", "result": "2"}
    assert dial.operations == ["get_session", "open_session", "execute_code"]
    assert own.saved == STATE


@proves("14.1")
async def test_a_session_that_closes_meanwhile_is_told_and_then_replaced(settings):
    async with (
        dial_interpreter(settings, scripted={"execute_code": [Reply(404)]}) as dial,
        python() as own,
    ):
        first = await own.call("1")
        between = dict(own.saved)
        second = await own.run("2")

    assert first.content == CLOSED
    assert between == {}
    assert second["result"] == "2"
    assert own.saved == {"py_interpreter_state": {"session_id": "session-2"}}
    assert dial.operations == ["open_session", "execute_code"] * 2


@proves("14.1")
async def test_a_service_that_names_no_session_is_a_failure_of_the_tool(settings):
    scripted = {"open_session": [answered({"sessionId": None})]}
    async with dial_interpreter(settings, scripted=scripted), python() as own:
        result = await own.call("1")

    assert result.content == f"The tool failed unexpectedly.{OTHERWISE}"


@proves("14.1")
async def test_a_fresh_session_closes_the_old_one(settings):
    from tests.capabilities.interpreter.tools import predefined_tool

    tool = predefined_tool()
    flag = {"type": "boolean", "description": "Start anew."}
    tool["open_ai_tool"]["function"]["parameters"]["properties"]["open_session"] = flag
    async with (
        dial_interpreter(settings, scripted={"close_session": [Reply(404)]}) as dial,
        python(state=STATE, manifest=document(tool)) as own,
    ):
        await own.run("1", open_session=True)

    assert dial.operations == ["close_session", "open_session", "execute_code"]


# --- Failures ---------------------------------------------------------------------------------


@proves("14.1")
@each_row(
    ("reply", "text"),
    [
        (
            Reply(400, b"bad session"),
            (
                "There is something wrong with the state passed to Python Code Interpreter. Details: "
                "bad session"
            ),
        ),
        (
            Reply(400),
            "There is something wrong with the state passed to Python Code Interpreter. Details: "
            "none were given",
        ),
        (Reply(401, b"secret details"), UNAUTHORIZED),
        (Reply(404), CLOSED),
        (
            Reply(429),
            "There are too many Python Code Interpreter sessions. Ask the user to try again in 5 "
            "to 10 minutes.",
        ),
        (Reply(403), "Python Code Interpreter failed with status 403. Try again later."),
        (Reply(500, b"trace"), "Python Code Interpreter failed with status 500. Try again later."),
        (Reply(503), "Python Code Interpreter failed with status 503. Try again later."),
        (Reply(302), "Python Code Interpreter failed with status 302. Try again later."),
        (Reply(200), "Python Code Interpreter returned an empty response."),
        (Reply(200, b" \n"), "Python Code Interpreter returned an empty response."),
        (
            Reply(200, b"<html>"),
            "Python Code Interpreter returned a response that cannot be read.",
        ),
        (Reply(200, b"[]"), "Python Code Interpreter returned a response that cannot be read."),
        (Reply(200, b"{}", {"Content-Length": "9"}), UNREACHABLE),
    ],
)
async def test_a_failure_is_an_ordinary_result_that_says_what_to_do(settings, reply, text):
    async with (
        dial_interpreter(settings, scripted={"execute_code": [reply]}) as dial,
        python() as own,
    ):
        result = await own.call("1")

    assert (result.content, result.content_type, result.attachments) == (
        text,
        "application/json",
        (),
    )
    assert dial.operations == ["open_session", "execute_code"]


@proves("13.3", "14.1")
async def test_a_slow_answer_is_a_time_out_of_the_tool(settings):
    settings.PY_INTERPRETER_CLIENT_TIMEOUT = 1.0
    async with (
        dial_interpreter(settings, scripted={"execute_code": [None]}) as dial,
        python(manifest=document(tool_defaults={"timeout_seconds": 100})) as own,
    ):
        result = await own.call("1")
        assert dial.service is not None
        await dial.service.left.wait()

    assert result.content == (
        "Unable to execute code. The execution takes too long. The tool call "
        "`internal_code_execution_python_interpreter` timed out after 1 seconds. Consider "
        "retrying with a smaller input or a simpler request."
    )
    assert dial.operations == ["open_session", "execute_code"]


@proves("14.1")
async def test_what_may_be_asked_twice_is_repeated(settings):
    scripted: dict[str, list[Reply | None]] = {"open_session": [Reply(503), Reply(502), Reply(504)]}
    async with dial_interpreter(settings, scripted=scripted) as dial, python() as own:
        read = await own.run("1")

    assert read["result"] == "2"
    assert dial.operations == ["open_session"] * 4 + ["execute_code"]


@proves("14.1")
async def test_it_is_repeated_only_so_often(settings):
    settings.PY_INTERPRETER_CLIENT_MAX_RETRIES = 1
    scripted: dict[str, list[Reply | None]] = {"open_session": [Reply(503), Reply(503)]}
    async with dial_interpreter(settings, scripted=scripted) as dial, python() as own:
        result = await own.call("1")

    assert result.content == "Python Code Interpreter failed with status 503. Try again later."
    assert dial.operations == ["open_session"] * 2


async def test_a_service_that_is_not_there_is_told(settings):
    async with dial_interpreter(settings):
        pass
    async with python() as own:
        result = await own.call("1")

    assert result.content == UNREACHABLE


async def test_a_private_address_has_to_be_allowed(settings):
    async with dial_interpreter(settings) as dial:
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        async with python() as own:
            result = await own.call("1")

    assert "PRIVATE_NETWORK_ALLOWLIST" in result.content
    assert dial.operations == []


async def test_dial_core_itself_needs_no_leave_on_a_private_network(settings):
    async with dial_interpreter(settings) as dial, python() as own:
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        settings.DIAL_URL = settings.PY_INTERPRETER_URL.rstrip("/")

        assert await own.run("1 + 1") == {"status": "SUCCESS", "result": "2"}
    assert dial.keys == {"caller-key"}


@proves("14.1")
async def test_without_a_key_of_the_caller_nothing_is_sent(settings):
    async with dial_interpreter(settings) as dial, python(caller=Caller("user-7")) as own:
        result = await own.call("1")

    assert result.content == UNAUTHORIZED
    assert dial.operations == []


# --- Files ------------------------------------------------------------------------------------


@proves("14.1")
async def test_files_are_brought_into_the_session_once(settings):
    history = [attached("files/b/my%20sales.csv", "files/b/old.csv")]
    async with (
        dial_interpreter(settings, sessions={"session-1": {"old.csv": "files/b/old.csv"}}) as dial,
        python(state=STATE, messages=history) as own,
    ):
        await own.run("1", attachment_urls=["my sales.csv", "old.csv"])
        await own.run("2", attachment_urls=["my sales.csv"])
        await own.run("3")

    assert own.taint.sources == ["file 'my sales.csv' of another user"]
    assert dial.bodies("transfer_input_file") == [
        {
            "sessionId": "session-1",
            "sourceUrl": "files/b/my%20sales.csv",
            "targetPath": "my sales.csv",
        }
    ]
    assert dial.operations == [
        "get_session",
        "list_files",
        "transfer_input_file",
        "execute_code",
        "list_files",
        "execute_code",
        "execute_code",
    ]


@proves("14.1")
async def test_code_does_not_run_while_a_file_is_missing(settings):
    scripted: dict[str, list[Reply | None]] = {"transfer_input_file": [Reply(403)]}
    async with (
        dial_interpreter(settings, scripted=scripted) as dial,
        python(messages=[attached("files/b/a.csv", "files/b/b.csv")]) as own,
    ):
        result = await own.call("1", attachment_urls=["a.csv", "c.csv", "b.csv"])

    assert result.content == (
        "Failed to prepare input files:\n"
        "- c.csv: no matching attachment found in conversation\n"
        "- a.csv: Python Code Interpreter failed with status 403. Try again later."
    )
    assert "execute_code" not in dial.operations


@proves("14.1")
async def test_a_file_from_elsewhere_becomes_one_of_the_callers_first(settings):
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    files = Folder()
    history = [attached("http://files.example/a.csv", "http://files.example/b.csv")]
    async with (
        internet({"/a.csv": ok(b"1,2\n", content_type="text/csv")}) as net,
        dial_interpreter(settings) as dial,
        python(files, messages=history) as own,
    ):
        await own.run("1", attachment_urls=["a.csv"])
        refused = await own.call("1", attachment_urls=["b.csv"])

    assert list(files.kept.items()) == [("loaded/52186c933993da40/a.csv", (b"1,2\n", "text/csv"))]
    assert [body["sourceUrl"] for body in dial.bodies("transfer_input_file")] == [
        "files/user-7/loaded/52186c933993da40/a.csv"
    ]
    assert "- b.csv: External URL http://files.example/b.csv could not be" in refused.content
    assert all("caller-key" not in request for request in net.asked)


async def test_a_file_of_dial_goes_by_its_path_also_when_its_address_is_in_full(settings):
    settings.DIAL_URL = "http://core.example"
    history = [attached("http://core.example/v1/files/user-7/a.csv")]
    async with dial_interpreter(settings) as dial, python(messages=history) as own:
        await own.run("1", attachment_urls=["a.csv"])

    assert [body["sourceUrl"] for body in dial.bodies("transfer_input_file")] == [
        "files/user-7/a.csv"
    ]


@proves("14.1")
async def test_another_dial_gets_its_own_key_and_a_copy_of_the_files(settings):
    settings.PY_INTERPRETER_LOCAL_RUN = True
    settings.PY_INTERPRETER_API_KEY = "dev-key"
    files = Folder(**{"a%20b.csv": b"1,2\n"})
    async with (
        dial_interpreter(settings) as dial,
        python(files, messages=[attached("files/user-7/a%20b.csv")]) as own,
    ):
        await own.run("1", attachment_urls=["a b.csv"])

    assert dial.keys == {"dev-key"}
    assert dial.operations == [
        "open_session",
        "list_files",
        "GET /v1/bucket",
        "PUT /v1/files/dev/a%20b.csv",
        "transfer_input_file",
        "execute_code",
    ]
    assert dial.service is not None
    upload = dial.service.seen[3]
    assert upload.headers["content-type"].startswith("multipart/form-data")
    assert b"1,2\n" in upload.body
    assert dial.bodies("transfer_input_file")[0]["sourceUrl"] == "files/dev/a%20b.csv"


# --- Results ----------------------------------------------------------------------------------


@proves("14.1")
async def test_what_is_displayed_becomes_attachments(settings):
    answer = {
        **SUCCESS,
        "result": {"text/plain": "<Figure>", "text/html": "<b>", "image/png": "AAAA"},
        "stdout": "printed\n",
        "display": [
            {"text/plain": "first", "image/png": base64.b64encode(b"replaced").decode()},
            {
                "image/png": base64.b64encode(PNG).decode()[:8]
                + "\n"
                + base64.b64encode(PNG).decode()[8:]
            },
            {"application/vnd.plotly.v1+json": {"data": []}, "text/html": "<script>"},
            {"text/csv": "a,b\n", "image/jpeg": "not base64!"},
        ],
    }
    files = Folder()
    async with dial_interpreter(settings, answer=answer), python(files) as own:
        result = await own.call("1", display_title="Sales 2026/Q1")

    kept = {kind: content for content, kind in files.kept.values()}
    assert kept == {
        "image/png": PNG,
        "application/vnd.plotly.v1+json": b'{"data":[]}',
        "text/csv": b"a,b\n",
    }
    assert [(a.type, a.title) for a in result.attachments] == [
        ("image/png", "Sales 2026/Q1 (1)"),
        ("application/vnd.plotly.v1+json", "Sales 2026/Q1 (2)"),
        ("text/csv", "Sales 2026/Q1 (3)"),
    ]
    assert all("/" not in name for name in files.kept)
    assert [a.type for a in result.propagated] == ["image/png", "application/vnd.plotly.v1+json"]
    assert own.results == [result]
    from tests.capabilities.interpreter.tools import read

    shown = "Content will be presented as attachment"
    assert read(result) == {
        "status": "SUCCESS",
        "result": "<Figure>",
        "stdout": "printed\n",
        "display": {
            "text/plain": "first",
            "image/png": shown,
            "application/vnd.plotly.v1+json": shown,
            "text/csv": shown,
            "image/jpeg": shown,
        },
        "notes": ["The displayed image/jpeg is damaged and was left out."],
    }


@proves("14.1")
async def test_an_attachment_without_a_title_has_none(settings):
    answer = {**SUCCESS, "display": [{"text/csv": "1"}]}
    async with dial_interpreter(settings, answer=answer), python() as own:
        result = await own.call("1")

    (attachment,) = result.attachments
    assert attachment == Attachment("text/csv", "", url=attachment.url)


@proves("14.1")
async def test_code_that_fails_is_an_ordinary_result(settings):
    answer = {"status": "FAILURE", "stderr": "NameError", "result": None, "display": None}
    async with dial_interpreter(settings, answer=answer), python() as own:
        assert await own.run("x") == {"status": "FAILURE", "stderr": "NameError"}


async def test_the_description_tells_of_the_kernel(settings):
    async with dial_interpreter(settings), python() as own:
        description = own.tool.spec.description

    assert "pandas, plotly, matplotlib" in description
    assert "sandbox" not in description
