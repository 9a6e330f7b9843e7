"""Shows the manifest editor in a frame of DIAL's chat, to operators who are signed in to this site.

It edits applications of this installation by slug, and applications that DIAL Core stores.
"""
