"""Serves the manifest editor for a frame in DIAL's chat. Signed-in operators edit applications of
this installation and applications that DIAL Core stores.
"""
