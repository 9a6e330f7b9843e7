"""Creates accounts: sign-up, invitations and the first administrator."""
