"""The conversations of users and API clients: questions, answers, and retention."""
