"""The widget, which shows the chat of one application in a frame on other sites. Browsers block
cookies in such frames, so the widget sends tokens instead.
"""
