"""Hostile URLs, through everything with which a model can fetch a URL."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from apps.accounts.caller import Credentials
from apps.agent.tools import Tool
from apps.capabilities.a2a_agents.capability import a2a_agents
from apps.capabilities.documents.capability import documents
from apps.capabilities.interpreter.capability import interpreter
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.registry import Capability, Opening
from apps.capabilities.rest.capability import rest
from apps.capabilities.web.capability import web
from apps.errors import InvalidParameter
from apps.manifest.manifest import Manifest
from apps.workspace.loading.shared_loads import Loading, rules_of
from apps.workspace.local.workspace import LocalWorkspace
from tests.capabilities.a2a_agents.agents import document as agent_document
from tests.capabilities.a2a_agents.agents import scripted
from tests.capabilities.deployment.scripts import ECHO, echo, one_tool, written
from tests.capabilities.deployment.scripts import use as ask
from tests.capabilities.interpreter.dial_interpreter import dial_interpreter
from tests.capabilities.interpreter.tools import attached, document
from tests.capabilities.manifests import CALLER, manifest, parameter, tool, tool_set
from tests.capabilities.mcp.servers import over_http, serving_apart
from tests.capabilities.service import Reply, serving
from tests.servers.hostile_urls import LIMIT, PROMPT, SECONDS, SLOW, Hostile, Tell, hostile_internet
from tests.servers.hostile_urls import problems as problems_of

pytestmark = pytest.mark.django_db

WITH_KEY = replace(CALLER, credentials=Credentials(api_key="caller-key"))

Consumer = Callable[[Any, float], AbstractAsyncContextManager[Tell]]
"""Fetches URLs for a tool that must fail, with that many seconds for each."""


@pytest.fixture(autouse=True)
def _switched_on(settings: Any) -> None:
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]


def rules(seconds: float) -> dict[str, Any]:
    return {
        "features": {"file_loading": {"size_limit": LIMIT}},
        "tool_defaults": {"timeout_seconds": seconds},
    }


@asynccontextmanager
async def only_tool(capability: Capability, given: Manifest) -> AsyncIterator[Tool]:
    opener = capability.prepare(given)
    assert opener is not None
    loading = Loading(rules_of(given))
    opening = Opening(LocalWorkspace(WITH_KEY), WITH_KEY, lambda event: None, loading=loading)
    async with opener(opening) as contribution:
        (found,) = contribution.tools
        yield found


async def refused(work: Awaitable[Any]) -> str:
    with pytest.raises(InvalidParameter) as error:
        await work
    return str(error.value)


@asynccontextmanager
async def rest_tool(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    properties = {"x": parameter("body", "x")}
    async with serving(Reply(200)) as service:
        given = manifest(tool_set(tool(f"{service.url}/a", "post", properties)), **rules(seconds))
        async with only_tool(rest, given) as found:
            yield lambda url: refused(ask(found, x=f"file:base64::{url}"))
    assert service.seen == []


@asynccontextmanager
async def mcp_tool(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    with serving_apart("http") as server:
        given = manifest(over_http(server, allowed_tools=["add"]), **rules(seconds))
        async with only_tool(mcp, given) as found:
            yield lambda url: refused(ask(found, a=f"file:data::{url}"))


@asynccontextmanager
async def deployment_query(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    workspace, model = echo()
    async with one_tool(workspace, written(), **rules(seconds)) as found:
        yield lambda url: refused(ask(found, query=f"file:text::{url}"))
    assert model.asked == []


@asynccontextmanager
async def deployment_files(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    workspace, model = echo()
    async with one_tool(workspace, written(), **rules(seconds)) as found:
        yield lambda url: refused(ask(found, query="Look", attachment_urls=[f"file:url::{url}"]))
    assert model.asked == []


@asynccontextmanager
async def deployment_data(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    workspace, model = echo(info=replace(ECHO, files="data"))
    async with one_tool(workspace, written(), **rules(seconds)) as found:
        yield lambda url: refused(ask(found, query="Look", attachment_urls=[url]))
    assert model.asked == []


@asynccontextmanager
async def agent_files(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    async with scripted() as agent:
        given = agent_document(agent.url, manifest=rules(seconds))
        async with only_tool(a2a_agents, given) as found:
            yield lambda url: refused(ask(found, query="Look", attachment_urls=[url]))
    assert agent.asked == []


@asynccontextmanager
async def interpreter_code(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    async with only_tool(interpreter, document(**rules(seconds))) as found:
        yield lambda url: refused(ask(found, title="t", code=f"file:text::{url}"))


def with_input(found: Tool) -> Tell:
    """Attach to the conversation what the call names."""

    async def tell(url: str) -> str:
        # without a name, it is not an input file
        named = f"{url}a.csv" if url.endswith("/") else url
        history = [attached(named)]
        result = await ask(found, messages=history, title="t", code="1", attachment_urls=[named])
        assert "SUCCESS" not in result.content
        return result.content

    return tell


@asynccontextmanager
async def sandbox_inputs(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    async with only_tool(interpreter, document(**rules(seconds))) as found:
        yield with_input(found)


@asynccontextmanager
async def dial_interpreter_inputs(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    async with (
        dial_interpreter(settings) as dial,
        only_tool(interpreter, document(**rules(seconds))) as found,
    ):
        yield with_input(found)
    assert {"execute_code", "transfer_input_file"}.isdisjoint(dial.operations)


@asynccontextmanager
async def with_web(seconds: float, **arguments: Any) -> AsyncIterator[Tell]:
    given = rules(seconds)
    given["features"] = {**given["features"], "web_fetch": {"enabled": True}}
    async with only_tool(web, manifest(**given)) as found:
        yield lambda url: refused(ask(found, url=url, **arguments))
    home = await LocalWorkspace(WITH_KEY).files.list("files/user-7", is_deep=True)
    assert home == []


@asynccontextmanager
async def web_page(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    async with with_web(seconds) as tell:
        yield tell


@asynccontextmanager
async def web_file(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    async with with_web(seconds, save_path="a.bin") as tell:
        yield tell


@asynccontextmanager
async def with_documents(seconds: float, tool: str, **arguments: Any) -> AsyncIterator[Tell]:
    given = rules(seconds)
    given["features"] = {**given["features"], "documents": {"enabled": True}}
    document = manifest(**given)
    opener = documents.prepare(document)
    assert opener is not None
    loading = Loading(rules_of(document))
    opening = Opening(LocalWorkspace(WITH_KEY), WITH_KEY, lambda event: None, loading=loading)
    async with opener(opening) as contribution:
        found = next(one for one in contribution.tools if one.spec.name == tool)
        yield lambda url: refused(ask(found, file_url=url, **arguments))


@asynccontextmanager
async def document_text(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    async with with_documents(seconds, "file_content_extraction_tool") as tell:
        yield tell


@asynccontextmanager
async def document_answer(settings: Any, seconds: float) -> AsyncIterator[Tell]:
    async with with_documents(seconds, "rag_tool", request="?") as tell:
        yield tell


REFERENCES: Sequence[Consumer] = (rest_tool, mcp_tool, deployment_query, interpreter_code)
OTHERS: Sequence[Consumer] = (
    web_page,
    web_file,
    deployment_files,
    deployment_data,
    agent_files,
    sandbox_inputs,
    dial_interpreter_inputs,
    document_text,
    document_answer,
)


def each_or_two(consumers: Sequence[Consumer]) -> list[Any]:
    """Return one URL of each kind by default; `make check` tries all of them."""
    always = (rest_tool, web_page)
    return [
        one if one in always else pytest.param(one, marks=pytest.mark.full) for one in consumers
    ]


def is_reference(url: Hostile) -> bool:
    """Return True for a reference. A text of several lines is not one and stays unchanged."""
    return "\n" not in url.url


@pytest.mark.parametrize("consumer", each_or_two([*REFERENCES, *OTHERS]))
async def test_nothing_hostile_is_fetched_for_anybody(settings, consumer):
    urls = PROMPT if consumer in OTHERS else [url for url in PROMPT if is_reference(url)]

    async with hostile_internet() as net, consumer(settings, 30) as tell:
        assert await problems_of(net, urls, tell) == {}


@pytest.mark.parametrize(
    "consumer", each_or_two([rest_tool, deployment_query, interpreter_code, *OTHERS])
)
async def test_nobody_waits_for_what_never_ends(settings, consumer):
    async with hostile_internet() as net, consumer(settings, SECONDS) as tell:
        assert await problems_of(net, SLOW, tell) == {}
