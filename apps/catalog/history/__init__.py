"""The history of rows that operators edit: who changed which field, and how to restore it."""
