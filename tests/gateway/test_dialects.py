"""Every row of the table in `docs/gateway.md`, tested directly with OpenAI's client and through
Core."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.gateway.dialects import APPLICATIONS, HELLO, ROWS, Outcome, Row, system
from tests.gateway.installation import Installation, serve_installation
from tests.tables import each_row

pytestmark = pytest.mark.timeout(240)
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "gateway.md"
HEADING = "| part of the request | direct clients | through DIAL Core |"
HEADER = "x-ignored-parameters"

EXTRAS = """
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(deployment_id="demo", display_name="Demo", provider="demo")
Application.objects.filter(slug="public").update(is_public=True)
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, from either dialect. `text` is its text, `error` the message of a refusal."""

    status: int
    ignored: str | None
    text: str = ""
    error: str = ""
    logprobs: tuple[str, ...] = ()


def ask_directly(installation: Installation, row: Row, stream: bool) -> Answer:
    """Call with OpenAI's client and a key of the site."""
    body = {name: value for name, value in row.body.items() if name != "messages"}
    with installation.client(f"deployments/{row.application}") as client:
        try:
            answer = client.chat.completions.with_raw_response.create(
                model=row.body.get("model", row.application),
                messages=row.body["messages"],
                stream=stream,
                extra_body=body,
            )
        except openai.APIStatusError as refused:
            told = refused.response.json()["error"]
            ignored = refused.response.headers.get(HEADER)
            return Answer(refused.status_code, ignored, error=told["message"])
        return read(answer.status_code, answer.headers, answer.http_response.read(), stream)


async def ask_core(installation: Installation, row: Row) -> Answer:
    reply = await installation.core.call_application(row.application, row.body, stream=False)
    if reply.status != 200:
        return Answer(reply.status, None, error=reply.json()["error"]["message"])
    return read(reply.status, reply.headers, reply.content, stream=False)


def read(status: int, headers: Mapping[str, str], content: bytes, stream: bool) -> Answer:
    if not stream:
        (choice,) = json.loads(content)["choices"]
        parts = [(choice["message"]["content"], choice.get("logprobs"))]
    else:
        events = content.decode().split("\n\n")
        data = [e.removeprefix("data: ") for e in events if e.startswith("data: {")]
        choices = [choice for event in data for choice in json.loads(event)["choices"]]
        parts = [(c["delta"].get("content"), c.get("logprobs")) for c in choices]
    tokens = [told["token"] for _, some in parts for told in (some or {}).get("content") or ()]
    text = "".join(said or "" for said, _ in parts)
    return Answer(status, headers.get(HEADER), text, logprobs=tuple(tokens))


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with serve_installation(tmp_path_factory.mktemp("usual"), APPLICATIONS) as served:
        served.site.shell(EXTRAS)
        yield served


@pytest.fixture(scope="module")
def sites(
    usual: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Installation]]:
    """Return the served sites by the `site` of a row."""
    folder, settings = tmp_path_factory.mktemp("o"), {"ALLOW_OVERRIDE_SYSTEM_MESSAGE": "true"}
    with serve_installation(folder, APPLICATIONS, **settings) as overriding:
        yield {"usual": usual, "overriding": overriding}


def without_skills(content: str) -> str:
    """Return the prompt without the part about skills."""
    before, found, rest = content.partition("\n\nSkills are")
    return before + rest.partition("</available_skills>")[2] if found else before


def check(outcome: Outcome, answer: Answer, asked: list[dict[str, Any]]) -> None:
    assert answer.status == outcome.status, answer
    assert answer.ignored == outcome.ignored
    if outcome.error:
        assert answer.error.startswith(outcome.error)
        assert asked == []
        return
    first, *_ = asked
    prompt, *messages = first["messages"]
    if outcome.messages is not None:
        assert [message for message in messages if not is_ours(message)] == outcome.messages
    if outcome.prompt is not None:
        assert without_skills(prompt["content"]) == outcome.prompt
    assert {name: found(first, name) for name in outcome.parameters} == outcome.parameters
    if outcome.choices is not None:
        assert [body.get("tool_choice") for body in asked] == outcome.choices
    if outcome.listed is not None:
        assert [names_of(body) for body in asked] == outcome.listed
    if outcome.logprobs is not None:
        assert list(answer.logprobs) == outcome.logprobs
        assert answer.text == "one two"


