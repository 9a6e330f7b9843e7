"""The documents attached to applications: their text, their vectors and the search in them."""
