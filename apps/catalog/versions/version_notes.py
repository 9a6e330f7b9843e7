"""What is said of a version by whoever publishes it, or asks for it."""

from django.core.exceptions import ValidationError

LONGEST_NOTE = 300


def read_note(note: str) -> str:
    """Raises `ValidationError`."""
    said = " ".join(note.replace("\0", " ").split())
    if not said:
        raise ValidationError({"note": "Say what is new, for those who look for it later."})
    if len(said) > LONGEST_NOTE:
        raise ValidationError({"note": f"Write at most {LONGEST_NOTE} characters."})
    return said
