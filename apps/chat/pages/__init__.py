"""The chat pages: the choice of an application, and conversations."""
