"""Creates accounts: by sign-up, by invitation, or at the first startup."""
