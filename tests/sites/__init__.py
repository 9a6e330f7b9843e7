"""Sites that tests serve in processes of their own, each with its own database."""
