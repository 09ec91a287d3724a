// What hbstore keeps in its rows: the Hive Metastore's own structs for databases, tables and partitions, as of Hive 2.3.
// Field numbers and types are the wire form; hbstore/model/structs.py reads and writes it, and tests/model/test_structs.py holds
// that module to this file. Every field is optional: a field that is not set is not written.

namespace py hbstore.hive_metastore

// A column of the data or of the partitioning.
struct FieldSchema {
  1: optional string name,
  2: optional string type,
  3: optional string comment
}

struct SerDeInfo {
  1: optional string name,
  2: optional string serializationLib,
  3: optional map<string, string> parameters
}

// order: 1 ascending, 0 descending.
struct Order {
  1: optional string col,
  2: optional i32 order
}

struct SkewedInfo {
  1: optional list<string> skewedColNames,
  2: optional list<list<string>> skewedColValues,
  3: optional map<list<string>, string> skewedColValueLocationMaps
}

// Where and how files are stored. The location is a table's or a partition's own; the rest is often the same.
struct StorageDescriptor {
  1: optional list<FieldSchema> cols,
  2: optional string location,
  3: optional string inputFormat,
  4: optional string outputFormat,
  5: optional bool compressed,
  6: optional i32 numBuckets,
  7: optional SerDeInfo serdeInfo,
  8: optional list<string> bucketCols,
  9: optional list<Order> sortCols,
  10: optional map<string, string> parameters,
  11: optional SkewedInfo skewedInfo,
  12: optional bool storedAsSubDirectories
}

// grantorType: 1 user, 2 role, 3 group.
struct PrivilegeGrantInfo {
  1: optional string privilege,
  2: optional i32 createTime,
  3: optional string grantor,
  4: optional i32 grantorType,
  5: optional bool grantOption
}

struct PrincipalPrivilegeSet {
  1: optional map<string, list<PrivilegeGrantInfo>> userPrivileges,
  2: optional map<string, list<PrivilegeGrantInfo>> groupPrivileges,
  3: optional map<string, list<PrivilegeGrantInfo>> rolePrivileges
}

// ownerType: 1 user, 2 role, 3 group.
struct Database {
  1: optional string name,
  2: optional string description,
  3: optional string locationUri,
  4: optional map<string, string> parameters,
  5: optional PrincipalPrivilegeSet privileges,
  6: optional string ownerName,
  7: optional i32 ownerType
}

struct Table {
  1: optional string tableName,
  2: optional string dbName,
  3: optional string owner,
  4: optional i32 createTime,
  5: optional i32 lastAccessTime,
  6: optional i32 retention,
  7: optional StorageDescriptor sd,
  8: optional list<FieldSchema> partitionKeys,
  9: optional map<string, string> parameters,
  10: optional string viewOriginalText,
  11: optional string viewExpandedText,
  12: optional string tableType,
  13: optional PrincipalPrivilegeSet privileges,
  14: optional bool temporary,
  15: optional bool rewriteEnabled
}

struct Partition {
  1: optional list<string> values,
  2: optional string dbName,
  3: optional string tableName,
  4: optional i32 createTime,
  5: optional i32 lastAccessTime,
  6: optional StorageDescriptor sd,
  7: optional map<string, string> parameters,
  8: optional PrincipalPrivilegeSet privileges
}
