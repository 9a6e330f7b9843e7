"""The two dialects side by side: requests and their effects.

`docs/gateway.md` has the same rows, and each of them is tested in both dialects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.catalog.rows import manifest_with

OWN_TOOL = "internal_skills_read_skill"
"""A tool that every application has."""
PROMPT = "Repeat."
BEGIN = {"role": "user", "content": "Begin."}
CONTINUE = {
    "role": "user",
    "content": "Continue your last message from exactly where it ends.",
}
SAMPLING = {
    "temperature": 0.5,
    "top_p": 0.9,
    "max_completion_tokens": 50,
    "stop": ["END"],
    "seed": 7,
    "presence_penalty": 0.25,
    "frequency_penalty": -0.25,
    "logit_bias": {"50256": -100.0},
    "reasoning_effort": "low",
    "verbosity": "low",
    "prediction": {"type": "content", "content": "one"},
}
IDENTIFYING = {"metadata": {"ticket": "7"}, "service_tier": "priority", "user": "u-1"}
FORMAT = {"type": "json_object"}


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **fields}


def system(content: Any, role: str = "system") -> dict[str, Any]:
    return {"role": role, "content": content}


def assistant(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


def tool(name: str, **function: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "parameters": schema, **function}}


def call(call_id: str, name: str) -> dict[str, Any]:
    function = {"name": name, "arguments": '{"city":"Oslo"}'}
    return {"id": call_id, "type": "function", "function": function}


def allowed_tools(mode: str, *tools: dict[str, Any]) -> dict[str, Any]:
    named = [{"type": "function", "function": {"name": one["function"]["name"]}} for one in tools]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": named}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return assistant(None, tool_calls=list(calls))


def result(call_id: str, content: str = "2 degrees") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@dataclass(frozen=True)
class Outcome:
    """`says` is the cell of the table. `error` is the message of a refusal, or its beginning. For
    an answer, `ignored` is the header, `prompt` the first prompt without the skills, `messages`
    what follows the prompt, `parameters` some of the first request's (None: absent), and `choices`
    and `listed` the `tool_choice` and the tools of each request."""

    says: str
    status: int = 200
    error: str = ""
    ignored: str | None = None
    prompt: str | None = None
    messages: Sequence[Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    choices: Sequence[Any] | None = None
    listed: Sequence[Sequence[str]] | None = None
    logprobs: Sequence[str] | None = None


@dataclass(frozen=True)
class Row:
    """A row. `application` is one of `APPLICATIONS`; `site` are settings of the installation."""

    sent: str
    body: Mapping[str, Any]
    direct: Outcome
    core: Outcome
    application: str = "plain"
    site: Literal["usual", "overriding"] = "usual"


def manifest(
    parameters: Mapping[str, Any] | None = None, model: str = "upstream", **orchestrator: Any
) -> dict[str, Any]:
    return manifest_with(
        orchestrator={
            "deployment": {"deployment_id": model, "parameters": parameters or {}},
            "system_prompt": {"type": "custom", "content": PROMPT, "variables": {}},
            **orchestrator,
        },
        features=None,
    )


APPLICATIONS = {
    "plain": manifest(),
    "silent": manifest(client={"system_messages": False}),
    "fixed": manifest({"temperature": 0.0, "max_tokens": 100}),
    "public": manifest(),
    "demo": manifest(model="demo"),
    "nested": manifest(model="plain"),
    "open": manifest(client={"metadata": True, "service_tier": True, "user": True}),
}
HELLO = user("one two")
WEATHER, NEWS = tool("weather"), tool("news")
CUSTOM = {"type": "custom", "custom": {"name": "patch", "description": "Applies a patch."}}
ORDER = "Invalid messages array"
"""The only text that Core's callers read in `message`; the reasons are in `display_message`."""
SKIPPED = "skipped"


def refused(says: str, error: str, status: int = 400) -> Outcome:
    return Outcome(says, status, error)


