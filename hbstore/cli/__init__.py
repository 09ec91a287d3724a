"""The command line: ``hbstore partitions shop.sales --filter "ds >= '2013-01-01'"``; docs/cli.md lists the commands."""

from hbstore.cli.app import app, main

__all__ = ["app", "main"]
