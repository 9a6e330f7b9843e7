"""Contains the base classes of the admin's pages: forms that detect conflicting edits, and the
history of rows, from which earlier states can be restored.
"""
