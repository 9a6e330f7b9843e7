"""The account pages of users."""
