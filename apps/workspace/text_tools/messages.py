"""Converts a conversation with tool calls to plain text, for a model without tool support."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import msgspec

from apps.agent.messages import Content, ModelMessage, ToolCall
from apps.agent.tools import ToolSpec
from apps.workspace.text_tools.calls import (
    CALL,
    RESULT,
    RESULTS,
    SEVERAL,
    escape_tags,
    escaped_json,
    escaped_result,
)

INSTRUCTIONS = f"""\
# Tools

You can call the tools below. Write a call in exactly this form, with the arguments as one JSON object:

<{CALL} name="tool_name">
{{"parameter": "value"}}
</{CALL}>

To make several calls at once, wrap them in <{SEVERAL}>…</{SEVERAL}>. End your answer after the calls: \
the results come in the next message, within <{RESULTS}>, which you never write yourself. Nothing \
within a code block is called. Answer without a call when you need no tool."""
MUST_CALL = "Your next answer has to call a tool."
ONE_CALL = "Make one call at a time."


def text_messages(
    messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], parameters: Mapping[str, Any]
) -> list[ModelMessage]:
    """Return the messages with calls and their results as text, and with the tools described in the
    system prompt. Tags in other text are escaped.
    """
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    written: list[ModelMessage] = []
    for is_result, group in groupby(messages, lambda message: message.role == "tool"):
        if is_result:
            written.append(results_message(list(group), names))
        else:
            written += [text_message(message) for message in group]
    section = tools_section(tools, parameters)
    return with_section(written, section) if section else written


def text_message(message: ModelMessage) -> ModelMessage:
    content = escaped_content(message.content)
    if not message.tool_calls:
        return replace(message, content=content)
    calls = "\n".join(map(written_call, message.tool_calls))
    if len(message.tool_calls) > 1:
        calls = f"<{SEVERAL}>\n{calls}\n</{SEVERAL}>"
    said = replace(message, content=content).text.strip()
    text = f"{said}\n\n{calls}" if said else calls
    # Thoughts before calls are sent back only with the calls, and this request contains none.
    return replace(message, content=text, tool_calls=(), thoughts=None)


def written_call(call: ToolCall) -> str:
    return f'<{CALL} name="{escape_tags(call.name)}">\n{escaped_json(call.arguments)}\n</{CALL}>'


def results_message(results: Sequence[ModelMessage], names: Mapping[str, str]) -> ModelMessage:
    """Return the results of all calls in one answer as a single user message. `names` maps call IDs
    to tool names.
    """
    parts: list[Mapping[str, Any]] = []
    for result in results:
        name = escape_tags(names.get(result.tool_call_id or "", ""))
        parts.append(text_part(f'<{RESULT} name="{name}">'))
        parts += escaped_parts(result.content, escaped_result)
        parts.append(text_part(f"</{RESULT}>"))
    parts = [text_part(f"<{RESULTS}>"), *parts, text_part(f"</{RESULTS}>")]
    attachments = tuple(one for result in results for one in result.attachments)
    return ModelMessage("user", join_contents(parts), attachments=attachments)


def escaped_content(content: Content) -> Content:
    return escape_tags(content) if isinstance(content, str) else tuple(escaped_parts(content))


def escaped_parts(
    content: Content, escape: Callable[[str], str] = escape_tags
) -> Iterator[Mapping[str, Any]]:
    parts = (text_part(content),) if isinstance(content, str) else content
    for part in parts:
        yield {**part, "text": escape(str(part["text"]))} if part.get("type") == "text" else part


def text_part(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}


def join_contents(parts: Sequence[Mapping[str, Any]]) -> Content:
    """Return the parts as one text, or unchanged if they contain anything other than text."""
    if any(part.get("type") != "text" for part in parts):
        return tuple(parts)
    return "\n".join(part["text"] for part in parts)


def tools_section(tools: Sequence[ToolSpec], parameters: Mapping[str, Any]) -> str:
    """Return the part of the system prompt that describes the tools, or "" if there are none."""
    if not tools:
        return ""
    choice = parameters.get("tool_choice")
    lines = [INSTRUCTIONS, "", *(written_tool(spec) for spec in tools)]
    if parameters.get("parallel_tool_calls") is False:
        lines += ["", ONE_CALL]
    if isinstance(choice, Mapping) and (name := (choice.get("function") or {}).get("name")):
        lines += ["", f"Your next answer has to call {name}."]
    elif choice == "required":
        lines += ["", MUST_CALL]
    return "\n".join(lines)


def written_tool(spec: ToolSpec) -> str:
    return escaped_json(msgspec.json.encode(spec.written).decode())


def with_section(messages: Sequence[ModelMessage], section: str) -> list[ModelMessage]:
    """Append the section to the system prompt. If there is none, add a system message."""
    if not messages or messages[0].role != "system":
        return [ModelMessage("system", section), *messages]
    prompt = messages[0]
    return [replace(prompt, content=f"{prompt.text}\n\n{section}"), *messages[1:]]
