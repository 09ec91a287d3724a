"""Which worker of pytest-xdist runs which tests, and in which order: those of one file together, the longest first."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

ALONE = (
    "tests/spark/test_stream_deaths.py",
    "tests/spark/test_write_deaths.py",
    "tests/spark/test_demo.py",
    "tests/spark/test_executor_deaths.py",
    "tests/query_service/test_doors.py",
    "tests/query_service/test_spark_deaths.py",
)
"""Files that start a Spark of their own for each test."""

TOGETHER = {
    "exactness": ("tests/exactness/",),
    "analyses": ("tests/spark/test_a", "tests/spark/test_b", "tests/spark/test_c", "tests/spark/test_fo"),
    "spark": ("tests/spark/",),  # the other half, with a Spark of its own
    "statements": ("tests/metastore/spark/",),
    "engine": tuple(
        f"tests/query_service/test_{name}.py"
        for name in ("results_of_spark", "sessions", "small_results", "statements")
    ),
    "transfer": ("tests/transfer/",),
    "clients": ("tests/metastore/clients/",),
    "drivers": ("tests/hiveserver2/clients/",),
    "faults": ("tests/rows/test_hbase_faults.py", "tests/metastore/test_faults.py", "tests/warehouse/test_health.py"),
    "console": ("tests/console/",),  # and one browser
}
"""Files whose tests run in one worker: they count together, or share one Spark, other servers, or an HBase to kill."""

LONGEST = (
    "spark",
    "statements",
    "analyses",
    "faults",
    "tests/store/test_public_changes.py",
    "clients",
    "tests/query_service/test_doors.py",
    "exactness",
    "console",
    "tests/metastore/test_deaths.py",
    "transfer",
    "engine",
    "tests/metastore/test_serve.py",
    "drivers",
    "tests/spark/test_demo.py",
    "tests/query_service/test_spark_deaths.py",
    "tests/spark/test_executor_deaths.py",
    "tests/spark/test_stream_deaths.py",
    "tests/cli/test_processes.py",
    "tests/cubes/query/test_stars.py",
    "tests/test_extras.py",
    "tests/hive_expressions/test_random_expressions.py",
    "tests/cli/test_analyze.py",
    "tests/spark/test_write_deaths.py",
    "tests/benchmarks/",
    "tests/cli/test_timelines.py",
    "tests/cubes/query/test_cut_partitions.py",
    "tests/rows/test_sqlite_backup.py",
    "tests/rows/test_sqlite_processes.py",
    "tests/publishing/test_exchange",
    "tests/hiveserver2/test_deaths.py",
    "tests/rows/test_hbase_filters.py",
    "tests/store/test_timelines_processes.py",
    "tests/store/test_moves_of_processes.py",
    "tests/store/test_crashes_of_processes.py",
    "tests/cubes/query/test_having.py",
    "tests/cli/test_queries.py",
    "tests/metastore/test_big_lists.py",
    "tests/store/test_rename_table.py",
    "tests/hiveserver2/test_transport.py",
    "tests/airflow/",
    "tests/store/test_timelines_size.py",
    "tests/plans/test_time_ranges.py",
    "tests/test_operating.py",
    "tests/store/test_region_server_deaths.py",
    "tests/query_service/test_engine.py",
    "tests/store/test_memory.py",
)
"""How the names begin of what takes long for its number of tests, the longest first; then whatever has most tests."""


SLOW = (
    "tests/airflow/",
    "tests/benchmarks/test_hive_metastore.py",
    "tests/cli/test_analyze.py",
    "tests/cli/test_console.py",
    "tests/cli/test_processes.py",
    "tests/cli/test_queries.py::test_rows_by_spark",
    "tests/cli/test_sql.py::test_a_terminal",
    "tests/cli/test_timelines.py::test_rebuild_by_a_spark_job",
    "tests/cli/test_transfer.py",
    "tests/cubes/query/test_bridge_answers.py",
    "tests/cubes/query/test_continuous.py",
    "tests/cubes/query/test_cut_partitions.py::test_rows_of_random_stars",
    "tests/cubes/query/test_having.py::test_groups_that_meet",
    "tests/cubes/query/test_rates.py",
    "tests/cubes/query/test_refusals.py",
    "tests/cubes/query/test_stars.py",
    "tests/cubes/test_catalog_crashes.py",
    "tests/cubes/test_catalog_interleavings.py",
    "tests/cubes/test_latest.py::TestLatest",
    "tests/cubes/test_latest.py::test_of_two_at_once",
    "tests/cubes/test_latest.py::test_registrars_in_processes",
    "tests/cubes/test_stored_cover.py",
    "tests/exactness/test_algebra.py::test_plans_combine",  # the other tests there run in make check
    "tests/exactness/test_backends.py",
    "tests/exactness/test_behind.py::test_pages_are",
    "tests/exactness/test_budget.py",
    "tests/exactness/test_fuzz.py",
    "tests/exactness/test_tally.py",
    "tests/exactness/test_time_ranges.py",
    "tests/files/test_warehouse_faults.py",
    "tests/files/test_warehouse_links.py::test_nothing_outside_changes",
    "tests/filters/test_caps.py::test_too_deep",
    "tests/hive_expressions/test_random_expressions.py",
    "tests/hiveserver2/test_deaths.py",
    "tests/hiveserver2/test_mutated_messages.py",
    "tests/hiveserver2/test_transport.py::test_idle",
    "tests/metastore/test_big_lists.py",
    "tests/metastore/test_deaths.py",
    "tests/metastore/test_faults.py",
    "tests/metastore/test_metrics_port.py",
    "tests/metastore/test_protocol.py::test_arguments_are_read",
    "tests/metastore/test_protocol.py::test_results_are_written",
    "tests/metastore/test_serve.py",
    "tests/metastore/test_states.py",
    "tests/metastore/test_stopping.py",
    "tests/metastore/test_without_linux.py",
    "tests/plans/test_large_plans.py",
    "tests/plans/test_time_ranges.py",
    "tests/publishing/test_exchange_deaths.py",
    "tests/publishing/test_exchanges",
    "tests/publishing/test_publishing_deaths.py",
    "tests/query_service/test_engine.py",
    "tests/repair/test_deaths.py",
    "tests/repair/test_progress_bar.py",
    "tests/repair/test_random_trees.py",
    "tests/rows/test_sqlite_backup.py",
    "tests/rows/test_sqlite_failures.py::test_closing_interrupts",
    "tests/rows/test_sqlite_long_reads.py",
    "tests/rows/test_sqlite_predicate.py::test_it_selects_what_the_matcher_does",
    "tests/rows/test_sqlite_processes.py",
    "tests/services/test_column_statistics.py::test_any_run_of_changes",
    "tests/services/test_column_statistics.py::test_ten_thousand_partitions",
    "tests/services/test_companion_interleavings.py",
    "tests/services/test_lock_processes.py",
    "tests/services/test_lock_runs.py",
    "tests/services/test_roles.py::test_any_run_of_changes",
    "tests/store/test_crashes_of_moves.py",
    "tests/store/test_crashes_of_processes.py",
    "tests/store/test_dropping_databases.py::test_two_that_drop_one_database",
    "tests/store/test_dropping_databases.py::test_what_is_put_while_its_database_goes",
    "tests/store/test_interleavings.py",
    "tests/store/test_interleavings_of_moves.py",
    "tests/store/test_large_filters.py",
    "tests/store/test_memory.py",
    "tests/store/test_moves_of_processes.py",
    "tests/store/test_older_stores.py::test_two_processes_may_open_it_at_once",
    "tests/store/test_plan_cache.py::test_the_estimate",
    "tests/store/test_public_changes.py",
    "tests/store/test_rename_table.py::test_a_large_table",
    "tests/store/test_state_machine.py",
    "tests/store/test_threads.py",
    "tests/store/test_timelines_crashes.py",
    "tests/store/test_timelines_interleavings.py",
    "tests/store/test_timelines_presence.py",
    "tests/store/test_timelines_processes.py",
    "tests/store/test_timelines_size.py",
    "tests/store/test_timelines_state_machine.py",
    "tests/test_deploying.py::test_the_steps_of_the_image",
    "tests/test_extras.py",
    "tests/test_hbase_server.py",
    "tests/test_mutants.py",
    "tests/test_operating.py",
    "tests/test_packaging.py::test_an_installed_wheel",
    "tests/test_packaging.py::test_packages_are_the_same",
    "tests/test_packaging.py::test_the_wheel",
    "tests/test_readme.py::test_commands_print",
    "tests/test_watching.py",
    "tests/texts/test_properties_file.py::test_java_reads",
    "tests/timelines/test_state_machine.py",
    "tests/transactions/test_interleavings.py",
    "tests/transactions/test_transactions.py::test_processes",
    "tests/transfer/test_export.py",
    "tests/transfer/test_hive_metastore.py",
    "tests/transfer/test_import.py",
    "tests/warehouse/test_remembered.py",
)
"""How tests begin that `make check` leaves to `make test`: they start Java, kill processes, or take long."""


class LongestFirst(LoadFileScheduling):
    """Whoever has nothing left to do gets the longest file, or group of files, that nobody has begun."""

    def _split_scope(self, nodeid):
        group = next((group for group, starts in TOGETHER.items() if nodeid.startswith(starts)), None)
        return super()._split_scope(nodeid) if group is None or nodeid.startswith(ALONE) else group

    def _assign_work_unit(self, node):
        longest = next((one for start in LONGEST for one in self.workqueue if one.startswith(start)), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
