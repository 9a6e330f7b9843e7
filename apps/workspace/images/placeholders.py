"""Placeholder pictures as a service, for installations without a picture model."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from apps.demo.placeholder import draw
from apps.workspace.images.model import Pictures

USUAL_SIZE = (1024, 1024)
_size = re.compile(r"(\d{2,4})x(\d{2,4})")


class Placeholders:
    async def make(self, prompt: str, options: Mapping[str, Any]) -> Pictures:
        width, height = size_of(options.get("size"))
        content = await asyncio.to_thread(draw, prompt, width, height)
        return Pictures(((content, "image/png"),))


def size_of(written: object) -> tuple[int, int]:
    """Width and height in pixels, of a text such as `1024x1792`."""
    found = _size.fullmatch(str(written))
    return (int(found[1]), int(found[2])) if found else USUAL_SIZE
