"""Stores the conversations of users and API clients, answers their questions, and deletes them
after their retention period.
"""
