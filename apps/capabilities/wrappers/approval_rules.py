"""Calls that wait for the approval of a person, and calls that are not made at all.

Denied anywhere is denied; of the rest, allowed anywhere is made; else the nearest mode decides.
Rules are bounded in time. One that takes too long counts as a match where it denies, and as none
where it allows.
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
from apps.manifest.approvals import Approval, CallRules, Scope
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize
from apps.patterns import compile_pattern

logger = logging.getLogger(__name__)

DECISION_SECONDS = 0.1
"""For all rules of one call: they are evaluated on the event loop, which everybody shares."""

SHORT = (",", ":")

Decision = Literal["allow", "deny", "confirm"]


@dataclass(frozen=True)
class Matcher:
    """Compiled rules about calls."""

    rules: CallRules

    @cached_property
    def patterns(self) -> tuple[regex.Pattern[str], ...]:
        return tuple(compile_pattern(p, regex.IGNORECASE) for p in self.rules.patterns)

    @cached_property
    def schemas(self) -> tuple[SchemaCheck, ...]:
        return tuple(SchemaCheck.of(schema) for schema in self.rules.arguments)

    def matches(self, texts: Sequence[str], arguments: Mapping[str, Any], deadline: float) -> bool:
        """Raises `TimeoutError` past the deadline, and whatever a broken rule raises."""
        return any(
            pattern.search(text, timeout=left_until(deadline))
            for pattern in self.patterns
            for text in texts
        ) or any(schema.accepts(arguments, left_until(deadline)) for schema in self.schemas)


def left_until(deadline: float) -> float:
    """Seconds above 0. Raises `TimeoutError`."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@dataclass(frozen=True)
class ApprovalRules:
    """What the tool, its toolset, the application and the installation say, the nearest first."""

    levels: tuple[Approval, ...] = ()
    matchers: tuple[tuple[Matcher, Matcher], ...] = field(default=(), compare=False)
    """Of each level, those that deny and those that allow."""
    asks: bool = True
    """False: no mode makes a call wait; what is denied stays denied."""

    @classmethod
    def of(cls, *levels: Approval | None) -> ApprovalRules:
        given = tuple(level for level in levels if level is not None)
        return cls(given, tuple((Matcher(one.deny), Matcher(one.allow)) for one in given))

    def judge(self, tool: str, arguments: Mapping[str, Any], *, full_name: str = "") -> Decision:
        """The decision about one call. `arguments` have their default values.

        Rules find a tool by its `full_name` too. What the name would be without a hash may be that
        of another tool, so it is for rules that deny.
        """
        names = dict.fromkeys(filter(None, (tool, full_name)))
        texts = [call_text(name, arguments) for name in names] if self.has_patterns else []
        plain = sanitize(full_name) if full_name else tool
        denied = [*texts, call_text(plain, arguments)] if plain not in names and texts else texts
        deadline = time.monotonic() + DECISION_SECONDS
        if any(
            found(deny, denied, arguments, deadline, otherwise=True) for deny, _ in self.matchers
        ):
            return "deny"
        deadline = time.monotonic() + DECISION_SECONDS
        if any(
            found(allow, texts, arguments, deadline, otherwise=False) for _, allow in self.matchers
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
        """The value of a field at the nearest level that sets it, else its default."""
        for level in self.levels:
            if name in level.model_fields_set:
                return getattr(level, name)
        return Approval.model_fields[name].get_default(call_default_factory=True)

    def sets(self, name: str) -> bool:
        """Whether any level sets that field."""
        return any(name in level.model_fields_set for level in self.levels)

    @property
    def always(self) -> Sequence[Scope]:
        offered: Sequence[Scope] = self.nearest("always")
        return offered


def found(
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
        # A rule that cannot be evaluated never makes a call possible.
        logger.warning(
            "An approval rule could not be evaluated, so the call is %s",
            "denied" if otherwise else "not allowed by it",
            exc_info=True,
        )
        return otherwise


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """The text that patterns are searched in: compact JSON."""
    # Unlike msgspec, `json` takes half characters, which models write.
    return json.dumps({"tool": tool, "arguments": arguments}, ensure_ascii=False, separators=SHORT)


def approval_rules(manifest: Manifest, *nearer: Approval | None) -> ApprovalRules:
    """The rules for a tool; `nearer` are its own and those of its toolset."""
    features = manifest.features
    application = features.approval if features is not None else None
    return ApprovalRules.of(*nearer, application, installation())


def installation() -> Approval:
    """What holds where an application says nothing. The settings were checked at the start."""
    return Approval(
        mode=settings.APPROVAL_MODE, deny=CallRules(patterns=tuple(settings.APPROVAL_DENY))
    )
