from typing import Any

import pytest

from apps.manifest.validation.validation import review
from tests.contract import proves
from tests.manifest.documents import manifest
from tests.tables import each_row

ROOTS = "'event', 'messages', 'last_user_message', 'last_assistant_message'"


NO_LIST = (
    "this is not a list, so it has no numbered items; use 'role', 'content', 'tool_calls', "
    "'tool_call_id'"
)


def errors(**hook: Any) -> list[tuple[str, str]]:
    document = manifest(hooks=[{"event": "on_request_start", "tool_name": "t", **hook}])
    return [(p.path, p.message) for p in review(document, preview=True).errors]


@each_row(
    "arguments",
    [
        {},
        {"q": "plain"},
        {"q": "${last_user_message.content} and ${messages[0].role}"},
        {"q": "costs $${price}"},
        {"q": {"$eval": "messages[-2:]"}},
        {"q": {"$eval": "last_assistant_message.tool_calls[0].arguments.any.thing['at all']"}},
        {"q": {"$if": "len(messages) > 2 && !(event == 'x')", "then": 1, "else": "${event}"}},
        {"q": {"$map": {"$eval": "messages"}, "each(m)": "${m.content}"}},
        {"$$literal": 1},
        {"${event}": 1},
        {"q": {"$eval": "iteration_count + total_tool_calls"}, "event": "on_completion"},
        {"q": "${last_user_message.content[0]} ${last_user_message['role']} ${messages[-1].role}"},
        {"q": {"$eval": "messages[len(messages) - 1]['content'][0:5]"}},
        {"q": {"$eval": "last_user_message[event]"}},
    ],
)
def test_a_template_that_can_be_filled_in(arguments):
    event = arguments.pop("event", "on_request_start")

    assert errors(arguments=arguments, event=event) == []


@proves("16.2")
@each_row(
    ("arguments", "problem"),
    [
        ({"q": "${nothing}"}, f"q: unknown name 'nothing'; use {ROOTS}"),
        (
            {"a": [{"b": "${last_user_message.text}"}]},
            "a[0].b: unknown name 'text'; use 'role', 'content', 'tool_calls', 'tool_call_id'",
        ),
        (
            {"q": "${messages.content}"},
            ("q: a list has no 'content'; select one of its items first"),
        ),
        *(
            ({"q": f"${{{expression}}}"}, f"q: {NO_LIST}")
            for expression in (
                "last_user_message[0]",
                "last_user_message[-1]",
                "last_user_message[0:1]",
                "last_user_message[null]",
                "last_user_message[len(messages) - 1]",
                "messages[0][0]",
            )
        ),
        (
            {"q": "${messages[0].tool_calls[0][0].name}"},
            "q: this is not a list, so it has no numbered items; use 'id', 'name', 'arguments'",
        ),
        ({"q": "${messages['role']}"}, "q: a list has no 'role'; select one of its items first"),
        ({"q": "${event"}, "q: `${` is not closed by `}`"),
        ({"q": "${}"}, "q: a value is missing"),
        ({"q": {"$eval": "1 +"}}, 'q["$eval"]: Unexpected end of input'),
        ({"q": {"$eval": "1 2"}}, "q[\"$eval\"]: unexpected '2' after the expression"),
        ({"q": {"$eval": 5}}, 'q["$eval"]: an expression must be a string'),
        ({"q": {"$if": "no", "then": 1}}, f"q[\"$if\"]: unknown name 'no'; use {ROOTS}"),
        ({"q": {"$evil": "1"}}, 'q["$evil"]: there is no such operator; write `$$` for a `$`'),
        (
            {"q": {"$eval": "iteration_count"}},
            f"q[\"$eval\"]: unknown name 'iteration_count'; use {ROOTS}",
        ),
        (
            {"q": "${1 + len(messages) ** 2}"},
            "q: `**` is not supported, because its results can be too large",
        ),
        (
            {"q": {"$eval": "(" * 500}},
            'q["$eval"]: the expression is too long or nested too deeply',
        ),
        (
            {"q": {"$eval": "event" + "[:]" * 500}},
            'q["$eval"]: the expression is too long or nested too deeply',
        ),
    ],
)
def test_a_template_that_cannot_be_filled_in(arguments, problem):
    assert errors(arguments=arguments) == [("hooks[0].arguments", problem)]


