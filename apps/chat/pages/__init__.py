"""The chat pages, on which users choose an application and have conversations."""
