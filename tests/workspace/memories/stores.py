"""How tests open memories, wherever they are kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from apps.workspace.memories.port import MemoryStore

OpenStore = Callable[[], AbstractAsyncContextManager[MemoryStore]]
"""The memories of one caller, as another process would open them."""
