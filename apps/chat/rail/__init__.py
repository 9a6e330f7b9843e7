"""The sidebar of the chat page, with conversations, folders and notifications."""
