"""Imports NumPy when one of its names is first used.

The import takes a tenth of a second and 25 MB, and few processes compute vectors. After `from apps
import lazy_numpy as np`, functions may use any name from NumPy, but module-level code must not.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        import numpy

        found = globals()[name] = getattr(numpy, name)
        return found
