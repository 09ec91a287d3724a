"""The facts of random stars: rolled up from the rows of the cube, with holes, and wrong rows that are not to be read.

Tables of facts hold rows in the partitions that they lack as well, which must not be read: their measures are far too
large. So are those of times for which a fact, or a column, does not hold.
"""

from __future__ import annotations

import datetime as dt

from hbstore.cubes import PartitionDesc
from hbstore.cubes.logical_tables import Column, Fact, StorageTable, TableDescription
from hbstore.timelines import UpdatePeriod
from tests.cubes.query.star_model import ATTRIBUTES, BEGIN, END, MEASURES, PARTS, POISON, REGIONS


def add_fact(random, number, made, disjoint=()):
    cubes, db = made.cubes, made.db
    raw = not disjoint and number == 0 and random.random() < 0.7
    attributes = [name for name in ATTRIBUTES if raw or random.random() < (0.95 if disjoint else 0.85)]
    named = not raw and random.random() < 0.3
    told = _time_columns(random, made.kind, raw)
    rolled_up = [name for name in (*MEASURES, *PARTS) if name != "price" and random.random() < 0.8]
    measures = list(MEASURES if raw else disjoint or rolled_up)
    by_region = not raw and "region" in attributes and random.random() < 0.2
    columns, dated = _columns(random, raw, attributes, measures, by_region)
    columns += [Column(name="customer_name", type="string")] if named else []
    columns += [Column(name=name, type=kind) for name, kind in told.items()]
    tells = told.get("ts") == "timestamp" and told.get("paid") == "timestamp"
    if not columns:
        columns, attributes = [Column(name="bike", type="string")], [*attributes, "bike"]
    valid = _dates(random) if not raw and not disjoint and random.random() < 0.2 else {}
    daily = not raw and random.random() < 0.2  # dates in a column of that type
    periods = _periods_of_storages(random, made, raw=raw, daily=daily, with_days=bool(disjoint))
    unread = {storage for storage in periods if random.random() < made.kind.unreadable}
    tables = [
        StorageTable(
            storage=storage,
            update_periods=[period.name for period in some],
            partition_columns=[
                Column(name="dt", type="date" if daily else "string"),
                *([Column(name="region", type="string")] if by_region else []),
            ],
            time_partition_columns=["dt"],
            description=UNREAD if storage in unread else _parquet(f"{made.root}/{storage}/f{number}"),
        )
        for storage, some in periods.items()
    ]
    fact = Fact(
        name=f"f{number}",
        cube="rides",
        weight=random.choice([None, 0.1, 0.3, 1.0, 10.0]),
        columns=columns,
        properties={"cube.fact.is.aggregated": "false"} if raw else {},
        storage_tables=tables,
    )
    cubes.create(fact)
    names = [*(column.name for column in columns), *(["region"] if by_region else [])]
    for storage, of_storage in periods.items():
        table = f"{storage}_f{number}"
        kinds = [f"{name} {told.get(name) or _TYPES.get(name, 'BIGINT')}" for name in names]
        db.execute(f"CREATE TABLE shop.{table} ({', '.join([*kinds, 'dt DATE' if daily else 'dt VARCHAR'])})")
        for period in of_storage:
            indexes = list(range(period.floor_index(_moment(BEGIN)), period.ceil_index(_moment(END))))
            chance = random.choice([0, 0, 0.02, 0.1] if disjoint else [0, 0, 0.02, 0.3])
            holes = {index for index in indexes if random.random() < chance}
            wrong = holes | {index for index in indexes if not _within(period, index, valid)}
            there = [index for index in indexes if index not in holes]
            if raw and tells and period is UpdatePeriod.HOURLY:
                made.whole |= not holes
                (made.unread if storage in unread else made.hours).append(set(there))
            others = [{"region": region} for region in (*REGIONS, None)] if by_region else [{}]
            times = [{"dt": period.format_index(index)} for index in there]
            # Bytes decide between facts of one weight, unless one of the able facts does not say them, as the fourth.
            says = {} if number == 3 else {"totalSize": str(10 + (7 * number + 3 * len(storage)) % 11)}
            partitions = [PartitionDesc(period.name, one, other, parameters=says) for one in times for other in others]
            cubes.add_partitions(f"f{number}", storage, partitions)
            _fill(db, table, period, names, attributes, told, named, raw)
            for name, dates in dated.items():
                outside = [index for index in there if not _within(period, index, dates)]
                db.execute(f"UPDATE shop.{table} SET {name} = {_poison(name)} WHERE {_is_of(period, outside)}")
            db.execute(f"DELETE FROM shop.{table} WHERE {_is_of(period, wrong)}")
            if wrong:
                poison = ", ".join(_poison(name) for name in names)
                rows = ", ".join(f"({poison}, '{period.format_index(index)}')" for index in sorted(wrong))
                db.execute(f"INSERT INTO shop.{table} VALUES {rows}")
    if valid:  # only now, as partitions of other times cannot be registered
        cubes.alter(fact.changed(**valid))


