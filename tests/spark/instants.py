"""Instants of ten years, and what Spark's values at these say: in which parts of time an expression stays the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from hbstore.times.update_period import UpdatePeriod
from tests.cubes.query.time_claims import BEGIN, END, PERIODS

UNITS = {period: period.name.removesuffix("LY").replace("DAI", "DAY") for period in PERIODS}
"""What Spark calls the periods."""
LENGTHS = {unit: "3 MONTH" if unit == "QUARTER" else f"1 {unit}" for unit in UNITS.values()}


@dataclass(frozen=True)
class Instants:
    """A table of the times ``t``, sorted by them in `places`: the parts of each period lie one behind the other.

    Attributes:
        table: with ``t``.
        together: by period, whether an instant is in the part of the one before it.
        order: the rows of the table by time.
    """

    table: DataFrame
    together: dict[UpdatePeriod, npt.NDArray[np.bool_]]
    order: npt.NDArray[np.int64]

    @staticmethod
    def of(spark: SparkSession, seed: int, count: int) -> Instants:
        """About so many: random ones, and the first and the last microsecond of the parts of each period around."""
        ends = [f"date_trunc('{unit}', t)" for unit in UNITS.values()]
        ends += [
            f"date_trunc('{unit}', t) + interval {length} - interval 1 microsecond" for unit, length in LENGTHS.items()
        ]
        span = f"(unix_micros(timestamp'{END}') - unix_micros(timestamp'{BEGIN}'))"
        random = f"timestamp_micros(unix_micros(timestamp'{BEGIN}') + cast(rand({seed}) * {span} as bigint))"
        table = spark.range(0, max(1, count // (len(ends) + 1)), 1, 2).selectExpr(f"{random} as t")
        table = table.selectExpr(f"explode(array(t, {', '.join(ends)})) as t")
        table = table.where(f"t >= timestamp'{BEGIN}' and t < timestamp'{END}'").cache()
        keys = [f"unix_micros(date_trunc('{unit}', t))" for unit in UNITS.values()]
        rows = table.selectExpr(*keys, "unix_micros(t)").toPandas().to_numpy()
        order = np.argsort(rows[:, -1], kind="stable")
        same = rows[order][1:] == rows[order][:-1]
        return Instants(table, {period: same[:, at] for at, period in enumerate(UNITS)}, order)

    def __len__(self) -> int:
        return len(self.order)

    def read_by_spark(self, expressions: list[str]) -> list[str]:
        """Those of some expressions whose types Spark takes."""

        def taken(expression: str) -> bool:
            try:
                self.table.selectExpr(f"xxhash64({expression})")
            except AnalysisException:
                return False
            return True

        return [one for one in expressions if taken(one)]

    def same_within(self, expressions: list[str]) -> list[frozenset[UpdatePeriod]]:
        """By expression, the periods in each of whose parts it has one value at all instants."""
        hashes = self.table.selectExpr(*(f"xxhash64({one}) as e{at}" for at, one in enumerate(expressions)))
        values = hashes.toPandas().to_numpy()[self.order]
        found = []
        for at in range(len(expressions)):
            changes = values[1:, at] != values[:-1, at]
            found.append(frozenset(period for period, same in self.together.items() if not (changes & same).any()))
        return found
