"""What an application says of its icon, in one text.

`""` stands for letters on a colour that the slug chooses, `colour:7` for letters on that colour,
`🦊` for itself, and `<sha-256>.png` for a kept picture.
"""

import re
import unicodedata

from django.core.exceptions import ValidationError

COLOURS = 12
"""As many as tiles.css of the chat has."""
LONGEST_ICON = 80
MOST_CODE_POINTS = 12
"""Of an emoji: a family of four has eleven."""
KEYCAP = "\u20e3"

COLOUR = re.compile(r"colour:(\d{1,2})")
IMAGE = re.compile(r"[0-9a-f]{64}\.(?:svg|png|webp)")


def chosen_colour(icon: str) -> int | None:
    found = COLOUR.fullmatch(icon)
    number = int(found[1]) if found else COLOURS
    return number if number < COLOURS else None


def is_image(icon: str) -> bool:
    return IMAGE.fullmatch(icon) is not None


def is_emoji(icon: str) -> bool:
    """Whether it is a sign and no text: the tile has room for one."""
    if not 0 < len(icon) <= MOST_CODE_POINTS:
        return False
    categories = [unicodedata.category(sign) for sign in icon]
    has_sign = "So" in categories or KEYCAP in icon
    return has_sign and not any(kind[0] in "LZ" or kind == "Cc" for kind in categories)


def validate_icon(icon: str) -> None:
    """Raises `ValidationError`."""
    if icon and chosen_colour(icon) is None and not is_image(icon) and not is_emoji(icon):
        raise ValidationError(
            f"Write one emoji, or a colour from colour:0 to colour:{COLOURS - 1}, or upload a picture."
        )
