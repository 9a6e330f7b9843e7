"""The chat pages, on which users select an application and have conversations."""
