"""Validates and stores the images that applications have as icons."""

import hashlib
import re

from django.core.exceptions import ValidationError

from apps.catalog.icons.models import IconImage

LARGEST_IMAGE = 64 * 1024
MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png", "webp": "image/webp"}
ICON_FILES = frozenset(f"icon.{ending}" for ending in MEDIA_TYPES)
"""The possible file names of an icon next to an `application.yaml`."""

SVG = re.compile(r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<svg[\s/>]", re.DOTALL)


def image_name(content: bytes) -> str:
    """Return the name under which an image is stored. Raises `ValidationError` if the image is too
    large, or is not an SVG, PNG or WebP image.
    """
    if len(content) > LARGEST_IMAGE:
        raise ValidationError(
            f"The image is {len(content):,} bytes; the limit is {LARGEST_IMAGE:,}."
        )
    ending = ending_of(content)
    if not ending:
        raise ValidationError("This is not an SVG, PNG or WebP image.")
    return f"{hashlib.sha256(content).hexdigest()}.{ending}"


def keep_image(content: bytes) -> str:
    """Store the image, and return its name. Raises `ValidationError` if the image is too large, or
    is not an SVG, PNG or WebP image.
    """
    name = image_name(content)
    IconImage.objects.get_or_create(name=name, defaults={"content": content})
    return name


def image_of(icon: str) -> bytes | None:
    found = IconImage.objects.filter(name=icon).values_list("content", flat=True).first()
    return None if found is None else bytes(found)


def ending_of(content: bytes) -> str:
    """Return the file extension for the content, or "" if it is not an SVG, PNG or WebP image."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""
    return "svg" if SVG.match(text) else ""
