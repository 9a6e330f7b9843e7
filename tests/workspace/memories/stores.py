"""Open memories in any store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from apps.workspace.memories.port import MemoryStore

OpenStore = Callable[[], AbstractAsyncContextManager[MemoryStore]]
"""Opens the memories of one caller, as another process would."""
