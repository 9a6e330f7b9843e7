"""Serves the manifest editor in a frame in DIAL's chat. Signed-in operators can edit this
installation's applications and the applications that DIAL Core stores.
"""
