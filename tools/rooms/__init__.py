"""The picture of the layers in docs/architecture.md, generated from the contract of imports."""
