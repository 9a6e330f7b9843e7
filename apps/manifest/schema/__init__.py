"""The JSON schema of the manifest, and the reference generated from the models."""
