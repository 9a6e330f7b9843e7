"""Streams answers from models through OpenAI's chat completions API."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import msgspec
import openai
from django.conf import settings

from apps.agent.answers.tool_calls import is_tool_name, usable_name
from apps.agent.messages import ModelMessage, to_dict
from apps.agent.model import ModelRequest
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.sdk_clients import URL, make_sdk_client
from apps.workspace.egress.transport import HttpEndpoint, StreamTransport
from apps.workspace.openai.call_ids import CallIds, call_ids_of
from apps.workspace.openai.chunks import REASONING_KEYS
from apps.workspace.openai.completions import read_completion
from apps.workspace.openai.events import CompletionEvents
from apps.workspace.services.client import AGENT, MOST_CLIENTS, ModelService, encode_body
from apps.workspace.services.model import Api, ServiceModel

THINK = "<think>"
COMPLETIONS = "chat/completions"


@dataclass(frozen=True, slots=True)
class OpenAIService(ModelService):
    """A service with OpenAI's API. The vendor's SDK determines the URL and the headers of a
    request.

    `api_key` is the bearer token, or "" if the service needs none.
    """

    api_key: str = field(default="", repr=False)

    def credentials(self) -> list[str]:
        return [*ModelService.credentials(self), self.api_key]

    def endpoint(self) -> HttpEndpoint:
        """Return the endpoint as the SDK builds it, but without reading environment variables.
        Raises the same errors as `ModelService.endpoint`.
        """
        place = URL(self.base_url)
        client = make_sdk_client(
            StreamTransport(Trust.OPERATOR), {"Accept-Encoding": "identity", "User-Agent": AGENT}
        )
        sdk = openai.AsyncOpenAI(
            base_url=place.copy_with(query=None, fragment=None),
            api_key=self.api_key,
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            http_client=client,
        )
        headers = {
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
            **sdk.auth_headers,
            **dict(self.headers),
        }
        address = sdk.base_url.join(self.path)
        request = client.build_request("POST", address, params=dict(place.params), headers=headers)
        del request.headers["content-length"]
        return HttpEndpoint.of(request.url, request.headers.raw)


def completions_api(model: str, address: str, *, dial: bool, starts_thinking: bool = False) -> Api:
    """Return the functions for the chat completions API of the service at the URL `address`. If
    `dial` is true, requests contain `custom_content`.

    If `starts_thinking` is true, the prompt already contains the opening tag of a thought.
    """
    ids = call_ids_of(address, model)
    encode = partial(encode_openai, model=model, dial=dial, ids=ids)
    events = partial(CompletionEvents, THINK) if starts_thinking else CompletionEvents
    return Api(encode, events, read_completion, has_learned=ids.has_learned)


def make_service(
    base_url: str,
    api_key: str,
    path: str = COMPLETIONS,
    *,
    dial: bool = False,
    headers: Mapping[str, str] | None = None,
) -> OpenAIService:
    """Return the service at a URL. If `dial` is true, the key is sent only in DIAL's own header,
    because DIAL rejects a request that also has a bearer token.
    """
    sent = dict(headers or {})
    if dial and api_key:
        sent["Api-Key"], api_key = api_key, ""
    return OpenAIService(base_url, path, tuple(sorted(sent.items())), api_key)


def make_openai_model(
    *,
    base_url: str,
    api_key: str,
    model: str,
    dial: bool = False,
    starts_thinking: bool = False,
    idle_seconds: float | None = None,
) -> ServiceModel[ModelService]:
    """Return a model that a service offers through the chat completions API. `base_url` ends with
    the API's version. `idle_seconds` is the read timeout, by default the tool timeout.
    """
    seconds = idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS
    return cached_model(base_url, api_key, model, dial, starts_thinking, seconds)


@lru_cache(maxsize=MOST_CLIENTS)
def cached_model(
    base_url: str, api_key: str, model: str, dial: bool, starts_thinking: bool, seconds: float
) -> ServiceModel[ModelService]:
    """Return a model with these settings. It is cached, so that runs do not rebuild it."""
    service = make_service(base_url, api_key, dial=dial)
    api = completions_api(model, base_url, dial=dial, starts_thinking=starts_thinking)
    return ServiceModel(service, model, api, seconds)


def encode_openai(
    request: ModelRequest, model: str, *, dial: bool, ids: CallIds | None = None
) -> bytes:
    """Return the JSON body of a request. `custom_content` is included only if `dial` is true, and
    `ids` determines the form of the calls' IDs.

    The request's `parameters` do not override our keys, except that `stream_options: null` omits
    this key for services that reject it. Raises `BadRequest` for text that is not Unicode.
    """
    body = dict(request.parameters)
    options = body.pop("stream_options", {})
    body["model"] = model
    names = {spec.name for spec in request.tools}
    sent = [with_usable_names(message, names) for message in request.messages]
    if ids is not None and ids.are_plain:
        sent = [ids.convert(message) for message in sent]
    messages: list[Fields] = [message_fields(message, dial=dial) for message in sent]
    has_marks = dial and request.marks_cache
    body["messages"] = marked_messages(request.messages, messages) if has_marks else messages
    body["stream"] = True
    if options is not None:
        body["stream_options"] = {"include_usage": True, **options}
    tools: list[Tool] = [*(spec.written for spec in request.tools), *request.static_tools]
    if tools:
        body["tools"] = marked_tools(tools) if has_marks else tools
    return encode_body(body)


def with_usable_names(message: ModelMessage, names: Set[str]) -> ModelMessage:
    """Return the message with the names of its calls converted to names that the API accepts. Names
    that are in `names` remain unchanged. Older messages may contain any name.
    """
    if all(call.name in names or is_tool_name(call.name) for call in message.tool_calls):
        return message
    calls = (
        call if call.name in names else replace(call, name=usable_name(call.name))
        for call in message.tool_calls
    )
    return replace(message, tool_calls=tuple(calls))


def message_fields(message: ModelMessage, *, dial: bool) -> dict[str, Any]:
    """Return the fields of a message. The state that the model returned is sent back at the top
    level, and the model's reasoning under the keys that the model used.
    """
    thoughts, own = message.thoughts, message.model_state
    if thoughts is None and not own:
        fields = to_dict(message)
    else:
        state = {**message.state, **own}
        fields = to_dict(replace(message, state=state, thoughts=None, model_state={}))
    if thoughts is not None:
        fields |= {name: thoughts.parts[name] for name in REASONING_KEYS if name in thoughts.parts}
    if not dial:
        fields.pop("custom_content", None)
    return fields


MARK: Mapping[str, Any] = {"cache_breakpoint": {}}

Fields = Mapping[str, Any]
Tool = msgspec.Raw | Fields


def marked_tools(tools: Sequence[Tool]) -> list[Tool]:
    *others, last = tools
    written = msgspec.json.decode(last) if isinstance(last, msgspec.Raw) else last
    return [*others, mark_fields(written)]


def marked_messages(messages: Sequence[ModelMessage], written: Sequence[Fields]) -> list[Fields]:
    """Return the converted messages `written`, with marks for the prompt cache. `messages` contains
    the messages before conversion.
    """
    positions = marked_positions(messages)
    return [mark_fields(one) if n in positions else one for n, one in enumerate(written)]


def marked_positions(messages: Sequence[ModelMessage]) -> set[int]:
    """Return the positions of the messages to mark for the prompt cache: the last system message,
    and the last message before the newest turn.
    """
    found: set[int] = set()
    systems = [place for place, one in enumerate(messages) if one.role == "system"]
    found.update(systems[-1:])
    spoken = [place for place, one in enumerate(messages) if one.role != "system"]
    if spoken:
        newest = messages[spoken[-1]].role == "assistant"
        before = [place for place in spoken if (messages[place].role == "assistant") != newest]
        found.update(before[-1:])
    return found


def mark_fields(fields: Fields) -> Fields:
    return {**fields, "custom_fields": {**fields.get("custom_fields", {}), **MARK}}
