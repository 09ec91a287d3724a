"""Tests of the ordered rows. The contract's assertions stand in modules that pytest does not collect by itself."""

import pytest

pytest.register_assert_rewrite("tests.rows.contract", "tests.rows.contract_of_writing")
