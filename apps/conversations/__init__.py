"""The conversations of users and API clients, with their questions, answers and retention."""
