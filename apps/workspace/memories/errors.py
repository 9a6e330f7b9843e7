from apps.errors import QuickAppError


class MemoryRefused(QuickAppError):
    """Raised if a memory is invalid, or if the collection is full. `field` is the invalid field, or
    "" if the error concerns all memories.
    """

    code = "memory_refused"
    http_status = 400

    def __init__(self, field: str, text: str, **values: str | int) -> None:
        super().__init__(text, **values)
        self.field = field


class MemoryMissing(MemoryRefused): ...
