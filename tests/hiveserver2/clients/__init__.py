"""Real clients that ask `hbstore serve --sql-port`: JDBC drivers, beeline, PyHive, SQLAlchemy, impyla."""
