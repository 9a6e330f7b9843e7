"""The pages on which users change their account and settings, and import, export and delete their
data.
"""
