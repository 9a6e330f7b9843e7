"""The admin's home page, and the admin of runs and usage."""
