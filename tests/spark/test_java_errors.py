"""What errors of Java say to people."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from hbstore.errors import FileOperationFailed
from hbstore.spark.hadoop import hadoop_path
from hbstore.spark.java_errors import files_fail, root_cause


@pytest.mark.spark
def test_an_error_without_a_cause_says_what_it_is_and_not_which_call_it_was(spark):
    with pytest.raises(Py4JJavaError) as caught:
        spark._jvm.java.util.Optional.empty().get()
    assert root_cause(caught.value) == "java.util.NoSuchElementException: No value present"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["only this", "\tat some.place"], "only this"),
        (["first", "Caused by: A: second", "\tat some.place", "Caused by: B: third"], "B: third"),
        (["first", "Caused by: A: no b: third", "Caused by: B: third", "Caused by: C: third"], "A: no b: third"),
        (
            ["first", "Caused by: A: second", "Caused by: java.lang.NullPointerException"],
            "java.lang.NullPointerException",
        ),
        (["x" * 1000], "x" * 500),
    ],
)
def test_the_cause_at_the_bottom(lines, expected):
    assert root_cause(PySparkException("\n".join(lines))) == expected


@pytest.mark.spark
@pytest.mark.parametrize("location", ["nosuch://bucket/x", ""])
def test_file_systems_that_are_not_there_are_named(spark, location):
    with pytest.raises(FileOperationFailed) as caught, files_fail("no use", location):
        hadoop_path(spark, location)
    assert (caught.value.text, caught.value.fields["location"]) == ("no use", location)
    assert "nosuch" in caught.value.fields["reason"] or "empty string" in caught.value.fields["reason"]
    assert "\n" not in caught.value.fields["reason"]
