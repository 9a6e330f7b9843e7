"""The widget, which shows one application's chat in a frame on other sites. Browsers block cookies
in such frames, so visitors have tokens instead.
"""
