"""The editor of manifests in a frame of DIAL's chat, for operators who are signed in here.

It edits applications of our own, by their slugs, and those whose documents DIAL Core keeps.
"""
