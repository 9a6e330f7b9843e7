"""Opens the storage for the content of files: a directory, or a bucket on an S3-compatible service."""

from functools import lru_cache
from pathlib import Path

from django.conf import settings

from apps.environment_variables import current_setting
from apps.process_state import on_reset
from apps.workspace.local.files.bucket_address import parse_bucket_address
from apps.workspace.local.files.directory_storage import DirectoryStorage
from apps.workspace.local.files.file_storage import FileStorage


def storage() -> FileStorage:
    """Return the storage that `FILES_URL` specifies."""
    return storage_at(settings.FILES_URL)


def storage_at(address: str) -> FileStorage:
    """Return the storage at a URL, or the directory `MEDIA_ROOT` if the URL is "". Raises
    `ValueError` if the URL is invalid.
    """
    if not address:
        return DirectoryStorage(Path(settings.MEDIA_ROOT))
    return bucket_storage(
        address, current_setting("FILES_ACCESS_KEY_ID"), current_setting("FILES_SECRET_ACCESS_KEY")
    )


@on_reset
def forget_buckets() -> None:
    bucket_storage.cache_clear()


@lru_cache(maxsize=4)
def bucket_storage(address: str, key_id: str, secret: str) -> FileStorage:
    """Return the storage in the bucket at this URL. It is cached, so that its connections are
    reused.
    """
    # Imported at first use, because its library takes 15 MB of memory and a directory does not
    # need it.
    from apps.workspace.local.files.bucket_storage import BucketStorage, make_store

    found = parse_bucket_address(address)
    return BucketStorage(make_store(found, key_id, secret), str(found))
