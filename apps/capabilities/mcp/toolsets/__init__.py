"""The toolsets of a manifest before their tools are known: declarations, bindings to runs, and
pinned descriptions.
"""
