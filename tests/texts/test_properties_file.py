from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import InvalidInput
from hbstore.texts.properties_file import read_json_properties, read_properties, write_properties

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \t\n\r\f\\=:#!"), max_size=12)
PROPERTIES = st.dictionaries(TEXTS, TEXTS, max_size=8)
JAVA = """
import java.io.*;
import java.nio.file.*;
import java.util.*;

class Reprint {
    public static void main(String[] args) throws IOException {
        var properties = new Properties();
        properties.load(new FileInputStream(args[0]));
        var lines = new ArrayList<String>();
        for (var name : properties.stringPropertyNames()) {
            lines.add(hex(name) + " " + hex(properties.getProperty(name)));
        }
        Files.write(Path.of(args[1]), lines);
        properties.store(new FileOutputStream(args[2]), "Sales\\nand more");
    }

    static String hex(String text) throws IOException {
        return "x" + HexFormat.of().formatHex(text.getBytes("UTF-8"));
    }
}
"""


@given(PROPERTIES)
def test_what_is_written_is_read(properties):
    text = write_properties(properties)
    assert text.isascii()
    assert len(text.splitlines()) == len(properties)
    assert read_properties(text, "f") == properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("# a=b\n  ! c=d\n\n \t\n", {}),
        ("a=b", {"a": "b"}),
        ("a = b \n", {"a": "b "}),
        ("a:b\rc d\r\ne\t=\f f", {"a": "b", "c": "d", "e": "f"}),
        ("a==b", {"a": "=b"}),
        ("a = : b", {"a": ": b"}),
        ("=b", {"": "b"}),
        ("a", {"a": ""}),
        ("a=b\\\n  c\\\r\n\td", {"a": "bcd"}),
        ("a=b\\\n#c", {"a": "b#c"}),
        ("a=b\\\n\nc=d", {"a": "b", "c": "d"}),
        ("# a\\\nb=c", {"b": "c"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=b\\", {"a": "b"}),
        (r"a\ b\=\:c=\ d", {"a b=:c": " d"}),
        (r"a=\t\n\r\f\q\u00e4\ud83d\ude00", {"a": "\t\n\r\fqä😀"}),
        ("ä=ö", {"ä": "ö"}),
    ],
)
def test_what_java_reads(text, expected):
    assert read_properties(text, "f") == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=b\n\nb=c\na=d", "line=4, property=a"),
        ("a=1\nb=\\u12g4", "an invalid escape sequence: file=f, line=2"),
        ("a=\\u", "an invalid escape sequence: file=f, line=1"),
        ("a=\\ud83d", "an invalid escape sequence: file=f, line=1"),
    ],
)
def test_mistakes_in_properties(text, message):
    with pytest.raises(InvalidInput, match=message):
        read_properties(text, "f")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the file is not JSON"),
        ("[" * 100_000, "the file is not JSON"),
        ('["a"]', "the file is not a JSON object"),
        ('{"a": 1}', "the value of a property is not a text: file=f, property=a"),
        ('{"a": {"b": "c"}}', "the value of a property is not a text: file=f, property=a"),
        ('{"a": "1", "a": "2"}', "a property occurs twice: file=f, property=a"),
    ],
)
def test_mistakes_in_json(text, message):
    with pytest.raises(InvalidInput, match=message):
        read_json_properties(text, "f")


@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
def test_java_reads_and_writes_the_same(tmp_path):
    properties = {
        "cube.storagetable.partition.timeline.cache.DAILY.dt.holes0": "2015-01-03,2015-01-04",
        " a=b:c#d!e\\f": "  x = y : z # ! \\ ",
        "ümläut😀": "tab\tline\nreturn\rfeed\f\0\x7f",
        "#": "",
        "": "nameless",
    }
    (tmp_path / "Reprint.java").write_text(JAVA)
    (tmp_path / "ours.properties").write_text(write_properties(properties))
    subprocess.run(
        ["java", "Reprint.java", "ours.properties", "seen", "theirs.properties"], cwd=tmp_path, check=True, timeout=120
    )
    seen = dict(line.split() for line in (tmp_path / "seen").read_text().splitlines())
    decoded = {bytes.fromhex(name[1:]).decode(): bytes.fromhex(value[1:]).decode() for name, value in seen.items()}
    assert decoded == properties
    assert read_properties((tmp_path / "theirs.properties").read_text(), "theirs") == properties
