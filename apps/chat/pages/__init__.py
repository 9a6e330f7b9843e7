"""The chat pages, on which users choose applications and hold conversations."""
