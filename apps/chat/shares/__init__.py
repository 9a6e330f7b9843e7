"""Creates links by which other users can read a conversation in its state at the time of
sharing.
"""