def out_of_order(rule: str) -> Outcome:
    return refused(f"400: {rule}", ORDER)


def unsupported(name: str, body: Mapping[str, Any]) -> Row:
    return Row(
        f"`{name}`",
        {"messages": [HELLO], **body},
        refused("400", f"Your request contained invalid structure on path {name.split(':')[0]}. "),
        Outcome(SKIPPED, parameters={name: None}),
    )


MESSAGES = (
    Row(
        "a `system` or `developer` message",
        {"messages": [system("Be kind.", "developer"), HELLO]},
        Outcome("added after the operator's prompt", prompt=f"{PROMPT}\n\nBe kind.", messages=[HELLO]),
        Outcome("dropped", prompt=PROMPT, messages=[HELLO]),
    ),
    Row(
        "several `system` or `developer` messages, at any position",
        {"messages": [system("A"), HELLO, assistant("Hi"), system([{"type": "text", "text": "B"}], "developer"), user("three")]},
        Outcome("all are added", prompt=f"{PROMPT}\n\nA\n\nB", messages=[HELLO, assistant("Hi"), user("three")]),
        out_of_order("only the first message may be a system message"),
    ),
    Row(
        "a `system` or `developer` message, if `orchestrator.client.system_messages` is `false`",
        {"messages": [system("Be kind."), HELLO]},
        refused("400", "Your request contained invalid structure on path messages.0.role. This application does not accept instructions from clients (orchestrator.client.system_messages). Leave them out."),
        Outcome("dropped", prompt=PROMPT, messages=[HELLO]),
        application="silent",
    ),
    Row(
        "a `system` or `developer` message, if the installation sets `ALLOW_OVERRIDE_SYSTEM_MESSAGE`",
        {"messages": [system("Be kind."), HELLO]},
        Outcome("replaces the operator's prompt", prompt="Be kind.", messages=[HELLO]),
        Outcome("replaces the operator's prompt", prompt="Be kind.", messages=[HELLO]),
        site="overriding",
    ),
    Row(
        "only a `system` message",
        {"messages": [system("Say one two.")]},
        Outcome("a user message \"Begin.\" is added", prompt=f"{PROMPT}\n\nSay one two.", messages=[BEGIN]),
        out_of_order("a user message is missing"),
    ),
    Row(
        "no message",
        {"messages": []},
        refused("400", "Invalid messages array:\n- Messages array must not be empty."),
        out_of_order("a message is missing"),
    ),
    Row(
        "consecutive user messages",
        {"messages": [user("one", name="Ann"), user([{"type": "text", "text": "two"}], name="Ann"), assistant("Hi"), user("three", name="Ann"), user("four", name="Bob")]},
        Outcome(
            "merged. If they have different `name`s, the names become part of the text",
            messages=[
                user([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], name="Ann"),
                assistant("Hi"),
                user("Ann: three\n\nBob: four"),
            ],
        ),
        out_of_order("user and assistant messages must alternate"),
    ),
    Row(
        "consecutive assistant messages",
        {"messages": [HELLO, assistant("Hi"), assistant(None, refusal="No"), user("three")]},
        Outcome("merged", messages=[HELLO, assistant("Hi\n\nNo"), user("three")]),
        out_of_order("user and assistant messages must alternate"),
    ),
    Row(
        "a conversation that begins with an assistant message",
        {"messages": [assistant("Hi"), HELLO]},
        Outcome("a user message \"Begin.\" is added before it", messages=[BEGIN, assistant("Hi"), HELLO]),
        out_of_order("a user message must come first"),
    ),
    Row(
        "a conversation that ends with an assistant message",
        {"messages": [HELLO, assistant("one")]},
        Outcome("a user message that asks the model to continue is added", messages=[HELLO, assistant("one"), CONTINUE]),
        out_of_order("a user or tool message must come last"),
    ),
    Row(
        "tool calls without results",
        {"messages": [HELLO, calling(call("1", "weather"), call("2", "news")), result("2"), user("three")], "tools": [WEATHER, NEWS]},
        Outcome(
            "for each of these calls, a result is added, stating that the real result is missing",
            messages=[
                HELLO,
                {"role": "assistant", "content": "", "tool_calls": [call("1", "weather"), call("2", "news")]},
                result("2"),
                result("1", "No result was sent for this call."),
                user("three"),
            ],
        ),
        refused("400", "Missing tool results"),
    ),
    Row(
        "calls and results of tools that are not in `tools`",
        {"messages": [HELLO, calling(call("1", "weather"), call("2", "news")), result("1"), assistant("Cold"), user("three")]},
        Outcome(
            "converted to text in a user message",
            messages=[
                user('one two\n\n[Result of the tool call weather({"city":"Oslo"})]\n2 degrees\n\n[The tool call news({"city":"Oslo"}) has no result.]'),
                assistant("Cold"),
                user("three"),
            ],
        ),
        out_of_order("only results of tools in `tools` are allowed"),
    ),
    Row(
        "a `tool` message for a tool of the application",
        {"messages": [HELLO, calling(call("1", OWN_TOOL)), result("1"), user("three")], "tools": [WEATHER]},
        refused("400", f"The messages contain results from the application's internal tools '{OWN_TOOL}'."),
        out_of_order("only results of tools in `tools` are allowed"),
    ),
    Row(
        "a `tool` message without a matching earlier call",
        {"messages": [HELLO, result("1")], "tools": [WEATHER]},
        refused("400", "Invalid messages array:\n- Message at index 1: tool_call_id '1' does not match any tool call in the preceding assistant message."),
        out_of_order("a tool message must follow the call that it answers"),
    ),
    Row(
        "`name` of a message",
        {"messages": [user("one", name="Ann")]},
        Outcome("forwarded", messages=[user("one", name="Ann")]),
        Outcome(SKIPPED, messages=[user("one")]),
    ),
)  # fmt: skip
TOOLS = (
    Row(
        "`tool_choice`: `required`, with `tools`",
        {"messages": [user(f"call {OWN_TOOL}")], "tools": [WEATHER], "tool_choice": "required"},
        Outcome(
            "applies until one of `tools` is called; after the first model call, only `tools` are offered",
            choices=["required", "required"],
            listed=[[OWN_TOOL, "weather"], ["weather"]],
        ),
        Outcome(
            "applies to the first model call",
            choices=["required", None],
            listed=[[OWN_TOOL, "weather"]] * 2,
        ),
    ),
    Row(
        "`tool_choice` with the name of one of `tools`",
        {"messages": [user(f"call {OWN_TOOL}")], "tools": [WEATHER, NEWS], "tool_choice": {"type": "function", "function": {"name": "news"}}},
        Outcome(
            "applies until one of `tools` is called; after the first model call, only `tools` are offered",
            choices=[{"type": "function", "function": {"name": "news"}}] * 2,
            listed=[[OWN_TOOL, "weather", "news"], ["weather", "news"]],
        ),
        Outcome(
            "applies to the first model call",
            choices=[{"type": "function", "function": {"name": "news"}}, None],
            listed=[[OWN_TOOL, "weather", "news"]] * 2,
        ),
    ),
    Row(
        "`tool_choice` of type `allowed_tools`",
        {"messages": [HELLO], "tools": [WEATHER, NEWS], "tool_choice": allowed_tools("auto", NEWS)},
        Outcome(
            "only the allowed `tools` are offered; `mode` is used as the `tool_choice`",
            choices=["auto"],
            listed=[[OWN_TOOL, "news"]],
        ),
        refused("400", "Your request contained invalid structure on path tool_choice. "),
    ),
    Row(
        "`tool_choice` of type `allowed_tools` with a tool that is not in `tools`",
        {"messages": [HELLO], "tools": [WEATHER], "tool_choice": allowed_tools("auto", NEWS)},
        refused(
            "400",
            "Your request contained invalid structure on path "
            "tool_choice.allowed_tools.tools.0. 'tools' has no tool named 'news'.",
        ),
        refused("400", "Your request contained invalid structure on path tool_choice. "),
    ),
    Row(
        "`tool_choice`: `required`, without `tools`",
        {"messages": [user(f"call {OWN_TOOL}")], "tool_choice": "required"},
        Outcome("applies to the first model call", choices=["required", None]),
        Outcome("applies to the first model call", choices=["required", None]),
    ),
    Row(
        "`parallel_tool_calls`, with `tools`",
        {"messages": [user(f"call {OWN_TOOL}")], "tools": [WEATHER], "parallel_tool_calls": False},
        Outcome("forwarded", parameters={"parallel_tool_calls": False}),
        Outcome(SKIPPED, parameters={"parallel_tool_calls": None}),
    ),
    Row(
        "`parallel_tool_calls`, without `tools`",
        {"messages": [HELLO], "parallel_tool_calls": False},
        Outcome("ignored", ignored="parallel_tool_calls", parameters={"parallel_tool_calls": None}),
        Outcome(SKIPPED, parameters={"parallel_tool_calls": None}),
    ),
    Row(
        "`strict` of a tool",
        {"messages": [HELLO], "tools": [tool("weather", strict=True)]},
        Outcome("forwarded", parameters={"strict": [None, True]}),
        Outcome(SKIPPED, parameters={"strict": [None, None]}),
    ),
    Row(
        "`tools` of type `custom`",
        {"messages": [HELLO], "tools": [CUSTOM]},
        Outcome(
            "the model is offered a function with one string argument, `input`. If the tool has a grammar, it is added to the description",
            listed=[[OWN_TOOL, "patch"]],
        ),
        refused("400", "Your request contained invalid structure on path tools.0. "),
    ),
    Row(
        "`tools` of type `static_function`",
        {"messages": [HELLO], "tools": [{"type": "static_function", "static_function": {"name": "x"}}]},
        Outcome("ignored, and listed as `tools.static_function`", ignored="tools.static_function", listed=[[OWN_TOOL]]),
        Outcome(SKIPPED, listed=[[OWN_TOOL]]),
    ),
)  # fmt: skip
PARAMETERS = (
    Row(
        "`temperature`, `top_p`, `max_completion_tokens`, `stop`, `seed`, "
        "`presence_penalty`, `frequency_penalty`, `logit_bias`, `reasoning_effort`, `verbosity`, "
        "`prediction`",
        {"messages": [HELLO], **SAMPLING},
        Outcome("forwarded", parameters=SAMPLING),
        Outcome(SKIPPED, parameters=dict.fromkeys(SAMPLING)),
    ),
    Row(
        "`max_tokens`",
        {"messages": [HELLO], "max_tokens": 5},
        Outcome("forwarded", parameters={"max_tokens": 5, "max_completion_tokens": None}),
        Outcome(SKIPPED, parameters={"max_tokens": None}),
    ),
    Row(
        "`max_tokens` together with `max_completion_tokens`",
        {"messages": [HELLO], "max_tokens": 5, "max_completion_tokens": 6},
        refused("400", "Your request contained invalid structure on path max_tokens. "),
        Outcome(SKIPPED, parameters={"max_tokens": None, "max_completion_tokens": None}),
    ),
    Row(
        "`logprobs`, `top_logprobs`",
        {"messages": [HELLO], "logprobs": True, "top_logprobs": 2},
        Outcome(
            "forwarded, and the answer contains the log probabilities",
            parameters={"logprobs": True, "top_logprobs": 2},
            logprobs=["one", " two"],
        ),
        Outcome(SKIPPED, parameters={"logprobs": None, "top_logprobs": None}, logprobs=[]),
    ),
    Row(
        "a parameter that the manifest sets",
        {"messages": [HELLO], "temperature": 1.5, "max_completion_tokens": 5, "seed": 7},
        Outcome(
            "ignored; `max_tokens` and `max_completion_tokens` count as one",
            ignored="max_completion_tokens, temperature",
            parameters={"temperature": 0.0, "max_tokens": 100, "max_completion_tokens": None, "seed": 7},
        ),
        Outcome(
            SKIPPED,
            parameters={"temperature": 0.0, "max_tokens": 100, "max_completion_tokens": None, "seed": None},
        ),
        application="fixed",
    ),
    Row(
        "`metadata`, `service_tier`, `user`",
        {"messages": [HELLO], **IDENTIFYING},
        Outcome("ignored", ignored="metadata, service_tier, user", parameters=dict.fromkeys(IDENTIFYING)),
        Outcome(SKIPPED, parameters=dict.fromkeys(IDENTIFYING)),
    ),
    Row(
        "`metadata`, `service_tier`, `user`, if `orchestrator.client` allows them",
        {"messages": [HELLO], **IDENTIFYING},
        Outcome("forwarded", parameters=IDENTIFYING),
        Outcome(SKIPPED, parameters=dict.fromkeys(IDENTIFYING)),
        application="open",
    ),
    Row(
        "`response_format`",
        {"messages": [HELLO], "response_format": FORMAT},
        Outcome("forwarded", parameters={"response_format": FORMAT}),
        Outcome("forwarded", parameters={"response_format": FORMAT}),
    ),
    Row(
        "`n` above 1",
        {"messages": [HELLO], "n": 2},
        refused("422", "plain deployment doesn't support n > 1", 422),
        refused("422", "plain deployment doesn't support n > 1", 422),
    ),
    Row(
        "`n`: 1, `store`: `false`, `modalities`: `[\"text\"]`",
        {"messages": [HELLO], "n": 1, "store": False, "modalities": ["text"]},
        Outcome("accepted, has no effect", parameters={"n": None, "store": None}),
        Outcome("accepted, has no effect", parameters={"n": None, "store": None}),
    ),
    unsupported("functions", {"functions": [{"name": "x"}]}),
    unsupported("function_call", {"function_call": "auto"}),
    unsupported("store: true", {"store": True}),
    unsupported("audio", {"audio": {"voice": "alloy", "format": "wav"}}),
    unsupported("modalities: [\"text\", \"audio\"]", {"modalities": ["text", "audio"]}),
    unsupported("web_search_options", {"web_search_options": {}}),
    Row(
        "a message with the `function` role",
        {"messages": [HELLO, {"role": "function", "name": "x", "content": "1"}, user("two")]},
        refused("400", "Your request contained invalid structure on path messages.1.role. "),
        out_of_order("there is no such role"),
    ),
    Row(
        "`function_call`, `audio` of an assistant message",
        {"messages": [HELLO, assistant("Hi", function_call={"name": "x", "arguments": ""}), user("two")]},
        refused("400", "Your request contained invalid structure on path messages.1.function_call. "),
        Outcome(SKIPPED, messages=[HELLO, assistant("Hi"), user("two")]),
    ),
    Row(
        "`model`, if the URL contains the name of another application",
        {"messages": [HELLO], "model": "gpt-x"},
        Outcome("ignored", ignored="model", parameters={"model": "m"}),
        Outcome(SKIPPED, parameters={"model": "m"}),
    ),
    Row(
        "any other parameter",
        {"messages": [HELLO], "safety_identifier": "a", "top_k": 4, "odd, name\r\n": 1},
        Outcome(
            "ignored",
            ignored="odd__name__, safety_identifier, top_k",
            parameters={"safety_identifier": None, "top_k": None},
        ),
        Outcome(SKIPPED, parameters={"safety_identifier": None, "top_k": None}),
    ),
)  # fmt: skip
ROWS = (*MESSAGES, *TOOLS, *PARAMETERS)
