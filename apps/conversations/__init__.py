"""Users' and API clients' conversations, with questions, answers and retention."""
