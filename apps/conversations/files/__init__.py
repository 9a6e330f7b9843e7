"""The files that users upload to conversations."""
