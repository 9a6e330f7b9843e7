"""Evaluates the rules for which calls need the user's approval, and which are denied.

The levels are the tool, its toolset, the application and the installation. A deny rule at any level
overrides all allow rules. If no rule matches, the nearest level with a mode decides. If rules
cannot be evaluated in time, a deny rule counts as matched, and an allow rule as not matched.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import regex
from django.conf import settings

from apps.json_schemas.checks import SchemaCheck
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize
from apps.manifest.toolsets.approvals import Approval, CallRules, Scope
from apps.patterns import compile_pattern

logger = logging.getLogger(__name__)

DECISION_SECONDS = 0.1
"""The timeout in seconds for evaluating the rules for one call. It is short because this blocks the
event loop.
"""

SHORT = (",", ":")

Decision = Literal["allow", "deny", "confirm"]


@dataclass(frozen=True)
class Matcher:
    """Matches tool calls against rules. The rules are compiled on first use."""

    rules: CallRules

    @cached_property
    def patterns(self) -> tuple[regex.Pattern[str], ...]:
        return tuple(compile_pattern(p, regex.IGNORECASE) for p in self.rules.patterns)

    @cached_property
    def schemas(self) -> tuple[SchemaCheck, ...]:
        return tuple(SchemaCheck.of(schema) for schema in self.rules.arguments)

    def matches(self, texts: Sequence[str], arguments: Mapping[str, Any], deadline: float) -> bool:
        """Return True if a rule matches the call. Raises `TimeoutError` after the deadline, and the
        errors of invalid rules.
        """
        return any(
            pattern.search(text, timeout=seconds_until(deadline))
            for pattern in self.patterns
            for text in texts
        ) or any(schema.accepts(arguments, seconds_until(deadline)) for schema in self.schemas)


def seconds_until(deadline: float) -> float:
    """Return the seconds until the deadline, a monotonic time. Raises `TimeoutError` if it has
    passed.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@dataclass(frozen=True)
class ApprovalRules:
    """The approval rules for a tool, nearest level first."""

    levels: tuple[Approval, ...] = ()
    matchers: tuple[tuple[Matcher, Matcher], ...] = field(default=(), compare=False)
    """The compiled deny rules and allow rules of each level."""
    asks: bool = True
    """False if no call needs approval. Calls can still be denied."""

    @classmethod
    def of(cls, *levels: Approval | None) -> ApprovalRules:
        given = tuple(level for level in levels if level is not None)
        return cls(given, tuple((Matcher(one.deny), Matcher(one.allow)) for one in given))

    def judge(self, tool: str, arguments: Mapping[str, Any], *, full_name: str = "") -> Decision:
        """Return the decision about one call. `arguments` must include default values.

        Rules match both the tool's name and its `full_name`. Deny rules also match the full name
        without its hash. Allow rules do not, because that name may belong to another tool.
        """
        names = dict.fromkeys(filter(None, (tool, full_name)))
        texts = [call_text(name, arguments) for name in names] if self.has_patterns else []
        plain = sanitize(full_name) if full_name else tool
        denied = [*texts, call_text(plain, arguments)] if plain not in names and texts else texts
        deadline = time.monotonic() + DECISION_SECONDS
        if any(
            is_match(deny, denied, arguments, deadline, otherwise=True) for deny, _ in self.matchers
        ):
            return "deny"
        deadline = time.monotonic() + DECISION_SECONDS
        if any(
            is_match(allow, texts, arguments, deadline, otherwise=False)
            for _, allow in self.matchers
        ):
            return "allow"
        return "confirm" if self.asks and self.mode == "confirm" else "allow"

    @cached_property
    def has_patterns(self) -> bool:
        return any(matcher.rules.patterns for both in self.matchers for matcher in both)

    @property
    def unasked(self) -> ApprovalRules:
        return replace(self, asks=False)

    @property
    def mode(self) -> str:
        return next((level.mode for level in self.levels if level.mode is not None), "auto")

    @property
    def after_untrusted(self) -> str:
        stated = (level.after_untrusted for level in self.levels)
        return next((one for one in stated if one is not None), "auto")

    def nearest(self, name: str) -> Any:
        """Return the value of a field at the nearest level that sets it, or its default."""
        for level in self.levels:
            if name in level.model_fields_set:
                return getattr(level, name)
        return Approval.model_fields[name].get_default(call_default_factory=True)

    def sets(self, name: str) -> bool:
        return any(name in level.model_fields_set for level in self.levels)

    @property
    def always(self) -> Sequence[Scope]:
        offered: Sequence[Scope] = self.nearest("always")
        return offered


def is_match(
    matcher: Matcher,
    texts: Sequence[str],
    arguments: Mapping[str, Any],
    deadline: float,
    *,
    otherwise: bool,
) -> bool:
    try:
        return matcher.matches(texts, arguments, deadline)
    except Exception:
        # A rule that cannot be evaluated never allows a call.
        logger.warning(
            "Failed to evaluate an approval rule, so the call is %s",
            "denied" if otherwise else "not allowed by it",
            exc_info=True,
        )
        return otherwise


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as compact JSON, for matching against rule patterns."""
    # Unlike msgspec, `json` accepts lone surrogates, which models write.
    return json.dumps({"tool": tool, "arguments": arguments}, ensure_ascii=False, separators=SHORT)


def approval_rules(manifest: Manifest, *nearer: Approval | None) -> ApprovalRules:
    """Return the approval rules for a tool. `nearer` are the rules of the tool and its toolset."""
    features = manifest.features
    application = features.approval if features is not None else None
    return ApprovalRules.of(*nearer, application, installation())


def installation() -> Approval:
    """Return the installation's rules, which apply to all applications."""
    return Approval(
        mode=settings.APPROVAL_MODE, deny=CallRules(patterns=tuple(settings.APPROVAL_DENY))
    )
