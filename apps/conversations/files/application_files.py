"""Hides a caller's files that come from conversations with applications that the caller may not use."""

from django.db.models import QuerySet

from apps.accounts.caller import Caller
from apps.conversations.files.folder import ROOT, is_uuid, own_path
from apps.conversations.models import Conversation, Message
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.files.store import buckets_of


def is_within_scope(caller: Caller, bucket: str, name: str) -> bool:
    """Return False if the file is the caller's own, but comes from a conversation with an
    application that the caller's scope excludes.
    """
    scope = caller.limits.scope
    if scope is None or bucket not in buckets_of(caller.bucket):
        return True
    kept = Conversation.objects.undeleted().filter(owner=caller.bucket, application__in=scope)
    return is_in_folder(kept, name) or is_attached(kept, write_path(bucket, name))


def is_in_folder(conversations: QuerySet[Conversation], name: str) -> bool:
    """Return True if the file was uploaded for one of these conversations, or for a question that
    has not been sent.
    """
    root, _, rest = name.partition("/")
    folder = rest.partition("/")[0]
    if root != ROOT or not is_uuid(folder):
        return False
    if conversations.filter(pk=folder).exists():
        return True
    return not Conversation.objects.filter(pk=folder).exists()


def is_attached(conversations: QuerySet[Conversation], path: str) -> bool:
    """Return True if the file is attached to a message in these conversations. The file may be in
    another conversation's folder, because a copied conversation refers to the original's files.
    """
    rows = Message.objects.filter(
        conversation__in=conversations.order_by().values("pk"), attachments__icontains=path
    )
    found = rows.order_by().values_list("attachments", flat=True)
    return any(own_path(one) == path for attachments in found for one in attachments)
