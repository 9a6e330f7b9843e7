"""What an error says, in the language of the person who is told."""

from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.errors import QuickAppError, filled


def error_text(error: QuickAppError) -> str:
    """The same as `str(error)` where English is spoken."""
    values = {
        name: gettext(one) if isinstance(one, str) else number_format(one, force_grouping=True)
        for name, one in error.values.items()
    }
    return filled(gettext(error.template), values)
