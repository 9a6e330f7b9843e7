"""The admin's home page, and the admin pages for runs and usage."""
