"""Logs the events of a run, without the conversation's content.

In text format, the fields follow the event's name. The JSON formatter reads them from the log
record.
"""

import logging
from collections.abc import Callable, Iterable, Set
from dataclasses import replace

from apps.agent.messages import ModelMessage, ToolCall, messages_json
from apps.agent.model import Reply
from apps.agent.tools import Toolbox

logger = logging.getLogger(__name__)

payloads = logging.getLogger("apps.payloads")
"""Logs the content of messages. It is off unless the operator enables it."""


def log_event(
    logger: logging.Logger,
    event: str,
    *,
    level: int = logging.INFO,
    traceback: BaseException | None = None,
    **fields: object,
) -> None:
    """Log an event with its fields and, if `traceback` is an error, the error's traceback."""
    if not logger.isEnabledFor(level):
        return
    text = f"{event}:"
    for name, value in fields.items():
        if isinstance(value, float):
            fields[name] = value = round(value, 3)
        text += f" {name}={value if type(value) is int else field_text(value)}"
    error = None if traceback is None else (type(traceback), traceback, traceback.__traceback__)
    # Finding the caller's line would cost more than logging, so the record is created here.
    entry = logging.LogRecord(logger.name, level, "", 0, text, (), error)
    entry.event, entry.fields = event, fields
    logger.handle(entry)


def field_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value)) or "-"
    text = str(value)
    return text if text.isprintable() and " " not in text and text else repr(text)


def log_payload(what: str, content: Callable[[], str]) -> None:
    """Log the content of messages if the operator has enabled this. Otherwise, `content` is not
    called.
    """
    if payloads.isEnabledFor(logging.DEBUG):
        payloads.debug("[payload] %s: %s", what, content())


def private_names(toolbox: Toolbox) -> frozenset[str]:
    """Return the names of the private tools, whose arguments and results only the user may see."""
    groups = (toolbox.listed, toolbox.unlisted, toolbox.hidden)
    return frozenset(n for group in groups for n, tool in group.items() if tool.is_private)


def describe_size(text: str) -> str:
    """Return the size of a private text, to log in place of the text."""
    return f"({len(text):,} characters, private)"


def without_private(messages: Iterable[ModelMessage], names: Set[str]) -> list[ModelMessage]:
    """Return the messages with the arguments and results of the tools in `names` replaced by their
    sizes.
    """
    shown, ids = [], set[str]()
    for message in messages:
        private = {call.id for call in message.tool_calls if call.name in names}
        ids |= private
        if private:
            calls = tuple(
                replace(call, arguments=describe_size(call.arguments))
                if call.id in private
                else call
                for call in message.tool_calls
            )
            message = replace(message, tool_calls=calls)
        elif message.tool_call_id in ids:
            message = replace(message, content=describe_size(message.text))
        shown.append(message)
    return shown


def log_messages(messages: Iterable[ModelMessage], private: Set[str]) -> None:
    """Log the messages that are sent to the model. `private` are the private tools of this run and
    of nested runs.
    """
    log_payload("messages for the model", lambda: messages_json(without_private(messages, private)))


def log_reply(
    reply: Reply, deployment: str, iteration: int, seconds: float, private: Set[str] = frozenset()
) -> None:
    message = reply.message
    log_event(
        logger,
        "Model call completed",
        iteration=iteration,
        deployment=deployment,
        duration=seconds,
        finish=reply.finish_reason,
        tools=[call.name for call in message.tool_calls],
        content_length=len(message.text),
        tokens=sum(one.input + one.output for one in reply.usage),
    )
    log_payload("answer of the model", lambda: messages_json(without_private([message], private)))


def log_refused_calls(
    calls: Iterable[ToolCall], known: Set[str], hidden: Set[str], static: Set[str]
) -> None:
    """Log one line for each reason why an answer's tool calls cannot be executed."""
    names = {call.name for call in calls} - known
    if found := sorted(names & hidden):
        logger.warning("The model called tools that are hidden from it: %s", found)
    if found := sorted(names & static - hidden):
        logger.warning("The model called tools that its service runs: %s", found)
    if found := sorted(names - hidden - static):
        logger.error("The model called unknown tools: %s; known: %s", found, sorted(known))