UNREAD = TableDescription(table_properties={"spark.sql.sources.provider": "delta"})
"""Files that hbstore cannot read."""


def _periods_of_storages(random, made, *, raw, daily, with_days):
    """The update periods of a fact on each of its storages."""
    periods = {}
    for storage in ["lake", "vault"][: random.choice([1, 1, 2])]:
        if daily:
            periods[storage] = [UpdatePeriod.DAILY]
        elif raw and (not made.kind.known or random.random() < 0.7):  # as a part of a day has no rows without times
            periods[storage] = [UpdatePeriod.HOURLY]
        else:
            periods[storage] = _periods(random, with_days=with_days)
    return periods


def _parquet(location):
    return TableDescription(location=location, format="parquet")


def _periods(random, *, with_days):
    """Some update periods; with days, as hardly a query would be answered by several facts without."""
    found = random.sample(list(_DUCK), random.randint(1, 3))
    return list(dict.fromkeys([*found, UpdatePeriod.DAILY])) if with_days else found


def _columns(random, raw, attributes, measures, by_region):
    """Columns of attributes and measures, and the days in which some of them are right."""
    named = [name for name in (*attributes, *measures) if not (by_region and name == "region")]
    dated = {name: _dates(random) for name in named if not raw and random.random() < 0.1}
    return [Column(name=name, type=ATTRIBUTES.get(name, "bigint"), **dated.get(name, {})) for name in named], dated


def _is_of(period, indexes):
    """The condition that a row is in one of some partitions."""
    texts = ", ".join(f"'{period.format_index(index)}'" for index in sorted(indexes))
    return f"dt IN ({texts})" if texts else "false"


def _dates(random):
    """A first day, or a last one, or both."""
    days = sorted(random.sample(range(1, 60), 2))
    texts = [f"{BEGIN + dt.timedelta(days=day):%Y-%m-%d}" for day in days]
    found = {"start_time": texts[0], "end_time": texts[1]}
    return random.choice([found, {"start_time": texts[0]}, {"end_time": texts[1]}])


def _within(period, index, dates):
    """Whether a part of a period lies within such days."""
    first, last = (
        _moment(dt.datetime.fromisoformat(dates[name])) if name in dates else None
        for name in ("start_time", "end_time")
    )
    return (first is None or first <= period.moment(index)) and (last is None or period.moment(index + 1) <= last)


_TYPES = {"region": "VARCHAR", "bike": "VARCHAR", "customer": "INT", "customer_name": "VARCHAR"}
_DUCK = {
    UpdatePeriod.HOURLY: "strftime(base.ts, '%Y-%m-%d-%H')",
    UpdatePeriod.DAILY: "strftime(base.ts, '%Y-%m-%d')",
    UpdatePeriod.WEEKLY: "strftime(base.ts, '%G-W%V')",
    UpdatePeriod.MONTHLY: "strftime(base.ts, '%Y-%m')",
}


def _moment(time):
    from hbstore.times.moments import moment

    return moment(time.replace(tzinfo=dt.UTC))


def _poison(name):
    if name in MEASURES or name in PARTS:
        return str(POISON)
    return {**dict.fromkeys(("ts", "paid"), "TIMESTAMP '2015-01-05'"), "customer": "77"}.get(name, "'poison'")


def _fill(db, table, period, names, attributes, times, named, raw):
    text = _DUCK[period]
    source = "base LEFT JOIN shop.lake_customers c ON base.customer = c.id"
    told = {name: f"CAST(base.{_OWN.get(name, name)} AS {kind})" for name, kind in times.items()}
    told |= {"customer_name": "c.name"}
    if raw:
        selected = ", ".join(told.get(name, f"base.{name}") for name in names)
        db.execute(f"INSERT INTO shop.{table} SELECT {selected}, {text} FROM {source}")
        return
    group = [*(f"base.{name}" for name in attributes), *(["c.name"] if named else []), *(told[name] for name in times)]
    made = []
    for name in names:
        if name in MEASURES:
            made.append(f"{MEASURES[name]}(base.{name})")
        elif name in PARTS:
            made.append("{}(base.{})".format(*PARTS[name]))
        else:
            made.append(told.get(name, f"base.{name}"))
    db.execute(
        f"INSERT INTO shop.{table} SELECT {', '.join([*made, text])} FROM {source} GROUP BY {', '.join([*group, text])}"
    )


_OWN = {"ts": "known_ts"}
"""The columns of the cube's rows that columns of facts have."""


def _time_columns(random, kind, raw):
    """The times that a fact has as columns, with their types."""
    chances = {"ts": 0.8, "paid": 0.8} if raw else {"ts": 0.1, "paid": 0.5 if kind.dates else 0.2}
    names = [name for name, chance in chances.items() if random.random() < chance]
    if not raw and not kind.known:
        names = [name for name in names if name != "ts"]
    return {name: "date" if random.random() < kind.dates else "timestamp" for name in names}
