"""The methods of the service, each room of the catalog in a module."""
