"""The model of random stars: a cube of rides, with facts to come, and two dimensions."""

# ruff: noqa: DTZ001  times of rows have no time zone, as in the tables

from __future__ import annotations

import datetime as dt

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension
from hbstore.cubes.fields import ChainField, DimAttribute, Edge, Expression, ExpressionSpec, JoinChain, Measure

BEGIN, END = dt.datetime(2015, 1, 1), dt.datetime(2015, 3, 11)
HOURS = int((END - BEGIN).total_seconds() // 3600)
NOW = dt.datetime(2015, 4, 1, tzinfo=dt.UTC)
ATTRIBUTES = {"region": "string", "bike": "string", "customer": "int"}
REGIONS = ["eu", "o'brien", '"x"']
MEASURES = {"revenue": "sum", "n": "count", "low": "min", "high": "max", "price": "avg"}
PARTS = {"price_sum": ("sum", "price"), "price_n": ("count", "price"), "revenue_n": ("count", "revenue")}
"""Measures of rolled-up facts that hold parts of others."""
POISON = 1_000_000_000

CUBE = Cube(
    name="rides",
    time_dimensions={"ts": "dt", "paid": "paid_dt"},
    measures=[
        Measure(name=name, type="bigint", default_aggregate=kind)
        for name, kind in [*MEASURES.items(), *((name, kind) for name, (kind, _) in PARTS.items())]
    ],
    properties={
        **{f"cube.measure.{of}.{kind}": name for name, (kind, of) in PARTS.items()},
        "cube.timedim.relation.paid": "ts+[-26 hours,3 days]",
    },
    dim_attributes=[
        DimAttribute(name="ts", type="timestamp"),
        DimAttribute(name="paid", type="timestamp"),
        *(DimAttribute(name=name, type=kind) for name, kind in ATTRIBUTES.items()),
        DimAttribute(name="customer_name", type="string", chain=[ChainField(chain="cust", field="name")]),
    ],
    expressions=[
        Expression(name="ratio", type="double", specs=[ExpressionSpec(expression="revenue / n")]),
        Expression(name="label", type="string", specs=[ExpressionSpec(expression="concat(region, '-', bike)")]),
        Expression(
            name="quoted",
            type="string",
            specs=[
                ExpressionSpec(expression="""case when region = 'o''brien' then "a""b" else 'it\\'s' end"""),
            ],
        ),
        Expression(
            name="day_name",
            type="string",
            specs=[
                ExpressionSpec(expression="array('Mon', 'Tue', 'Wed', 'it''s Thu', 'Fri', 'Sat', 'Sun')[weekday(ts)]")
            ],
        ),
        Expression(name="either", type="boolean", specs=[ExpressionSpec(expression="region = 'eu' or bike = 'a'")]),
        Expression(name="diff", type="bigint", specs=[ExpressionSpec(expression="revenue - high")]),
        Expression(
            name="dated",
            type="bigint",
            specs=[
                ExpressionSpec(expression="revenue", end_time="2015-01-20T00:00:00"),
                ExpressionSpec(expression="revenue * 2", start_time="2015-01-20T00:00:00"),
            ],
        ),
        Expression(
            name="season",
            type="string",
            specs=[
                ExpressionSpec(expression="upper(bike)", end_time="2015-02-10T00:00:00"),
                ExpressionSpec(expression="bike", start_time="2015-02-10T00:00:00"),
            ],
        ),
        Expression(
            name="eu_revenue",
            type="bigint",
            specs=[ExpressionSpec(expression="sum(case when region = 'eu' then revenue end)")],
        ),
    ],
    join_chains=[
        JoinChain(name="cust", paths=[[Edge.parse("rides.customer = customer.id")]]),
        JoinChain(
            name="town", paths=[[Edge.parse("rides.customer = customer.id"), Edge.parse("customer.city = city.id")]]
        ),
    ],
)
DERIVED = DerivedCube(
    name="part",
    parent="rides",
    measures=[*MEASURES, *(one.name for one in CUBE.expressions)],
    dim_attributes=[*ATTRIBUTES, "customer_name"],
)
DIMENSIONS = [
    Dimension(
        name="customer",
        dim_attributes=[
            DimAttribute(name=name, type=kind) for name, kind in (("id", "int"), ("name", "string"), ("city", "int"))
        ],
        expressions=[Expression(name="shout", type="string", specs=[ExpressionSpec(expression="upper(name)")])],
    ),
    Dimension(
        name="city", dim_attributes=[DimAttribute(name="id", type="int"), DimAttribute(name="name", type="string")]
    ),
]
