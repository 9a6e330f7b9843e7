"""Parses Markdown documents with front matter: skills, agents and chat places."""
