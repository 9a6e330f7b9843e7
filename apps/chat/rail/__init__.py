"""The chat page's sidebar, with conversations, folders and unseen answers."""
