"""Builds the static files for browsers: compressed, and with a hash of their content in their
names.

The files are built into `STATIC_ROOT` once per version. In tests and with `DEBUG`, they are not
built, and pages use the source files under their plain names.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.files import locks
from django.core.management import call_command
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

from quickapps_site.assets import bundles

logger = logging.getLogger(__name__)

STAMP = "built.sha256"
"""The name of the file in `STATIC_ROOT` that contains the hash of the sources from which the files
were built.
"""


def build() -> None:
    """Build the static files, unless they are already built from the same sources.

    If several processes start together, one builds the files and the others wait. A folder with
    built files may be read-only, as in a container image.
    """
    stamp = Path(settings.STATIC_ROOT) / STAMP
    version = hash_of_sources()
    if has_been_built(stamp, version):
        return
    with stamp.with_suffix(".lock").open("w") as lock:
        locks.lock(lock, locks.LOCK_EX)
        try:
            if has_been_built(stamp, version):
                return
            logger.info("Building the static files")
            call_command("collectstatic", interactive=False, verbosity=0)
            stamp.write_text(version)
        finally:
            locks.unlock(lock)


def has_been_built(stamp: Path, version: str) -> bool:
    return stamp.exists() and stamp.read_text() == version


def hash_of_sources() -> str:
    digest = hashlib.sha256(
        Path(__file__).read_bytes()
    )  # The hash also includes the code that builds the files.
    for path, content in sorted(sources()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def sources() -> Iterator[tuple[str, bytes]]:
    for finder in get_finders():
        for path, storage in finder.list([]):
            with storage.open(path) as file:
                yield path, file.read()


class QuickCompressor(Compressor):  # type: ignore[misc]
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        """Compress with Brotli at level 9, which takes a tenth of the time of the highest level and
        produces files that are only a few percent larger.
        """
        return bytes(brotli.compress(data, quality=9))


FILES_OF_SCRIPTS = (
    r"""(?P<matched>new URL\(["'](?P<url>[./].*?)["'],\s*import\.meta\.url\))""",
    """new URL("%(url)s", import.meta.url)""",
)
"""A pattern for `new URL("…", import.meta.url)`, and its replacement. Scripts use it to refer to
files that are not scripts.
"""


Processed = tuple[str, str | None, bool | Exception, bool]
"""The result of processing a file: its name, its hashed name, whether it was written (or the
error), and whether its content changed.
"""


def is_in_comment(match: re.Match[str]) -> bool:
    before = match.string[: match.start("url")]
    return before.rfind("/**") > before.rfind("*/")


def is_in_text(match: re.Match[str]) -> bool:
    """Return True if the matched `export` or `import` is text inside a string, not a statement."""
    found = match.groupdict()
    clause = found.get("exports") or found.get("import") or ""
    return any(quote in clause for quote in "\"'`")


def digest_beside_bundles(paths: dict[str, Any]) -> str:
    """Return a digest of the chat page's static files: the bundles, and all files to which they may
    refer.
    """
    folder = bundles.FOLDER.partition("/")[0]
    digest = hashlib.sha256()
    for name, (storage, path) in sorted(paths.items()):
        if name.startswith(f"{folder}/"):
            with storage.open(path) as file:
                content = file.read()
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()[:12]


def current_bundles() -> dict[str, str]:
    """Return a mapping from scripts and styles to their bundles, or {} if there are none or a
    source has changed.
    """
    try:
        root = bundles.root_of_sources()
        made = bundles.read(root)
    except FileNotFoundError:
        wrong = "there are no bundles"
    else:
        changed = bundles.changed_sources(made, root)
        if not changed:
            return made.entries
        wrong = f"the bundles differ from {', '.join(changed)}"
    logger.warning(
        "Pages use unbundled scripts and styles, which load more slowly: %s. Run `make bundles`.",
        wrong,
    )
    return {}


class BuiltFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Stores static files under hashed names. Bundles replace scripts and styles unless a source
    has changed.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("*.js", (FILES_OF_SCRIPTS,)))
    support_js_module_import_aggregation = True
    # The number must exceed the length of the longest chain of modules that import each other.
    max_post_process_passes = 50
    digest_of_bundles = ""

    def post_process(
        self, paths: dict[str, Any], *arguments: Any, **options: Any
    ) -> Iterator[tuple[str, str | None, bool | Exception]]:
        self.digest_of_bundles = digest_beside_bundles(paths)
        yield from super().post_process(paths, *arguments, **options)

    def file_hash(self, name: str | None, content: Any = None) -> str | None:
        """Return the hash to include in a file's name. All bundles share a hash, because they refer to each
        other in cycles.
        """
        if name and name.startswith(bundles.FOLDER) and self.digest_of_bundles:
            return self.digest_of_bundles
        found: str | None = super().file_hash(name, content)
        return found

    def _post_process(
        self, paths: dict[str, Any], adjustable_paths: list[str], hashed_files: dict[str, str]
    ) -> Iterator[Processed]:
        """Process each file. In later passes, skip files that do not refer to other files, because
        large files take a long time.
        """
        is_first_pass = not hashed_files
        if is_first_pass:
            self.files_naming_none: set[str] = set()
        pending = {name: file for name, file in paths.items() if name not in self.files_naming_none}
        for processed in super()._post_process(pending, adjustable_paths, hashed_files):
            name, _, _, has_changed = processed
            # The hash of a bundle does not cover the files that it refers to.
            if is_first_pass and not has_changed and not name.startswith(bundles.FOLDER):
                self.files_naming_none.add(name)
            yield processed

    def save_manifest(self) -> None:
        for entry, bundle in current_bundles().items():
            if bundle in self.hashed_files:
                self.hashed_files[entry] = self.hashed_files[bundle]
        super().save_manifest()

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        """Return a function that replaces the URLs in a file.

        It skips comments, in which scripts may import each other's types. Bundles have no comments;
        in them, it skips strings that look like imports.
        """
        convert = super().url_converter(name, hashed_files, template)
        is_no_import = is_in_text if name.startswith(bundles.FOLDER) else is_in_comment
        return lambda match: match[0] if is_no_import(match) else str(convert(match))

    def url(self, name: str | None, force: bool = False) -> str:
        if not self.hashed_files:
            return StaticFilesStorage.url(self, name)
        return str(super().url(name, force))

    def create_compressor(self, **options: object) -> Compressor:
        return QuickCompressor(**options)
