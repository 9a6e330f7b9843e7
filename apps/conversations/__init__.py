"""The conversations of users and API clients: their questions, answers, files and retention."""
