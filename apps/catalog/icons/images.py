"""Pictures of applications: what they may be, and where they are kept."""

import hashlib
import re

from django.core.exceptions import ValidationError

from apps.catalog.icons.models import IconImage

LARGEST_IMAGE = 64 * 1024
MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png", "webp": "image/webp"}
ICON_FILES = frozenset(f"icon.{ending}" for ending in MEDIA_TYPES)
"""Names of the picture beside an `application.yaml`."""

SVG = re.compile(r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<svg[\s/>]", re.DOTALL)


def image_name(content: bytes) -> str:
    """The name that the picture is kept under. Raises `ValidationError`."""
    if len(content) > LARGEST_IMAGE:
        raise ValidationError(
            f"The picture has {len(content):,} bytes; at most {LARGEST_IMAGE:,} are possible."
        )
    ending = ending_of(content)
    if not ending:
        raise ValidationError("This is no SVG, PNG or WebP.")
    return f"{hashlib.sha256(content).hexdigest()}.{ending}"


def keep_image(content: bytes) -> str:
    """Store the picture and give its name. Raises `ValidationError`."""
    name = image_name(content)
    IconImage.objects.get_or_create(name=name, defaults={"content": content})
    return name


def image_of(icon: str) -> bytes | None:
    """The picture with this name; None for an icon that is none."""
    found = IconImage.objects.filter(name=icon).values_list("content", flat=True).first()
    return None if found is None else bytes(found)


def ending_of(content: bytes) -> str:
    """What the content itself says that it is, whatever the file was called; "" for anything else."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""
    return "svg" if SVG.match(text) else ""
