"""Catalogs: there is one, and it stays."""

from __future__ import annotations

import pytest

from tests.metastore.client import TYPES


def test_there_is_one(shop):
    assert shop.get_catalogs().names == ["hive"]
    found = shop.get_catalog(TYPES.GetCatalogRequest("HIVE")).catalog
    assert (found.name, found.locationUri) == ("hive", f"file:{shop.root}")
    for name in ("spark", None):
        with pytest.raises(TYPES.NoSuchObjectException):
            shop.get_catalog(TYPES.GetCatalogRequest(name))


def test_it_stays_alone(shop):
    with pytest.raises(TYPES.AlreadyExistsException):
        shop.create_catalog(TYPES.CreateCatalogRequest(TYPES.Catalog("hive")))
    for given in (TYPES.Catalog("spark"), None):
        with pytest.raises(TYPES.MetaException, match="one catalog"):
            shop.create_catalog(TYPES.CreateCatalogRequest(given))
    with pytest.raises(TYPES.MetaException):
        shop.drop_catalog(TYPES.DropCatalogRequest("hive"))
    with pytest.raises(TYPES.InvalidOperationException):
        shop.alter_catalog(TYPES.AlterCatalogRequest("hive", TYPES.Catalog("other")))
    for change in (
        lambda: shop.drop_catalog(TYPES.DropCatalogRequest("spark")),
        lambda: shop.alter_catalog(TYPES.AlterCatalogRequest("spark", TYPES.Catalog("spark"))),
    ):
        with pytest.raises(TYPES.NoSuchObjectException):
            change()
    assert shop.get_catalogs().names == ["hive"]
