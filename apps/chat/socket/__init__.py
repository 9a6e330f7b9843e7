"""The page's socket."""
