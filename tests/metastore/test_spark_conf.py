"""The settings for Spark: right, explained, and readable by what they are pasted into."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hbstore.cli.spark_conf import commands
from hbstore.errors import InvalidInput
from hbstore.metastore.spark_conf import Setting, as_arguments, as_properties, as_python, endpoint_uri, spark_settings

ODD = Setting("spark.sql.warehouse.dir", "file:/a b'c\"d\\e#f$g\\ü", "an odd one")


def printed(*arguments):
    result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def from_properties(text):
    """As java.util.Properties reads lines without separators in names, for the one escape that is used."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: re.sub(r"\\(.)", r"\1", value) for name, _, value in (line.partition(" ") for line in lines)}


def from_arguments(text):
    """The words that a shell makes of it, behind a command."""
    comments, _, rest = text.partition("--conf ")
    script = f"{comments}printf '%s\\0' --conf {rest}"
    words = subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    assert words[::2] == ["--conf"] * (len(words) // 2)
    return dict(word.split("=", 1) for word in words[1::2])


def from_python(text):
    """The string arguments of every ``.config(name, value)``."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and node.args]
    return {ast.literal_eval(call.args[0]): ast.literal_eval(call.args[1]) for call in calls}


WRITERS = (as_properties, as_arguments, as_python)
READERS = {"properties": from_properties, "args": from_arguments, "python": from_python}


@pytest.mark.parametrize("written", READERS)
def test_every_form_says_the_same(written, tmp_path):
    arguments = ["--host", "catalog", "--port", "9999", "--warehouse", str(tmp_path / "a b")]
    read = READERS[written](printed(*arguments, "--format", written))
    assert read == {one["name"]: one["value"] for one in json.loads(printed(*arguments, "--json"))}
    assert read["spark.hadoop.hive.metastore.uris"] == "thrift://catalog:9999"
    assert read["spark.sql.warehouse.dir"] == f"file:{tmp_path}/a b"
    assert read["spark.sql.catalogImplementation"] == "hive"
    assert read["spark.sql.hive.metastorePartitionPruningFallbackOnException"] == "true"


@pytest.mark.parametrize(("written", "write"), list(zip(READERS, WRITERS, strict=True)))
def test_odd_characters_arrive(written, write):
    assert READERS[written]("\n".join(write([ODD]))) == {ODD.name: ODD.value}


@pytest.mark.parametrize("written", READERS)
def test_every_setting_has_its_reason(written):
    text = printed("--format", written, "--warehouse", "/wh")
    for _, _, reason in spark_settings(["thrift://127.0.0.1:9083"], "file:/wh"):
        assert len(reason.splitlines()) == 1
        assert reason in text


def test_defaults_are_those_of_the_endpoint():
    read = from_properties(printed())
    assert read["spark.hadoop.hive.metastore.uris"] == "thrift://127.0.0.1:9083"
    assert "spark.sql.warehouse.dir" not in read


def test_several_endpoints():
    read = from_properties(printed("--uri", "thrift://one:9083", "--uri", "thrift://[::1]:9084"))
    assert read["spark.hadoop.hive.metastore.uris"] == "thrift://one:9083,thrift://[::1]:9084"
    assert endpoint_uri("::1", 9084) == "thrift://[::1]:9084"


@pytest.mark.parametrize("uri", ["one:9083", "http://one:9083", "thrift://one", "thrift://one:0", "thrift://one:99999"])
def test_what_is_no_endpoint_is_refused(uri):
    with pytest.raises(InvalidInput, match="the text is not the URI of an endpoint"):
        spark_settings(["thrift://one:9083", uri], None)


def test_what_is_no_request_is_refused():
    with pytest.raises(InvalidInput, match="the endpoint is missing"):
        spark_settings([], None)
    with pytest.raises(InvalidInput, match="unprintable characters"):
        spark_settings(["thrift://one:9083"], "file:/a\nb")
    with pytest.raises(InvalidInput, match="excludes --host"):
        printed("--uri", "thrift://one:9083", "--port", "9084")


SETTINGS_ARE_NAMED_IN = {
    "spark.hadoop.hive.": ("hive-common-*.jar", "org/apache/hadoop/hive/conf/HiveConf$ConfVars.class"),
    "spark.sql.hive.": ("spark-catalyst_*.jar", "org/apache/spark/sql/internal/SQLConf$.class"),
    "spark.sql.sources.": ("spark-catalyst_*.jar", "org/apache/spark/sql/internal/SQLConf$.class"),
    "spark.sql.": ("spark-catalyst_*.jar", "org/apache/spark/sql/internal/StaticSQLConf$.class"),
}


@pytest.mark.spark
@pytest.mark.parametrize("name", [setting.name for setting in spark_settings(["thrift://one:9083"], "file:/wh")])
def test_spark_or_its_hive_client_knows_the_setting(name):
    jars = Path(pytest.importorskip("pyspark").__file__).parent / "jars"
    prefix = next(filter(name.startswith, SETTINGS_ARE_NAMED_IN))
    pattern, member = SETTINGS_ARE_NAMED_IN[prefix]
    with zipfile.ZipFile(next(jars.glob(pattern))) as jar:
        assert name.removeprefix("spark.hadoop.").encode() in jar.read(member)
