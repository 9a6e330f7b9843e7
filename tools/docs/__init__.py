"""The site of the docs: what MkDocs needs beyond `mkdocs.yml`."""
