"""The JSON body of a request to the Messages API."""

from collections.abc import Iterator, Mapping, Sequence

from apps.agent.messages import Message
from apps.agent.model import ModelRequest
from apps.agent.tools import ToolSpec
from apps.workspace.anthropic.contents import Block, message_blocks, text_block, without_blanks
from apps.workspace.anthropic.kept_blocks import THOUGHTS, answer_blocks, usable_id
from apps.workspace.anthropic.parameters import Fields, ModelTraits, write_parameters
from apps.workspace.services.request_bodies import encode_body
from apps.workspace.services.static_tools import service_tool

CACHED: Block = {"type": "ephemeral"}


def encode_request(
    request: ModelRequest, model: str, traits: ModelTraits, begun: Sequence[Block] = ()
) -> bytes:
    """The body; `begun` are the blocks of an answer that goes on.

    Messages come last, so that requests of one conversation begin with the same bytes. Raises
    `BadRequest` for text that is not Unicode.
    """
    tools = [*map(write_tool, request.tools), *map(service_tool, request.static_tools)]
    system = [text_block(m.text) for m in request.messages if m.role == "system" and m.text.strip()]
    messages = write_messages(request.messages)
    if said := without_blanks(begun):
        messages.append({"role": "assistant", "content": said})
    parameters = write_parameters(request.parameters, traits, model, has_tools=bool(tools))
    body: Fields = {"model": model, **allowed_thinking(parameters, messages), "stream": True}
    if tools:
        body["tools"] = marked(tools)
    if system:
        body["system"] = marked(system)
    body["messages"] = marked_messages(messages)
    return encode_body(body)


def write_tool(spec: ToolSpec) -> Fields:
    written: Fields = {
        "name": spec.name,
        "description": spec.description,
        "input_schema": {"type": "object", **spec.parameters},
    }
    if spec.strict is not None:
        written["strict"] = spec.strict
    return written


def write_messages(messages: Sequence[Message]) -> list[Fields]:
    """Messages of one role that follow each other are one; results of tools are the user's."""
    written: list[Fields] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = list(blocks_of(message))
        if not blocks:
            continue
        if written and written[-1]["role"] == role:
            written[-1]["content"] += blocks
        else:
            written.append({"role": role, "content": blocks})
    return written


def blocks_of(message: Message) -> Iterator[Block]:
    match message.role:
        case "assistant":
            yield from answer_blocks(message)
        case "tool":
            result: Block = {"type": "tool_result", "tool_use_id": usable_id(message.tool_call_id)}
            content = message_blocks(message)
            if content:
                result["content"] = content
            yield result
        case "user":
            yield from message_blocks(message)
        case "system":
            pass  # in front of all messages


def allowed_thinking(parameters: Fields, messages: Sequence[Fields]) -> Fields:
    """Without a budget for thinking where the turn that goes on began without a thought.

    The API refuses a budget there: another model may have called the tools, or a client.
    """
    thinking = parameters.get("thinking")
    if not isinstance(thinking, Mapping) or thinking.get("type") != "enabled":
        return parameters
    for message in reversed(messages):
        content = message["content"]
        if message["role"] == "assistant":
            if content[0]["type"] in THOUGHTS:
                continue
            return {name: value for name, value in parameters.items() if name != "thinking"}
        if content[0]["type"] != "tool_result":
            break
    return parameters


def marked_messages(messages: list[Fields]) -> list[Fields]:
    """A mark on the last block before the newest message: up to there all has been sent before."""
    if len(messages) < 2:
        return messages
    before = messages[-2]
    return [*messages[:-2], {**before, "content": marked(before["content"])}, messages[-1]]


def marked(blocks: list[Block]) -> list[Block]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": CACHED}]
