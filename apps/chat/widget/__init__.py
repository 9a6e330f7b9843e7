"""The widget: the chat of one application in a frame on pages of other sites.

Browsers block the cookies of such frames, so visitors have tokens instead.
"""