def is_ours(message: Mapping[str, Any]) -> bool:
    """Return True if QuickApps added the message to the conversation."""
    ids = [call["id"] for call in message.get("tool_calls", ())]
    return any(id.startswith("synth_") for id in (*ids, message.get("tool_call_id", "")))


def names_of(body: Mapping[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def found(body: Mapping[str, Any], name: str) -> Any:
    if name == "strict":
        return [tool["function"].get("strict") for tool in body["tools"]]
    return body.get(name)


def complaints(body: Mapping[str, Any]) -> list[str]:
    """Return what a strict service would refuse in a request."""
    messages = [message for message in body["messages"] if message["role"] != "system"]
    roles = [message["role"] for message in messages]
    wanted: set[str] = set()
    told = []
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            wanted.discard(message["tool_call_id"])
        elif wanted or (number and roles[number - 1] == message["role"]):
            told.append(f"message {number}")
        wanted |= {call["id"] for call in message.get("tool_calls", ())}
    if body["messages"][0]["role"] != "system" or len(roles) != len(body["messages"]) - 1:
        told.append("system messages")
    if roles[:1] != ["user"] or roles[-1] not in ("user", "tool") or wanted:
        told.append("beginning or end")
    known = set(names_of(body))
    called = {call["function"]["name"] for m in messages for call in m.get("tool_calls", ())}
    return told + (["tools"] if called and not known else [])


@pytest.mark.parametrize("stream", [False, True])
@each_row("row", ROWS)
@pytest.mark.slow("sends each request to two sites")
def test_whoever_asks_directly_gets_what_openais_api_does(row, stream, sites):
    asked = sites[row.site].upstream.asked
    asked.clear()

    answer = ask_directly(sites[row.site], row, stream)

    check(row.direct, answer, asked)
    assert [complaints(body) for body in asked if complaints(body)] == []


@each_row("row", ROWS)
async def test_whom_core_sends_gets_what_dial_promises(row, sites):
    asked = sites[row.site].upstream.asked
    asked.clear()

    answer = await ask_core(sites[row.site], row)

    check(row.core, answer, asked)


@pytest.mark.parametrize(
    ("slug", "ignored"), [("demo", "temperature"), ("nested", "max_tokens, temperature")]
)
def test_what_a_model_does_nothing_with_is_named(slug, ignored, usual):
    body = {"messages": [HELLO], "temperature": 0.5, "max_tokens": 5}
    told = Row("", body, Outcome(""), Outcome(""), slug)

    answer = ask_directly(usual, told, stream=True)

    assert (answer.status, answer.ignored) == (200, ignored)


@pytest.mark.parametrize("slug", ["demo", "nested"])
def test_log_probabilities_that_nobody_tells_are_refused(slug, usual):
    body = {"messages": [HELLO], "logprobs": True}
    told = Row("", body, Outcome(""), Outcome(""), slug)

    answer = ask_directly(usual, told, stream=False)

    assert answer.status == 400
    assert answer.error.startswith("Your request contained invalid structure on path logprobs. ")


@pytest.mark.parametrize("name", ["X-DIAL-APPLICATION-ID", "X-DIAL-CLIENT-CHANNEL-ID"])
def test_no_header_makes_a_caller_one_of_cores(name, usual):
    body = {"messages": [system("A"), HELLO, system("B")]}
    url = f"{usual.site.url}/openai/deployments/plain/chat/completions"
    headers = {"Api-Key": usual.key, name: "plain"}

    answer = httpx.post(url, json=body, headers=headers, timeout=60, trust_env=False)

    assert answer.status_code == 200


def test_a_program_on_the_same_machine_is_asking_directly(usual):
    url = f"{usual.site.url}/openai/deployments/public/chat/completions"
    body = {"messages": [HELLO, HELLO], "top_k": 1}

    answer = httpx.post(url, json=body, timeout=60, trust_env=False)

    assert (answer.status_code, answer.headers[HEADER]) == (200, "top_k")


def test_the_document_has_the_same_table():
    lines = DOCUMENT.read_text().splitlines()
    start = lines.index(HEADING) + 2
    written = lines[start : start + len(ROWS)]

    assert written == [f"| {row.sent} | {row.direct.says} | {row.core.says} |" for row in ROWS]
    assert lines[start + len(ROWS)] == ""


def test_every_row_is_told_once():
    assert len({row.sent for row in ROWS}) == len(ROWS)
