"""The catalog for scripts: the same rows as in the admin, through the same gate."""
