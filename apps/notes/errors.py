from apps.errors import QuickAppError


class NoteRefused(QuickAppError):
    """Raised if a note is invalid, or if the workspace is full. `field` is the invalid field, or ""
    if the error concerns no single field.
    """

    code = "note_refused"
    http_status = 400

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


class NoteMissing(NoteRefused): ...


class NoteChanged(NoteRefused): ...
