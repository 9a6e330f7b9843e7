"""Organizes, searches and tags conversations, and deletes them on request or after their retention
period.
"""
