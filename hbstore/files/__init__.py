"""Folders of warehouses: where they are, and how they are made, moved and deleted, on whatever file system."""
