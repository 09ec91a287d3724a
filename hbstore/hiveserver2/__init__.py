"""HiveServer2's protocol, TCLIService: JDBC and ODBC drivers, PyHive and impyla ask the query service through it."""
