"""Jobs in rows of our own, for SQLite. The process that serves requests runs them."""
