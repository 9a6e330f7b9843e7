"""The base of the admin's pages: forms that detect conflicting edits, and the history of rows, from
which states can be restored.
"""
