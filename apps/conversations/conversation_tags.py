"""Stores the tags of conversations, in one row per conversation and tag."""

from django.db import models

LONGEST_TAG = 40


class ConversationTag(models.Model):
    """A tag on a conversation. It is deleted with the conversation."""

    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="tags"
    )
    name = models.CharField(max_length=LONGEST_TAG)

    class Meta:
        db_table = "chat_conversationtag"
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(
                fields=("conversation", "name"), name="a_conversation_has_a_tag_once"
            ),
        )

    def __str__(self) -> str:
        # The admin shows this text, so it omits the name, which a user wrote.
        return f"tag {self.pk}"
