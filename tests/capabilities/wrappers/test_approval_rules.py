"""D-21: deny → allow → mode."""

import time

import pytest
from pydantic import ValidationError

from apps.capabilities.wrappers.approval_rules import ApprovalRules
from apps.manifest.toolsets.approvals import Approval, CallRules
from tests.contract import proves
from tests.tables import each_row

CLOSE = {"patterns": ['"tool":"desk_close"']}
NOTHING: dict[str, object] = {}
SLOW = {"pattern": "^(a|aa)+$"}
LONG = {"a": "a" * 60 + "!"}
DENIED = "Failed to evaluate an approval rule, so the call is denied"
NOT_ALLOWED = "Failed to evaluate an approval rule, so the call is not allowed by it"


def rules(mode="auto", *, deny=NOTHING, allow=NOTHING):
    return ApprovalRules.of(Approval.model_validate({"mode": mode, "deny": deny, "allow": allow}))


@proves("D-21")
@each_row(
    ("mode", "deny", "allow", "decision"),
    [
        ("auto", NOTHING, NOTHING, "allow"),
        ("confirm", NOTHING, NOTHING, "confirm"),
        ("auto", CLOSE, NOTHING, "deny"),
        ("confirm", CLOSE, NOTHING, "deny"),
        ("auto", NOTHING, CLOSE, "allow"),
        ("confirm", NOTHING, CLOSE, "allow"),
        ("auto", CLOSE, CLOSE, "deny"),
        ("confirm", CLOSE, CLOSE, "deny"),
        ("auto", {"patterns": ["other"]}, NOTHING, "allow"),
        ("confirm", {"patterns": ["other"]}, NOTHING, "confirm"),
        ("confirm", NOTHING, {"patterns": ["other"]}, "confirm"),
        ("confirm", {"patterns": ["other"]}, CLOSE, "allow"),
    ],
)
def test_d_21_deny_comes_before_allow_and_allow_before_the_mode(mode, deny, allow, decision):
    assert rules(mode, deny=deny, allow=allow).judge("desk_close", {"id": 7}) == decision


@proves("D-21")
@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("DESK_CLOSE", True),
        (r'"id":7\b', True),
        (r'"id":70', False),
        (r'^\{"tool":"desk_close","arguments":\{"id":7\}\}$', True),
    ],
)
def test_patterns_are_searched_in_compact_json_whatever_the_case(pattern, matches):
    judged = rules(deny={"patterns": [pattern]}).judge("desk_close", {"id": 7})

    assert judged == ("deny" if matches else "allow")


@pytest.mark.parametrize(
    ("arguments", "decision"),
    [
        ({"amount": 100, "path": "/reports/may"}, "allow"),
        ({"amount": 101, "path": "/reports/may"}, "confirm"),
        ({"amount": 100, "path": "/etc/passwd"}, "confirm"),
        ({"path": "/reports/may"}, "confirm"),
        ({"amount": "100", "path": "/reports/may"}, "confirm"),
    ],
)
def test_conditions_hold_the_arguments_against_a_schema(arguments, decision):
    small = {
        "properties": {
            "amount": {"type": "number", "maximum": 100},
            "path": {"type": "string", "pattern": "^/reports/"},
        },
        "required": ["amount", "path"],
    }

    assert rules("confirm", allow={"arguments": [small]}).judge("pay", arguments) == decision


def test_one_level_that_denies_is_enough_and_the_nearest_mode_wins():
    tool = Approval.model_validate({"mode": "auto"})
    application = Approval.model_validate({"mode": "confirm", "deny": CLOSE, "seconds": None})
    both = ApprovalRules.of(tool, None, application)

    assert both.judge("desk_close", {}) == "deny"
    assert both.judge("desk_open", {}) == "allow"
    assert ApprovalRules.of(None, application).judge("desk_open", {}) == "confirm"
    assert both.nearest("seconds") is None
    assert ApprovalRules.of(tool).nearest("seconds") == 60


@proves("D-21")
def test_a_deny_pattern_that_takes_too_long_denies_and_an_allow_pattern_allows_nothing(caplog):
    endless = {"patterns": [r"(x+x+)+y"]}
    arguments = {"text": "x" * 5_000}

    assert rules("auto", deny=endless).judge("desk_close", arguments) == "deny"
    assert rules("confirm", allow=endless).judge("desk_close", arguments) == "confirm"
    assert caplog.messages == [DENIED, NOT_ALLOWED]


@proves("D-21")
@each_row(
    "schema",
    [
        {"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#", **SLOW}}},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": SLOW}},
        {"patternProperties": {"^a": SLOW}},
    ],
)
def test_a_deny_schema_that_takes_too_long_denies(schema, caplog):
    caplog.clear()
    started = time.thread_time()

    assert rules(deny={"arguments": [schema]}).judge("pay", LONG) == "deny"
    assert time.thread_time() - started < 5
    assert caplog.messages == [DENIED]


@proves("D-21")
def test_a_stored_deny_pattern_that_is_broken_denies(caplog):
    broken = Approval.model_construct(deny=CallRules.model_construct(patterns=("(",), arguments=()))

    assert ApprovalRules.of(broken).judge("desk_close", {}) == "deny"
    assert caplog.messages == [DENIED]


@proves("D-21")
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"patterns": ["("]}, "the pattern is not a regular expression"),
        ({"patterns": ["(?:(?:(?:a{1000}){1000}){1000})"]}, "the pattern has too many repetitions"),
        ({"patterns": ["x" * 1_001]}, "at most 1000 characters"),
        (
            {"arguments": [{"type": "nothing"}]},
            "this JSON Schema cannot be used: type is “nothing”",
        ),
        (
            {"arguments": [{"properties": {"a": {"$ref": "file:///etc/passwd"}}}]},
            "references to other documents are not supported",
        ),
    ],
)
def test_a_rule_that_cannot_be_evaluated_is_refused_when_it_is_saved(rule, message):
    with pytest.raises(ValidationError, match=message):
        Approval.model_validate({"deny": rule})


def test_half_characters_of_a_model_are_judged_too():
    assert rules("confirm", deny={"patterns": ["Eve"]}).judge("pay", {"to": "\ud800Eve"}) == "deny"


@pytest.mark.parametrize(
    ("rule", "decision"),
    [
        ({"deny": {"patterns": ['"desk_a.b"']}}, "deny"),
        ({"deny": {"patterns": ['"desk_a_b_0123abcd"']}}, "deny"),
        ({"deny": {"patterns": ['"desk_a_b"']}}, "deny"),
        ({"mode": "confirm", "allow": {"patterns": ['"desk_a\\.b"']}}, "allow"),
        ({"mode": "confirm", "allow": {"patterns": ['"desk_a_b"']}}, "confirm"),
    ],
)
def test_a_rule_finds_a_tool_whose_name_got_a_hash(rule, decision):
    """The name without the hash may belong to another tool, so it allows nothing."""
    judged = rules(**rule).judge("desk_a_b_0123abcd", {}, full_name="desk_a.b")

    assert judged == decision
