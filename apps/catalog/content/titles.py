"""Titles of predefined items, for pages that list them."""

from apps.agent.tool_titles import in_words
from apps.catalog.content.items import LayerItem, read_prompt
from apps.manifest.markdown.front_matter import FrontMatterInvalid, read_front_matter
from apps.manifest.names import localize_text


def title_of(item: LayerItem) -> str:
    """Return the title that an item's text contains, or else its name in words."""
    return written_title(item) or in_words(item.name)


def written_title(item: LayerItem) -> str:
    value = item.value
    if item.kind == "prompt":
        return read_prompt(item.text)[0]
    if isinstance(value, dict) and item.kind == "toolset":
        title = value.get("title")
    elif item.kind in ("agent", "place"):
        try:
            title = read_front_matter(item.text).values.get("title")
        except FrontMatterInvalid:
            return ""
    else:
        return ""
    if isinstance(title, dict):
        return localize_text({str(key): str(text) for key, text in title.items()})
    return title if isinstance(title, str) else ""
