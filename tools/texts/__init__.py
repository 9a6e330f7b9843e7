"""The texts of pages in several languages: taken from the sources, merged, compiled."""
