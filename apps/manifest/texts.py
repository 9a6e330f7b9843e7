"""Text that may be written once for each locale."""

from __future__ import annotations

Localized = str | dict[str, str]
"""One text for everybody, or locale → text."""
