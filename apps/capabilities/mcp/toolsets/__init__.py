"""A manifest's toolset before its tools exist: its declaration, its binding to a run, and its
pinned descriptions.
"""
