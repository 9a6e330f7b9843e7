"""The conversations of users and programs: questions, answers, and retention."""