def test_the_largest_expression_is_checked_at_once():
    assert errors(arguments={"q": {"$eval": "messages" + "[:]" * 48}}) == []


def test_a_hook_at_the_end_has_no_place_in_the_history():
    assert errors(
        event="on_completion",
        frequency="always",
        refresh_condition={"kind": "ttl", "ttl_minutes": 5},
    ) == [
        (
            "hooks[0].frequency",
            ("a hook on_completion cannot add to the history; remove the field"),
        ),
        (
            "hooks[0].refresh_condition",
            "a hook on_completion cannot add to the history; remove the field",
        ),
    ]
    assert errors(event="on_completion", refresh_condition=None) == []


@pytest.mark.parametrize("event", ["on_user_message", "on_tool_result", "on_status"])
def test_a_hook_that_watches_has_no_place_in_the_history(event):
    assert errors(event=event, frequency="always") == [
        ("hooks[0].frequency", f"a hook {event} cannot add to the history; remove the field")
    ]
    assert errors(event=event) == []


def test_each_event_has_names_of_its_own():
    named = {"q": {"$eval": "tool_result"}, "r": "${tool_name}"}

    assert errors(event="on_tool_result", arguments=named) == []
    assert errors(event="on_status", arguments={"q": "${status}"}) == []
    assert errors(event="on_user_message", arguments=named) != []


@proves("16.2")
def test_a_template_is_not_refreshed_by_the_clock():
    ttl = {"kind": "ttl", "ttl_minutes": 5}

    assert errors(arguments={"a": ["$${x}", {"$$b": 1}]}, refresh_condition=ttl) == []
    for templated in ({"a": ["${event}"]}, {"a": {"$eval": "event"}}, {"${event}": 1}):
        assert errors(arguments=templated, refresh_condition=ttl) == [
            (
                "hooks[0].refresh_condition",
                (
                    "the field does not apply to arguments with a template; remove it, or use "
                    "plain arguments"
                ),
            )
        ]


def test_other_mistakes_of_a_hook():
    assert errors(event="on_error", timeout_seconds=0, refresh_condition={"ttl_minutes": 0}) == [
        (
            "hooks[0].event",
            'expected "on_request_start", "on_user_message", "on_tool_result", "on_completion" or '
            '"on_status", found the string "on_error"',
        ),
        ("hooks[0].timeout_seconds", "expected more than 0, found the integer 0"),
        ("hooks[0].refresh_condition.ttl_minutes", "expected more than 0, found the integer 0"),
    ]


@each_row(
    ("text", "problem"),
    [
        ("", "the expression is not complete"),
        ("event.", "Unexpected end of input"),
        ("event.1", "Found: 1 token, expected one of: identifier"),
        ("event.in", "Found: in token, expected one of: identifier"),
        ("event[messages", "the expression is not complete"),
        ("event[", "the expression is not complete"),
        ("messages[0)", "Found: ) token, expected one of: ]"),
        ("str(event messages)", "Found: messages token, expected one of: )"),
        ("str(event,)", "a value is missing"),
        ("{event}", "Found: } token, expected one of: :"),
        ("{1: event}", "Found: 1 token, expected one of: }"),
        ("event = 'x'", "Unexpected input for 'event = 'x'' at '= 'x''"),
        ("'a", "Unexpected input for ''a' at ''a'"),
        ("* event", "a value is missing"),
        ("event +", "Unexpected end of input"),
        ("[event, nothing]", f"unknown name 'nothing'; use {ROOTS}"),
        ("{a: nothing}", f"unknown name 'nothing'; use {ROOTS}"),
        ("str(-nothing)", f"unknown name 'nothing'; use {ROOTS}"),
    ],
)
def test_text_that_is_no_expression(text, problem):
    assert errors(arguments={"$eval": text}) == [("hooks[0].arguments", f'["$eval"]: {problem}')]


@pytest.mark.parametrize(
    "text", ["[]", "str()", "{}", "{b: event, 'c': 1}", "event in ['a', event]"]
)
def test_an_expression_may_make_lists_and_objects(text):
    assert errors(arguments={"q": {"$eval": text}}) == []
