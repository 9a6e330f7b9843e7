"""Links to snapshots of conversations, with which others can read a conversation as it was when the
link was created.
"""
