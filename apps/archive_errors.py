"""What reading a ZIP archive raises if it is damaged, encrypted, or packed in an unknown way."""

import lzma
import struct
import zipfile
import zlib

UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError),
)
"""None of these is raised on purpose here; the library documents only the first."""
