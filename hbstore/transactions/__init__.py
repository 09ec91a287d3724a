"""Transactions: steps that read and write catalog rows and partition rows, all or nothing, on every backend."""
