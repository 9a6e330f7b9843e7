"""Converts calls to the service's own tools to stages of the answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.agent.messages import Attachment
from apps.agent.model import StagePart
from apps.agent.stages import FENCE
from apps.workspace.responses.kept_items import mappings, strings, text_field

TITLES = {
    "web_search_call": "Web search",
    "file_search_call": "File search",
    "code_interpreter_call": "Code interpreter",
    "image_generation_call": "Picture",
    "mcp_call": "MCP tool",
    "mcp_approval_request": "MCP tool",
}
"""Maps the types of items to the titles of their stages. Items of other types are not shown."""
NOT_APPROVED = (
    "The tool asks for an approval, which cannot be given here. "
    'Set `require_approval` to `"never"` in the tool\'s settings, or remove the tool.'
)
FAILED = frozenset({"failed", "incomplete"})
TITLE_CHARACTERS = 80


def opened_stage(index: int, item: Mapping[str, Any]) -> StagePart | None:
    title = TITLES.get(str(item.get("type")))
    if title is None:
        return None
    names = [text_field(item, name) for name in ("server_label", "name")]
    return StagePart(index, ": ".join((title, *filter(None, names))))


def closed_stage(index: int, item: Mapping[str, Any]) -> StagePart:
    has_failed = text_field(item, "status") in FAILED or bool(item.get("error"))
    is_refused = item.get("type") == "mcp_approval_request"
    return StagePart(
        index, content="\n\n".join(stage_paragraphs(item)), failed=has_failed or is_refused
    )


def stage_paragraphs(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paragraphs of the stage that shows a call, in Markdown."""
    match item.get("type"):
        case "web_search_call":
            yield bullets(steps_of_search(item.get("action")))
        case "file_search_call":
            results = (text_field(one, "filename") for one in mappings(item.get("results")))
            yield bullets([*strings(item.get("queries")), *results])
        case "code_interpreter_call":
            yield fence_code(text_field(item, "code"), "python")
            logs = (text_field(one, "logs") for one in mappings(item.get("outputs")))
            yield from (fence_code(log) for log in logs if log)
        case "image_generation_call":
            yield text_field(item, "revised_prompt")
        case "mcp_call":
            yield fence_code(text_field(item, "arguments"), "json")
            if output := text_field(item, "output"):
                yield fence_code(output)
        case "mcp_approval_request":
            yield NOT_APPROVED
        case _:
            return


def steps_of_search(action: Any) -> list[str]:
    match action:
        case {"type": "open_page", "url": str(url)}:
            return [url]
        case {"type": "find_in_page", "pattern": str(pattern), "url": str(url)}:
            return [f"{pattern} ({url})"]
        case {"type": "search"}:
            queries = strings(action.get("queries")) or [text_field(action, "query")]
            return [*queries, *(text_field(one, "url") for one in mappings(action.get("sources")))]
        case _:
            return []


def picture_of(item: Mapping[str, Any]) -> Attachment | None:
    """Return the image that an image generation call produced, or None for any other item."""
    data = text_field(item, "result")
    if item.get("type") != "image_generation_call" or not data:
        return None
    words = " ".join(text_field(item, "revised_prompt").split())
    title = words if len(words) <= TITLE_CHARACTERS else f"{words[: TITLE_CHARACTERS - 1]}…"
    kind = text_field(item, "output_format") or "png"
    return Attachment(f"image/{kind}", title or "Picture", data=data)


def untrusted_source(item: Mapping[str, Any]) -> str:
    """Return the untrusted source that the service's tool has read, as `Taint` records it, or "" if
    there is none.
    """
    match item.get("type"):
        case "web_search_call":
            return "a web search"
        case "mcp_call":
            return f"results of {text_field(item, 'server_label')}: {text_field(item, 'name')}"
        case _:
            return ""


def bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines if line)


def fence_code(text: str, language: str = "") -> str:
    return f"{FENCE}{language}\n{text}\n{FENCE}"
