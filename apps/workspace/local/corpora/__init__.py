"""The documents attached to applications: their text, their vectors and searching them."""
