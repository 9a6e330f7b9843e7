"""The pictures of the docs, taken of a site that is started for them."""
