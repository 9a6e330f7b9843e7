"""The sidebar of the chat page: the list of conversations, folders and unseen answers."""
