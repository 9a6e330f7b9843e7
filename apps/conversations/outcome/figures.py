"""Computes the metrics that are stored with an answer, and selects the metrics that users see."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from apps.agent.events import Usage
from apps.conversations.outcome.transcript import Transcript
from apps.insights.answer_figures import AnswerFigures
from apps.live.events import storable_value
from apps.live.models import Run

KEYS = {
    "usage": "tokens",
    "models": "model",
    "version": "version",
    "costs": "cost",
    "first_text_seconds": "first_text",
    "seconds": "seconds",
}
"""Maps the stored names of an answer's metrics to their names in the setting `ANSWER_FIGURES`."""
SHOWN = "told"
"""The key in `Message.usage` for the list of metrics that the application shows. If the key is
missing, the application shows all metrics.
"""
TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")


def answer_usage(run: Run, transcript: Transcript, ended_at: datetime) -> dict[str, Any]:
    """Return the known metrics of a run's answer, in the form in which they are stored."""
    usage, first_at = transcript.usage, transcript.first_text_at
    seconds = {
        "seconds": ended_at.timestamp(),
        **({"first_text_seconds": first_at} if first_at else {}),
    }
    started = run.started_at.timestamp()
    found: dict[str, Any] = storable_value(
        {
            **usage_to_dict(usage),
            **{name: round(max(at - started, 0.0), 3) for name, at in seconds.items()},
            **figures_to_dict(transcript.figures),
        }
    )
    return found


def usage_to_dict(usage: Usage) -> dict[str, Any]:
    counts = (usage.input, usage.cached, usage.output, usage.reasoning)
    known = zip(TOKENS, counts, strict=True)
    return {
        **{name: count for name, count in known if count is not None},
        "per_model": [
            {
                "model": item.model,
                "prompt_tokens": item.input,
                "completion_tokens": item.output,
            }
            for item in usage.per_model
        ],
    }


def figures_to_dict(figures: AnswerFigures) -> dict[str, Any]:
    """Return the metrics as JSON. The costs are omitted if the cost of any call is unknown, because
    the total would be too low.
    """
    found: dict[str, Any] = {}
    if figures.version:
        found["version"] = figures.version
    if figures.told is not None:
        found[SHOWN] = list(figures.told)
    if figures.models:
        found["models"] = list(figures.models)
    if figures.costs and figures.is_priced:
        found["costs"] = {currency: plain(cost) for currency, cost in figures.costs.items()}
    return found


def plain(cost: Decimal) -> str:
    """Format an amount without an exponent and without trailing zeros."""
    return f"{cost.normalize():f}"


def figures_of(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics in `Message.usage` that the application shows."""
    tokens = {name: usage[name] for name in TOKENS if name in usage}
    rest = {name: usage[name] for name in KEYS if name in usage}
    return select_metrics({"usage": tokens, **rest}, usage.get(SHOWN, KEYS.values()))


def visible_metrics(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a frame without the metrics that the setting `ANSWER_FIGURES` hides."""
    return select_metrics(message, settings.ANSWER_FIGURES)


def sum_of(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the total tokens and costs of the answers. `is_partial` is True if the cost of an
    answer is unknown.
    """
    tokens, is_partial = 0, False
    costs: defaultdict[str, Decimal] = defaultdict(Decimal)
    for usage in usages:
        metrics = visible_metrics(figures_of(usage))
        counts = metrics.get("usage", {})
        used = counts.get("prompt_tokens", 0) + counts.get("completion_tokens", 0)
        tokens += used
        for name, cost in metrics.get("costs", {}).items():
            costs[name] += Decimal(cost)
        is_partial |= bool(used) and "costs" not in metrics
    written = {name: plain(cost) for name, cost in costs.items()}
    return {"tokens": tokens, "costs": written, "is_partial": is_partial}


def select_metrics(message: Mapping[str, Any], shown: Collection[str]) -> dict[str, Any]:
    return {
        name: value for name, value in message.items() if name not in KEYS or KEYS[name] in shown
    }


def figure_line(usage: Mapping[str, Any]) -> str:
    """Return the visible metrics of a stored answer as a line of Markdown, or "" if there are
    none.
    """
    metrics = visible_metrics(figures_of(usage))
    tokens = metrics.get("usage", {})
    texts = (
        ", ".join(metrics.get("models", ())),
        gettext("version {number}").format(number=metrics["version"])
        if "version" in metrics
        else "",
        tokens_in(tokens.get("prompt_tokens"), tokens.get("cached_tokens")),
        tokens_out(tokens.get("completion_tokens"), tokens.get("reasoning_tokens")),
        " + ".join(f"{cost} {currency}" for currency, cost in metrics.get("costs", {}).items()),
        gettext("first token after {seconds} s").format(seconds=metrics["first_text_seconds"])
        if "first_text_seconds" in metrics
        else "",
        f"{metrics['seconds']} s" if "seconds" in metrics else "",
    )
    line = " · ".join(filter(None, texts))
    return f"*{' '.join(line.split())}*" if line else ""


def tokens_in(whole: int | None, cached: int | None) -> str:
    """Return a text with the numbers of input and cached tokens, or "" if they are unknown."""
    if not whole:
        return ""
    words = gettext("Input tokens: {tokens} ({cached} from the cache)")
    return (words if cached else gettext("Input tokens: {tokens}")).format(
        tokens=whole, cached=cached
    )


def tokens_out(whole: int | None, thinking: int | None) -> str:
    if not whole:
        return ""
    words = gettext("Output tokens: {tokens} ({thinking} thinking)")
    return (words if thinking else gettext("Output tokens: {tokens}")).format(
        tokens=whole, thinking=thinking
    )
