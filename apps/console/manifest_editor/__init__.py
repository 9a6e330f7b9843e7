"""Contains the editor of a manifest: its form field, its requests while a user types, and the
preview of the prompt.
"""
