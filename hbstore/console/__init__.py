"""The console: pages for browsers, at the addresses of the resources that programs ask for."""
