// The Hive Metastore's service of Hive 2.3, and what clients of Hive 3.1, 4.0 and 4.1 call beside it, as far as hbstore
// has it.
//
// Names, numbers and types are the wire form. All fields are optional: what is not set is not written, and what a client
// leaves out has the default that stands here. Structs that are stored stand in ../hive_metastore.thrift. Fields that
// later versions added to requests, and that change nothing here, are left out (most catalogs, what a client is able
// to understand, lists of valid write ids, ids of tables): reading passes over them.
// docs/metastore.md says what each method does.

include "hive_metastore.thrift"

namespace py hbstore.metastore.service

// What methods raise.

exception AlreadyExistsException {
  1: optional string message
}

exception ConfigValSecurityException {
  1: optional string message
}

exception InvalidInputException {
  1: optional string message
}

exception InvalidObjectException {
  1: optional string message
}

exception InvalidOperationException {
  1: optional string message
}

exception InvalidPartitionException {
  1: optional string message
}

exception MetaException {
  1: optional string message
}

exception NoSuchLockException {
  1: optional string message
}

exception NoSuchObjectException {
  1: optional string message
}

exception NoSuchTxnException {
  1: optional string message
}

exception TxnAbortedException {
  1: optional string message
}

exception TxnOpenException {
  1: optional string message
}

exception UnknownDBException {
  1: optional string message
}

exception UnknownPartitionException {
  1: optional string message
}

exception UnknownTableException {
  1: optional string message
}

// Tables.

struct EnvironmentContext {
  1: optional map<string, string> properties
}

struct SQLPrimaryKey {
  1: optional string table_db,
  2: optional string table_name,
  3: optional string column_name,
  4: optional i32 key_seq,
  5: optional string pk_name,
  6: optional bool enable_cstr,
  7: optional bool validate_cstr,
  8: optional bool rely_cstr,
  9: optional string catName
}

struct SQLForeignKey {
  1: optional string pktable_db,
  2: optional string pktable_name,
  3: optional string pkcolumn_name,
  4: optional string fktable_db,
  5: optional string fktable_name,
  6: optional string fkcolumn_name,
  7: optional i32 key_seq,
  8: optional i32 update_rule,
  9: optional i32 delete_rule,
  10: optional string fk_name,
  11: optional string pk_name,
  12: optional bool enable_cstr,
  13: optional bool validate_cstr,
  14: optional bool rely_cstr,
  15: optional string catName
}

struct GetTableResult {
  1: optional hive_metastore.Table table
}

struct ClientCapabilities {
  1: optional list<i32> values
}

struct GetTableRequest {
  1: optional string dbName,
  2: optional string tblName,
  3: optional ClientCapabilities capabilities,
  8: optional list<string> processorCapabilities,
  9: optional string processorIdentifier
}

struct GetTablesResult {
  1: optional list<hive_metastore.Table> tables
}

struct GetTablesRequest {
  1: optional string dbName,
  2: optional list<string> tblNames,
  3: optional ClientCapabilities capabilities,
  8: optional string tablesPattern
}

struct TableMeta {
  1: optional string dbName,
  2: optional string tableName,
  3: optional string tableType,
  4: optional string comments,
  5: optional string catName,
  6: optional string ownerName,
  7: optional i32 ownerType
}

// Constraints. Those of the last four kinds Hive 3 added.

struct SQLUniqueConstraint {
  1: optional string catName,
  2: optional string table_db,
  3: optional string table_name,
  4: optional string column_name,
  5: optional i32 key_seq,
  6: optional string uk_name,
  7: optional bool enable_cstr,
  8: optional bool validate_cstr,
  9: optional bool rely_cstr
}

struct SQLNotNullConstraint {
  1: optional string catName,
  2: optional string table_db,
  3: optional string table_name,
  4: optional string column_name,
  5: optional string nn_name,
  6: optional bool enable_cstr,
  7: optional bool validate_cstr,
  8: optional bool rely_cstr
}

struct SQLDefaultConstraint {
  1: optional string catName,
  2: optional string table_db,
  3: optional string table_name,
  4: optional string column_name,
  5: optional string default_value,
  6: optional string dc_name,
  7: optional bool enable_cstr,
  8: optional bool validate_cstr,
  9: optional bool rely_cstr
}

struct SQLCheckConstraint {
  1: optional string catName,
  2: optional string table_db,
  3: optional string table_name,
  4: optional string column_name,
  5: optional string check_expression,
  6: optional string dc_name,
  7: optional bool enable_cstr,
  8: optional bool validate_cstr,
  9: optional bool rely_cstr
}

struct PrimaryKeysResponse {
  1: optional list<SQLPrimaryKey> primaryKeys
}

struct PrimaryKeysRequest {
  1: optional string db_name,
  2: optional string tbl_name,
  3: optional string catName
}

struct ForeignKeysResponse {
  1: optional list<SQLForeignKey> foreignKeys
}

struct ForeignKeysRequest {
  1: optional string parent_db_name,
  2: optional string parent_tbl_name,
  3: optional string foreign_db_name,
  4: optional string foreign_tbl_name,
  5: optional string catName
}

// The request of each of the kinds that Hive 3 added, which has the same fields.

struct LaterConstraintsRequest {
  1: optional string catName,
  2: optional string db_name,
  3: optional string tbl_name
}

struct UniqueConstraintsResponse {
  1: optional list<SQLUniqueConstraint> uniqueConstraints
}

struct NotNullConstraintsResponse {
  1: optional list<SQLNotNullConstraint> notNullConstraints
}

struct DefaultConstraintsResponse {
  1: optional list<SQLDefaultConstraint> defaultConstraints
}

struct CheckConstraintsResponse {
  1: optional list<SQLCheckConstraint> checkConstraints
}

struct AddPrimaryKeyRequest {
  1: optional list<SQLPrimaryKey> primaryKeyCols
}

struct AddForeignKeyRequest {
  1: optional list<SQLForeignKey> foreignKeyCols
}

struct AddUniqueConstraintRequest {
  1: optional list<SQLUniqueConstraint> uniqueConstraintCols
}

struct AddNotNullConstraintRequest {
  1: optional list<SQLNotNullConstraint> notNullConstraintCols
}

struct AddDefaultConstraintRequest {
  1: optional list<SQLDefaultConstraint> defaultConstraintCols
}

struct AddCheckConstraintRequest {
  1: optional list<SQLCheckConstraint> checkConstraintCols
}

struct AllTableConstraintsRequest {
  1: optional string dbName,
  2: optional string tblName,
  3: optional string catName
}

struct SQLAllTableConstraints {
  1: optional list<SQLPrimaryKey> primaryKeys,
  2: optional list<SQLForeignKey> foreignKeys,
  3: optional list<SQLUniqueConstraint> uniqueConstraints,
  4: optional list<SQLNotNullConstraint> notNullConstraints,
  5: optional list<SQLDefaultConstraint> defaultConstraints,
  6: optional list<SQLCheckConstraint> checkConstraints
}

struct AllTableConstraintsResponse {
  1: optional SQLAllTableConstraints allTableConstraints
}

struct DropConstraintRequest {
  1: optional string dbname,
  2: optional string tablename,
  3: optional string constraintname,
  4: optional string catName
}

// Reading partitions.

struct PartitionsByExprResult {
  1: optional list<hive_metastore.Partition> partitions,
  2: optional bool hasUnknownPartitions
}

struct PartitionsByExprRequest {
  1: optional string dbName,
  2: optional string tblName,
  3: optional binary expr,
  4: optional string defaultPartitionName,
  5: optional i16 maxParts = -1,
  7: optional string order
}

struct PartitionWithoutSD {
  1: optional list<string> values,
  2: optional i32 createTime,
  3: optional i32 lastAccessTime,
  4: optional string relativePath,
  5: optional map<string, string> parameters,
  6: optional hive_metastore.PrincipalPrivilegeSet privileges
}

struct PartitionSpecWithSharedSD {
  1: optional list<PartitionWithoutSD> partitions,
  2: optional hive_metastore.StorageDescriptor sd
}

struct PartitionListComposingSpec {
  1: optional list<hive_metastore.Partition> partitions
}

struct PartitionSpec {
  1: optional string dbName,
  2: optional string tableName,
  3: optional string rootPath,
  4: optional PartitionSpecWithSharedSD sharedSDPartitionSpec,
  5: optional PartitionListComposingSpec partitionList,
  6: optional string catName
}

struct PartitionValuesRow {
  1: optional list<string> row
}

struct PartitionValuesResponse {
  1: optional list<PartitionValuesRow> partitionValues
}

struct PartitionValuesRequest {
  1: optional string dbName,
  2: optional string tblName,
  3: optional list<hive_metastore.FieldSchema> partitionKeys,
  4: optional bool applyDistinct = true,
  5: optional string filter,
  6: optional list<hive_metastore.FieldSchema> partitionOrder,
  7: optional bool ascending = true,
  8: optional i64 maxParts = -1
}

// Writing partitions.

struct AddPartitionsResult {
  1: optional list<hive_metastore.Partition> partitions,
  3: optional list<hive_metastore.FieldSchema> partitionColSchema
}

struct AddPartitionsRequest {
  1: optional string dbName,
  2: optional string tblName,
  3: optional list<hive_metastore.Partition> parts,
  4: optional bool ifNotExists,
  5: optional bool needResult = true,
  8: optional bool skipColumnSchemaForPartition,
  9: optional list<hive_metastore.FieldSchema> partitionColSchema,
  10: optional EnvironmentContext environmentContext
}

struct DropPartitionsResult {
  1: optional list<hive_metastore.Partition> partitions
}

struct DropPartitionsExpr {
  1: optional binary expr,
  2: optional i32 partArchiveLevel
}

struct RequestPartsSpec {
  1: optional list<string> names,
  2: optional list<DropPartitionsExpr> exprs
}

struct DropPartitionsRequest {
  1: optional string dbName,
  2: optional string tblName,
  3: optional RequestPartsSpec parts,
  4: optional bool deleteData,
  5: optional bool ifExists,
  6: optional bool ignoreProtection,
  7: optional EnvironmentContext environmentContext,
  8: optional bool needResult = true
}

// Column statistics.

struct ColumnStatisticsDesc {
  1: optional bool isTblLevel,
  2: optional string dbName,
  3: optional string tableName,
  4: optional string partName,
  5: optional i64 lastAnalyzed
}

struct BooleanColumnStatsData {
  1: optional i64 numTrues,
  2: optional i64 numFalses,
  3: optional i64 numNulls,
  4: optional binary bitVectors
}

struct LongColumnStatsData {
  1: optional i64 lowValue,
  2: optional i64 highValue,
  3: optional i64 numNulls,
  4: optional i64 numDVs,
  5: optional binary bitVectors,
  6: optional binary histogram
}

struct DoubleColumnStatsData {
  1: optional double lowValue,
  2: optional double highValue,
  3: optional i64 numNulls,
  4: optional i64 numDVs,
  5: optional binary bitVectors,
  6: optional binary histogram
}

struct StringColumnStatsData {
  1: optional i64 maxColLen,
  2: optional double avgColLen,
  3: optional i64 numNulls,
  4: optional i64 numDVs,
  5: optional binary bitVectors
}

struct BinaryColumnStatsData {
  1: optional i64 maxColLen,
  2: optional double avgColLen,
  3: optional i64 numNulls,
  4: optional binary bitVectors
}

struct Decimal {
  1: optional binary unscaled,
  3: optional i16 scale
}

struct DecimalColumnStatsData {
  1: optional Decimal lowValue,
  2: optional Decimal highValue,
  3: optional i64 numNulls,
  4: optional i64 numDVs,
  5: optional binary bitVectors,
  6: optional binary histogram
}

struct Date {
  1: optional i64 daysSinceEpoch
}

struct DateColumnStatsData {
  1: optional Date lowValue,
  2: optional Date highValue,
  3: optional i64 numNulls,
  4: optional i64 numDVs,
  5: optional binary bitVectors,
  6: optional binary histogram
}

struct Timestamp {
  1: optional i64 secondsSinceEpoch
}

struct TimestampColumnStatsData {
  1: optional Timestamp lowValue,
  2: optional Timestamp highValue,
  3: optional i64 numNulls,
  4: optional i64 numDVs,
  5: optional binary bitVectors,
  6: optional binary histogram
}

struct ColumnStatisticsData {
  1: optional BooleanColumnStatsData booleanStats,
  2: optional LongColumnStatsData longStats,
  3: optional DoubleColumnStatsData doubleStats,
  4: optional StringColumnStatsData stringStats,
  5: optional BinaryColumnStatsData binaryStats,
  6: optional DecimalColumnStatsData decimalStats,
  7: optional DateColumnStatsData dateStats,
  8: optional TimestampColumnStatsData timestampStats
}

struct ColumnStatisticsObj {
  1: optional string colName,
  2: optional string colType,
  3: optional ColumnStatisticsData statsData
}

struct ColumnStatistics {
  1: optional ColumnStatisticsDesc statsDesc,
  2: optional list<ColumnStatisticsObj> statsObj,
  4: optional string engine = "hive"
}

struct SetPartitionsStatsRequest {
  1: optional list<ColumnStatistics> colStats,
  2: optional bool needMerge = false,
  5: optional string engine = "hive"
}

struct TableStatsResult {
  1: optional list<ColumnStatisticsObj> tableStats
}

struct TableStatsRequest {
  1: optional string dbName,
  2: optional string tblName,
  3: optional list<string> colNames,
  6: optional string engine = "hive"
}

struct PartitionsStatsResult {
  1: optional map<string, list<ColumnStatisticsObj>> partStats
}

struct PartitionsStatsRequest {
  1: optional string dbName,
  2: optional string tblName,
  3: optional list<string> colNames,
  4: optional list<string> partNames,
  7: optional string engine = "hive"
}

struct AggrStats {
  1: optional list<ColumnStatisticsObj> colStats,
  2: optional i64 partsFound
}

// Functions.

struct ResourceUri {
  1: optional i32 resourceType,
  2: optional string uri
}

struct Function {
  1: optional string functionName,
  2: optional string dbName,
  3: optional string className,
  4: optional string ownerName,
  5: optional i32 ownerType,
  6: optional i32 createTime,
  7: optional i32 functionType,
  8: optional list<ResourceUri> resourceUris
}

struct GetAllFunctionsResponse {
  1: optional list<Function> functions
}

// Locks and transactions.

struct LockResponse {
  1: optional i64 lockid,
  2: optional i32 state
}

struct LockComponent {
  1: optional i32 type,
  2: optional i32 level,
  3: optional string dbname,
  4: optional string tablename,
  5: optional string partitionname,
  6: optional i32 operationType = 5,
  7: optional bool isAcid = false,
  8: optional bool isDynamicPartitionWrite = false
}

struct LockRequest {
  1: optional list<LockComponent> component,
  2: optional i64 txnid,
  3: optional string user,
  4: optional string hostname,
  5: optional string agentInfo = "Unknown"
}

struct CheckLockRequest {
  1: optional i64 lockid,
  2: optional i64 txnid,
  3: optional i64 elapsed_ms
}

struct UnlockRequest {
  1: optional i64 lockid
}

struct HeartbeatRequest {
  1: optional i64 lockid,
  2: optional i64 txnid
}

struct ShowLocksResponseElement {
  1: optional i64 lockid,
  2: optional string dbname,
  3: optional string tablename,
  4: optional string partname,
  5: optional i32 state,
  6: optional i32 type,
  7: optional i64 txnid,
  8: optional i64 lastheartbeat,
  9: optional i64 acquiredat,
  10: optional string user,
  11: optional string hostname,
  12: optional i32 heartbeatCount = 0,
  13: optional string agentInfo,
  14: optional i64 blockedByExtId,
  15: optional i64 blockedByIntId,
  16: optional i64 lockIdInternal
}

struct ShowLocksResponse {
  1: optional list<ShowLocksResponseElement> locks
}

struct ShowLocksRequest {
  1: optional string dbname,
  2: optional string tablename,
  3: optional string partname,
  4: optional bool isExtended = false,
  5: optional i64 txnid
}

struct OpenTxnsResponse {
  1: optional list<i64> txn_ids
}

struct OpenTxnRequest {
  1: optional i32 num_txns,
  2: optional string user,
  3: optional string hostname,
  4: optional string agentInfo = "Unknown",
  5: optional string replPolicy
}

struct AbortTxnRequest {
  1: optional i64 txnid,
  2: optional string replPolicy
}

struct AbortTxnsRequest {
  1: optional list<i64> txn_ids
}

struct CommitTxnKeyValue {
  1: optional i64 tableId,
  2: optional string key,
  3: optional string value
}

struct CommitTxnRequest {
  1: optional i64 txnid,
  2: optional string replPolicy,
  5: optional CommitTxnKeyValue keyValue
}

// Hive 3 put the write id before the names that Hive 2.3 has.
struct AddDynamicPartitions {
  1: optional i64 txnid,
  2: optional string dbname,
  3: optional string tablename,
  4: optional list<string> partitionnames,
  5: optional i32 operationType = 5
}

// open_txns is a set for clients of Hive 2.3 and a list for later ones: it is written in both forms.
struct GetOpenTxnsResponse {
  1: optional i64 txn_high_water_mark,
  2: optional set<i64> open_txns,
  3: optional i64 min_open_txn,
  4: optional binary abortedBits
}

struct TxnInfo {
  1: optional i64 id,
  2: optional i32 state,
  3: optional string user,
  4: optional string hostname,
  5: optional string agentInfo = "Unknown",
  6: optional i32 heartbeatCount = 0,
  7: optional string metaInfo,
  8: optional i64 startedTime,
  9: optional i64 lastHeartbeatTime
}

struct GetOpenTxnsInfoResponse {
  1: optional i64 txn_high_water_mark,
  2: optional list<TxnInfo> open_txns
}

struct ShowCompactResponseElement {
  1: optional string dbname,
  2: optional string tablename,
  3: optional string partitionname,
  4: optional i32 type,
  5: optional string state,
  6: optional string workerid,
  7: optional i64 start,
  8: optional string runAs,
  9: optional i64 hightestTxnId,
  10: optional string metaInfo,
  11: optional i64 endTime,
  12: optional string hadoopJobId,
  13: optional i64 id
}

struct ShowCompactResponse {
  1: optional list<ShowCompactResponseElement> compacts
}

struct ShowCompactRequest {
}

// Roles and privileges.

struct Role {
  1: optional string roleName,
  2: optional i32 createTime,
  3: optional string ownerName
}

struct GrantRevokeRoleResponse {
  1: optional bool success
}

struct GrantRevokeRoleRequest {
  1: optional i32 requestType,
  2: optional string roleName,
  3: optional string principalName,
  4: optional i32 principalType,
  5: optional string grantor,
  6: optional i32 grantorType,
  7: optional bool grantOption
}

struct RolePrincipalGrant {
  1: optional string roleName,
  2: optional string principalName,
  3: optional i32 principalType,
  4: optional bool grantOption,
  5: optional i32 grantTime,
  6: optional string grantorName,
  7: optional i32 grantorPrincipalType
}

struct GetPrincipalsInRoleResponse {
  1: optional list<RolePrincipalGrant> principalGrants
}

struct GetPrincipalsInRoleRequest {
  1: optional string roleName
}

struct GetRoleGrantsForPrincipalResponse {
  1: optional list<RolePrincipalGrant> principalGrants
}

struct GetRoleGrantsForPrincipalRequest {
  1: optional string principal_name,
  2: optional i32 principal_type
}

struct HiveObjectRef {
  1: optional i32 objectType,
  2: optional string dbName,
  3: optional string objectName,
  4: optional list<string> partValues,
  5: optional string columnName
}

struct HiveObjectPrivilege {
  1: optional HiveObjectRef hiveObject,
  2: optional string principalName,
  3: optional i32 principalType,
  4: optional hive_metastore.PrivilegeGrantInfo grantInfo
}

struct PrivilegeBag {
  1: optional list<HiveObjectPrivilege> privileges
}

struct GrantRevokePrivilegeResponse {
  1: optional bool success
}

struct GrantRevokePrivilegeRequest {
  1: optional i32 requestType,
  2: optional PrivilegeBag privileges,
  3: optional bool revokeGrantOption
}

// Notifications.

struct CurrentNotificationEventId {
  1: optional i64 eventId
}

struct NotificationEvent {
  1: optional i64 eventId,
  2: optional i32 eventTime,
  3: optional string eventType,
  4: optional string dbName,
  5: optional string tableName,
  6: optional string message,
  7: optional string messageFormat
}

struct NotificationEventResponse {
  1: optional list<NotificationEvent> events
}

struct NotificationEventRequest {
  1: optional i64 lastEvent,
  2: optional i32 maxEvents
}

struct FireEventResponse {
}

struct InsertEventRequestData {
  1: optional list<string> filesAdded,
  2: optional list<string> filesAddedChecksum
}

struct FireEventRequestData {
  1: optional InsertEventRequestData insertData
}

struct FireEventRequest {
  1: optional bool successful,
  2: optional FireEventRequestData data,
  3: optional string dbName,
  4: optional string tableName,
  5: optional list<string> partitionVals
}

// Catalogs, which Hive 3 added: there is one.

struct Catalog {
  1: optional string name,
  2: optional string description,
  3: optional string locationUri,
  4: optional i32 createTime
}

struct CreateCatalogRequest {
  1: optional Catalog catalog
}

struct AlterCatalogRequest {
  1: optional string name,
  2: optional Catalog newCat
}

struct GetCatalogRequest {
  1: optional string name
}

struct GetCatalogResponse {
  1: optional Catalog catalog
}

struct GetCatalogsResponse {
  1: optional list<string> names
}

struct DropCatalogRequest {
  1: optional string name
}

// Databases and tables in requests of Hive 4.

struct GetDatabaseRequest {
  1: optional string name
}

// The fields of a Database, with the same numbers.
struct CreateDatabaseRequest {
  1: optional string databaseName,
  2: optional string description,
  3: optional string locationUri,
  4: optional map<string, string> parameters,
  5: optional hive_metastore.PrincipalPrivilegeSet privileges,
  6: optional string ownerName,
  7: optional i32 ownerType
}

struct GetDatabaseObjectsRequest {
  2: optional string pattern
}

struct GetDatabaseObjectsResponse {
  1: optional list<hive_metastore.Database> databases
}

struct AlterDatabaseRequest {
  1: optional string oldDbName,
  2: optional hive_metastore.Database newDb
}

struct DropDatabaseRequest {
  1: optional string name,
  3: optional bool ignoreUnknownDb,
  4: optional bool deleteData,
  5: optional bool cascade
}

struct CreateTableRequest {
  1: optional hive_metastore.Table table,
  2: optional EnvironmentContext envContext,
  3: optional list<SQLPrimaryKey> primaryKeys,
  4: optional list<SQLForeignKey> foreignKeys,
  5: optional list<SQLUniqueConstraint> uniqueConstraints,
  6: optional list<SQLNotNullConstraint> notNullConstraints,
  7: optional list<SQLDefaultConstraint> defaultConstraints,
  8: optional list<SQLCheckConstraint> checkConstraints,
  9: optional list<string> processorCapabilities,
  10: optional string processorIdentifier
}

struct AlterTableRequest {
  2: optional string dbName,
  3: optional string tableName,
  4: optional hive_metastore.Table table,
  5: optional EnvironmentContext environmentContext,
  8: optional list<string> processorCapabilities,
  9: optional string processorIdentifier,
  10: optional string expectedParameterKey,
  11: optional string expectedParameterValue
}

struct AlterTableResponse {
}

struct DropTableRequest {
  2: optional string dbName,
  3: optional string tableName,
  4: optional bool deleteData,
  5: optional EnvironmentContext envContext
}

struct TruncateTableRequest {
  1: optional string dbName,
  2: optional string tableName,
  3: optional list<string> partNames
}

struct TruncateTableResponse {
}

struct GetFieldsRequest {
  2: optional string dbName,
  3: optional string tblName
}

struct GetFieldsResponse {
  1: optional list<hive_metastore.FieldSchema> fields
}

struct GetSchemaRequest {
  2: optional string dbName,
  3: optional string tblName
}

struct GetSchemaResponse {
  1: optional list<hive_metastore.FieldSchema> fields
}

struct ExtendedTableInfo {
  1: optional string tblName
}

struct GetTablesExtRequest {
  2: optional string database,
  3: optional string tableNamePattern,
  5: optional i32 limit
}

// Partitions in requests of Hive 4.

struct GetPartitionRequest {
  2: optional string dbName,
  3: optional string tblName,
  4: optional list<string> partVals
}

struct GetPartitionResponse {
  1: optional hive_metastore.Partition partition
}

struct PartitionsRequest {
  2: optional string dbName,
  3: optional string tblName,
  4: optional i16 maxParts = -1
}

struct PartitionsResponse {
  1: optional list<hive_metastore.Partition> partitions
}

struct GetPartitionsPsWithAuthRequest {
  2: optional string dbName,
  3: optional string tblName,
  4: optional list<string> partVals,
  5: optional i16 maxParts = -1,
  13: optional list<string> partNames
}

struct GetPartitionsPsWithAuthResponse {
  1: optional list<hive_metastore.Partition> partitions
}

struct GetPartitionsByNamesRequest {
  1: optional string db_name,
  2: optional string tbl_name,
  3: optional list<string> names,
  5: optional list<string> processorCapabilities,
  6: optional string processorIdentifier
}

struct GetPartitionsByNamesResult {
  1: optional list<hive_metastore.Partition> partitions
}

struct GetPartitionsByFilterRequest {
  2: optional string dbName,
  3: optional string tblName,
  4: optional string filter,
  5: optional i16 maxParts = -1
}

struct GetPartitionNamesPsRequest {
  2: optional string dbName,
  3: optional string tblName,
  4: optional list<string> partValues,
  5: optional i16 maxParts = -1
}

struct GetPartitionNamesPsResponse {
  1: optional list<string> names
}

struct GetProjectionsSpec {
  1: optional list<string> fieldList,
  2: optional string includeParamKeyPattern,
  3: optional string excludeParamKeyPattern
}

struct GetPartitionsFilterSpec {
  7: optional i32 filterMode,
  8: optional list<string> filters
}

struct GetPartitionsRequest {
  2: optional string dbName,
  3: optional string tblName,
  7: optional GetProjectionsSpec projectionSpec,
  8: optional GetPartitionsFilterSpec filterSpec
}

struct GetPartitionsResponse {
  1: optional list<PartitionSpec> partitionSpec
}

struct AppendPartitionsRequest {
  2: optional string dbName,
  3: optional string tableName,
  4: optional string name,
  5: optional list<string> partVals,
  6: optional EnvironmentContext environmentContext
}

struct AlterPartitionsRequest {
  2: optional string dbName,
  3: optional string tableName,
  4: optional list<hive_metastore.Partition> partitions,
  5: optional EnvironmentContext environmentContext,
  8: optional bool skipColumnSchemaForPartition,
  9: optional list<hive_metastore.FieldSchema> partitionColSchema
}

struct AlterPartitionsResponse {
}

struct RenamePartitionRequest {
  2: optional string dbName,
  3: optional string tableName,
  4: optional list<string> partVals,
  5: optional hive_metastore.Partition newPart
}

struct RenamePartitionResponse {
}

struct DropPartitionRequest {
  2: optional string dbName,
  3: optional string tblName,
  4: optional string partName,
  5: optional list<string> partVals,
  6: optional bool deleteData,
  7: optional EnvironmentContext environmentContext
}

// Column statistics in requests of Hive 4.

struct SetPartitionsStatsResponse {
  1: optional bool result
}

struct DeleteColumnStatisticsRequest {
  2: optional string db_name,
  3: optional string tbl_name,
  4: optional list<string> part_names,
  5: optional list<string> col_names,
  7: optional bool tableLevel = false
}

// Functions in requests of Hive 4.

struct GetFunctionsRequest {
  1: optional string dbName,
  3: optional string pattern,
  4: optional bool returnNames = true
}

struct GetFunctionsResponse {
  1: optional list<string> function_names,
  2: optional list<Function> functions
}

// What HiveServer2 asks for by itself, again and again.

struct GetRuntimeStatsRequest {
  1: optional i32 maxWeight,
  2: optional i32 maxCreateTime
}

struct RuntimeStat {
  1: optional i32 createTime,
  2: optional i32 weight,
  3: optional binary payload
}

struct ScheduledQueryPollRequest {
  1: optional string clusterNamespace
}

struct ScheduledQueryKey {
  1: optional string scheduleName,
  2: optional string clusterNamespace
}

struct ScheduledQueryPollResponse {
  1: optional ScheduledQueryKey scheduleKey,
  2: optional i64 executionId,
  3: optional string query,
  4: optional string user
}

// Transactions as Hive 3 has them: with numbers for what they write into one table.

struct GetOpenTxnsRequest {
}

struct HeartbeatTxnRangeRequest {
  1: optional i64 min,
  2: optional i64 max
}

struct HeartbeatTxnRangeResponse {
  1: optional set<i64> aborted,
  2: optional set<i64> nosuch
}

struct TxnToWriteId {
  1: optional i64 txnId,
  2: optional i64 writeId
}

struct AllocateTableWriteIdsRequest {
  1: optional string dbName,
  2: optional string tableName,
  3: optional list<i64> txnIds,
  5: optional list<TxnToWriteId> srcTxnToWriteIdList
}

struct AllocateTableWriteIdsResponse {
  1: optional list<TxnToWriteId> txnToWriteIds
}

struct GetValidWriteIdsRequest {
  1: optional list<string> fullTableNames,
  2: optional string validTxnList
}

struct TableValidWriteIds {
  1: optional string fullTableName,
  2: optional i64 writeIdHighWaterMark,
  3: optional list<i64> invalidWriteIds,
  4: optional i64 minOpenWriteId,
  5: optional binary abortedBits
}

struct GetValidWriteIdsResponse {
  1: optional list<TableValidWriteIds> tblValidWriteIds
}

struct MaxAllocatedTableWriteIdRequest {
  1: optional string dbName,
  2: optional string tableName
}

struct MaxAllocatedTableWriteIdResponse {
  1: optional i64 maxWriteId
}

// Notifications in requests of Hive 3 and 4.

struct NotificationEventsCountRequest {
  1: optional i64 fromEventId,
  2: optional string dbName
}

struct NotificationEventsCountResponse {
  1: optional i64 eventsCount
}

struct WriteNotificationLogRequest {
  1: optional i64 txnId,
  2: optional i64 writeId,
  3: optional string db,
  4: optional string table
}

struct WriteNotificationLogResponse {
}

struct WriteNotificationLogBatchRequest {
  2: optional string db,
  3: optional string table
}

struct WriteNotificationLogBatchResponse {
}

// Hive 4: partitions by an expression.

struct PartitionsSpecByExprResult {
  1: optional list<PartitionSpec> partitionsSpec,
  2: optional bool hasUnknownPartitions
}

service ThriftHiveMetastore {
  // The service itself: who calls, how it is set, whether it lives.

  list<string> set_ugi(1: string user_name, 2: list<string> group_names) throws (1: MetaException o1),
  string getMetaConf(1: string key) throws (1: MetaException o1),
  void setMetaConf(1: string key, 2: string value) throws (1: MetaException o1),
  string get_config_value(1: string name, 2: string defaultValue) throws (1: ConfigValSecurityException o1),
  void flushCache(),
  string getName(),
  string getVersion(),
  i32 getStatus(),
  string getStatusDetails(),
  i64 aliveSince(),
  oneway void shutdown(),
  list<RuntimeStat> get_runtime_stats(1: GetRuntimeStatsRequest rqst) throws (1: MetaException o1),
  ScheduledQueryPollResponse scheduled_query_poll(1: ScheduledQueryPollRequest request) throws (1: MetaException o1),

  // Databases.

  void create_database(1: hive_metastore.Database database)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3),
  hive_metastore.Database get_database(1: string name) throws (1: NoSuchObjectException o1, 2: MetaException o2),
  list<string> get_databases(1: string pattern) throws (1: MetaException o1),
  list<string> get_all_databases() throws (1: MetaException o1),
  void alter_database(1: string dbname, 2: hive_metastore.Database db)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  void drop_database(1: string name, 2: bool deleteData, 3: bool cascade)
    throws (1: NoSuchObjectException o1, 2: InvalidOperationException o2, 3: MetaException o3),

  // Tables.

  void create_table(1: hive_metastore.Table tbl)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4),
  void create_table_with_environment_context(1: hive_metastore.Table tbl, 2: EnvironmentContext environment_context)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4),
  void create_table_with_constraints(1: hive_metastore.Table tbl, 2: list<SQLPrimaryKey> primaryKeys, 3: list<SQLForeignKey> foreignKeys, 4: list<SQLUniqueConstraint> uniqueConstraints, 5: list<SQLNotNullConstraint> notNullConstraints, 6: list<SQLDefaultConstraint> defaultConstraints, 7: list<SQLCheckConstraint> checkConstraints)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4),
  hive_metastore.Table get_table(1: string dbname, 2: string tbl_name)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  GetTableResult get_table_req(1: GetTableRequest req) throws (1: MetaException o1, 2: NoSuchObjectException o2),
  list<hive_metastore.Table> get_table_objects_by_name(1: string dbname, 2: list<string> tbl_names)
    throws (1: MetaException o1, 2: InvalidOperationException o2, 3: UnknownDBException o3),
  GetTablesResult get_table_objects_by_name_req(1: GetTablesRequest req)
    throws (1: MetaException o1, 2: InvalidOperationException o2, 3: UnknownDBException o3),
  list<string> get_tables(1: string db_name, 2: string pattern) throws (1: MetaException o1),
  list<string> get_tables_by_type(1: string db_name, 2: string pattern, 3: string tableType)
    throws (1: MetaException o1),
  list<string> get_all_tables(1: string db_name) throws (1: MetaException o1),
  list<TableMeta> get_table_meta(1: string db_patterns, 2: string tbl_patterns, 3: list<string> tbl_types)
    throws (1: MetaException o1),
  list<string> get_table_names_by_filter(1: string dbname, 2: string filter, 3: i16 max_tables = -1)
    throws (1: MetaException o1, 2: InvalidOperationException o2, 3: UnknownDBException o3),
  list<hive_metastore.FieldSchema> get_fields(1: string db_name, 2: string table_name)
    throws (1: MetaException o1, 2: UnknownTableException o2, 3: UnknownDBException o3),
  list<hive_metastore.FieldSchema> get_fields_with_environment_context(1: string db_name, 2: string table_name, 3: EnvironmentContext environment_context)
    throws (1: MetaException o1, 2: UnknownTableException o2, 3: UnknownDBException o3),
  list<hive_metastore.FieldSchema> get_schema(1: string db_name, 2: string table_name)
    throws (1: MetaException o1, 2: UnknownTableException o2, 3: UnknownDBException o3),
  list<hive_metastore.FieldSchema> get_schema_with_environment_context(1: string db_name, 2: string table_name, 3: EnvironmentContext environment_context)
    throws (1: MetaException o1, 2: UnknownTableException o2, 3: UnknownDBException o3),
  void alter_table(1: string dbname, 2: string tbl_name, 3: hive_metastore.Table new_tbl)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void alter_table_with_environment_context(1: string dbname, 2: string tbl_name, 3: hive_metastore.Table new_tbl, 4: EnvironmentContext environment_context)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void alter_table_with_cascade(1: string dbname, 2: string tbl_name, 3: hive_metastore.Table new_tbl, 4: bool cascade)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void drop_table(1: string dbname, 2: string name, 3: bool deleteData)
    throws (1: NoSuchObjectException o1, 2: MetaException o3),
  void drop_table_with_environment_context(1: string dbname, 2: string name, 3: bool deleteData, 4: EnvironmentContext environment_context)
    throws (1: NoSuchObjectException o1, 2: MetaException o3),
  void truncate_table(1: string dbName, 2: string tableName, 3: list<string> partNames) throws (1: MetaException o1),

  // Constraints: none are kept.

  PrimaryKeysResponse get_primary_keys(1: PrimaryKeysRequest request)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  ForeignKeysResponse get_foreign_keys(1: ForeignKeysRequest request)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  UniqueConstraintsResponse get_unique_constraints(1: LaterConstraintsRequest request)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  NotNullConstraintsResponse get_not_null_constraints(1: LaterConstraintsRequest request)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  DefaultConstraintsResponse get_default_constraints(1: LaterConstraintsRequest request)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  CheckConstraintsResponse get_check_constraints(1: LaterConstraintsRequest request)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  void add_primary_key(1: AddPrimaryKeyRequest req) throws (1: NoSuchObjectException o1, 2: MetaException o2),
  void add_foreign_key(1: AddForeignKeyRequest req) throws (1: NoSuchObjectException o1, 2: MetaException o2),
  void drop_constraint(1: DropConstraintRequest req) throws (1: NoSuchObjectException o1, 2: MetaException o3),

  // Reading partitions.

  hive_metastore.Partition get_partition(1: string db_name, 2: string tbl_name, 3: list<string> part_vals)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  hive_metastore.Partition get_partition_by_name(1: string db_name, 2: string tbl_name, 3: string part_name)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  hive_metastore.Partition get_partition_with_auth(1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: string user_name, 5: list<string> group_names)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  list<hive_metastore.Partition> get_partitions(1: string db_name, 2: string tbl_name, 3: i16 max_parts = -1)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  list<hive_metastore.Partition> get_partitions_with_auth(1: string db_name, 2: string tbl_name, 3: i16 max_parts = -1, 4: string user_name, 5: list<string> group_names)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  list<hive_metastore.Partition> get_partitions_ps(1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: i16 max_parts = -1)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  list<hive_metastore.Partition> get_partitions_ps_with_auth(1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: i16 max_parts = -1, 5: string user_name, 6: list<string> group_names)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  list<hive_metastore.Partition> get_partitions_by_names(1: string db_name, 2: string tbl_name, 3: list<string> names)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  list<hive_metastore.Partition> get_partitions_by_filter(1: string db_name, 2: string tbl_name, 3: string filter, 4: i16 max_parts = -1)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  PartitionsByExprResult get_partitions_by_expr(1: PartitionsByExprRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  PartitionsSpecByExprResult get_partitions_spec_by_expr(1: PartitionsByExprRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  i32 get_num_partitions_by_filter(1: string db_name, 2: string tbl_name, 3: string filter)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  list<PartitionSpec> get_partitions_pspec(1: string db_name, 2: string tbl_name, 3: i32 max_parts = -1)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  list<PartitionSpec> get_part_specs_by_filter(1: string db_name, 2: string tbl_name, 3: string filter, 4: i32 max_parts = -1)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  PartitionValuesResponse get_partition_values(1: PartitionValuesRequest request)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),

  // Partition names.

  list<string> get_partition_names(1: string db_name, 2: string tbl_name, 3: i16 max_parts = -1)
    throws (1: MetaException o2),
  list<string> get_partition_names_ps(1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: i16 max_parts = -1)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  list<string> partition_name_to_vals(1: string part_name) throws (1: MetaException o1),
  map<string, string> partition_name_to_spec(1: string part_name) throws (1: MetaException o1),
  bool partition_name_has_valid_characters(1: list<string> part_vals, 2: bool throw_exception)
    throws (1: MetaException o1),

  // Writing partitions.

  hive_metastore.Partition add_partition(1: hive_metastore.Partition new_part)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  hive_metastore.Partition add_partition_with_environment_context(1: hive_metastore.Partition new_part, 2: EnvironmentContext environment_context)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  i32 add_partitions(1: list<hive_metastore.Partition> new_parts)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  i32 add_partitions_pspec(1: list<PartitionSpec> new_parts)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  AddPartitionsResult add_partitions_req(1: AddPartitionsRequest request)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  hive_metastore.Partition append_partition(1: string db_name, 2: string tbl_name, 3: list<string> part_vals)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  hive_metastore.Partition append_partition_with_environment_context(1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: EnvironmentContext environment_context)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  hive_metastore.Partition append_partition_by_name(1: string db_name, 2: string tbl_name, 3: string part_name)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  hive_metastore.Partition append_partition_by_name_with_environment_context(1: string db_name, 2: string tbl_name, 3: string part_name, 4: EnvironmentContext environment_context)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  void alter_partition(1: string db_name, 2: string tbl_name, 3: hive_metastore.Partition new_part)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void alter_partition_with_environment_context(1: string db_name, 2: string tbl_name, 3: hive_metastore.Partition new_part, 4: EnvironmentContext environment_context)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void alter_partitions(1: string db_name, 2: string tbl_name, 3: list<hive_metastore.Partition> new_parts)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void alter_partitions_with_environment_context(1: string db_name, 2: string tbl_name, 3: list<hive_metastore.Partition> new_parts, 4: EnvironmentContext environment_context)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void rename_partition(1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: hive_metastore.Partition new_part)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  hive_metastore.Partition exchange_partition(1: map<string, string> partitionSpecs, 2: string source_db, 3: string source_table_name, 4: string dest_db, 5: string dest_table_name)
    throws (1: MetaException o1, 2: NoSuchObjectException o2, 3: InvalidObjectException o3, 4: InvalidInputException o4),
  list<hive_metastore.Partition> exchange_partitions(1: map<string, string> partitionSpecs, 2: string source_db, 3: string source_table_name, 4: string dest_db, 5: string dest_table_name)
    throws (1: MetaException o1, 2: NoSuchObjectException o2, 3: InvalidObjectException o3, 4: InvalidInputException o4),
  bool drop_partition(1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: bool deleteData)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  bool drop_partition_with_environment_context(1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: bool deleteData, 5: EnvironmentContext environment_context)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  bool drop_partition_by_name(1: string db_name, 2: string tbl_name, 3: string part_name, 4: bool deleteData)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  bool drop_partition_by_name_with_environment_context(1: string db_name, 2: string tbl_name, 3: string part_name, 4: bool deleteData, 5: EnvironmentContext environment_context)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  DropPartitionsResult drop_partitions_req(1: DropPartitionsRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  void markPartitionForEvent(1: string db_name, 2: string tbl_name, 3: map<string, string> part_vals, 4: i32 eventType)
    throws (1: MetaException o1, 2: NoSuchObjectException o2, 3: UnknownDBException o3, 4: UnknownTableException o4, 5: UnknownPartitionException o5, 6: InvalidPartitionException o6),
  bool isPartitionMarkedForEvent(1: string db_name, 2: string tbl_name, 3: map<string, string> part_vals, 4: i32 eventType)
    throws (1: MetaException o1, 2: NoSuchObjectException o2, 3: UnknownDBException o3, 4: UnknownTableException o4, 5: UnknownPartitionException o5, 6: InvalidPartitionException o6),

  // Column statistics.

  bool update_table_column_statistics(1: ColumnStatistics stats_obj)
    throws (1: NoSuchObjectException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: InvalidInputException o4),
  bool update_partition_column_statistics(1: ColumnStatistics stats_obj)
    throws (1: NoSuchObjectException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: InvalidInputException o4),
  bool set_aggr_stats_for(1: SetPartitionsStatsRequest request)
    throws (1: NoSuchObjectException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: InvalidInputException o4),
  ColumnStatistics get_table_column_statistics(1: string db_name, 2: string tbl_name, 3: string col_name)
    throws (1: NoSuchObjectException o1, 2: MetaException o2, 3: InvalidInputException o3, 4: InvalidObjectException o4),
  ColumnStatistics get_partition_column_statistics(1: string db_name, 2: string tbl_name, 3: string part_name, 4: string col_name)
    throws (1: NoSuchObjectException o1, 2: MetaException o2, 3: InvalidInputException o3, 4: InvalidObjectException o4),
  TableStatsResult get_table_statistics_req(1: TableStatsRequest request)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  PartitionsStatsResult get_partitions_statistics_req(1: PartitionsStatsRequest request)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  AggrStats get_aggr_stats_for(1: PartitionsStatsRequest request)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  bool delete_table_column_statistics(1: string db_name, 2: string tbl_name, 3: string col_name)
    throws (1: NoSuchObjectException o1, 2: MetaException o2, 3: InvalidObjectException o3, 4: InvalidInputException o4),
  bool delete_partition_column_statistics(1: string db_name, 2: string tbl_name, 3: string part_name, 4: string col_name)
    throws (1: NoSuchObjectException o1, 2: MetaException o2, 3: InvalidObjectException o3, 4: InvalidInputException o4),

  // Functions.

  void create_function(1: Function func)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4),
  void alter_function(1: string dbName, 2: string funcName, 3: Function newFunc)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void drop_function(1: string dbName, 2: string funcName) throws (1: NoSuchObjectException o1, 2: MetaException o3),
  Function get_function(1: string dbName, 2: string funcName)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  list<string> get_functions(1: string dbName, 2: string pattern) throws (1: MetaException o1),
  GetAllFunctionsResponse get_all_functions() throws (1: MetaException o1),

  // Locks and transactions.

  LockResponse lock(1: LockRequest rqst) throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2),
  LockResponse check_lock(1: CheckLockRequest rqst)
    throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2, 3: NoSuchLockException o3),
  void unlock(1: UnlockRequest rqst) throws (1: NoSuchLockException o1, 2: TxnOpenException o2),
  void heartbeat(1: HeartbeatRequest ids)
    throws (1: NoSuchLockException o1, 2: NoSuchTxnException o2, 3: TxnAbortedException o3),
  ShowLocksResponse show_locks(1: ShowLocksRequest rqst),
  OpenTxnsResponse open_txns(1: OpenTxnRequest rqst),
  void abort_txn(1: AbortTxnRequest rqst) throws (1: NoSuchTxnException o1),
  void abort_txns(1: AbortTxnsRequest rqst) throws (1: NoSuchTxnException o1),
  void commit_txn(1: CommitTxnRequest rqst) throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2),
  void add_dynamic_partitions(1: AddDynamicPartitions rqst) throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2),
  GetOpenTxnsResponse get_open_txns(),
  GetOpenTxnsInfoResponse get_open_txns_info(),
  ShowCompactResponse show_compact(1: ShowCompactRequest rqst),

  // Roles and privileges.

  bool create_role(1: Role role) throws (1: MetaException o1),
  bool drop_role(1: string role_name) throws (1: MetaException o1),
  list<string> get_role_names() throws (1: MetaException o1),
  list<Role> list_roles(1: string principal_name, 2: i32 principal_type) throws (1: MetaException o1),
  bool grant_role(1: string role_name, 2: string principal_name, 3: i32 principal_type, 4: string grantor, 5: i32 grantorType, 6: bool grant_option)
    throws (1: MetaException o1),
  bool revoke_role(1: string role_name, 2: string principal_name, 3: i32 principal_type) throws (1: MetaException o1),
  GrantRevokeRoleResponse grant_revoke_role(1: GrantRevokeRoleRequest request) throws (1: MetaException o1),
  GetPrincipalsInRoleResponse get_principals_in_role(1: GetPrincipalsInRoleRequest request)
    throws (1: MetaException o1),
  GetRoleGrantsForPrincipalResponse get_role_grants_for_principal(1: GetRoleGrantsForPrincipalRequest request)
    throws (1: MetaException o1),
  hive_metastore.PrincipalPrivilegeSet get_privilege_set(1: HiveObjectRef hiveObject, 2: string user_name, 3: list<string> group_names)
    throws (1: MetaException o1),
  list<HiveObjectPrivilege> list_privileges(1: string principal_name, 2: i32 principal_type, 3: HiveObjectRef hiveObject)
    throws (1: MetaException o1),
  bool grant_privileges(1: PrivilegeBag privileges) throws (1: MetaException o1),
  bool revoke_privileges(1: PrivilegeBag privileges) throws (1: MetaException o1),
  GrantRevokePrivilegeResponse grant_revoke_privileges(1: GrantRevokePrivilegeRequest request)
    throws (1: MetaException o1),

  // Notifications.

  CurrentNotificationEventId get_current_notificationEventId(),
  NotificationEventResponse get_next_notification(1: NotificationEventRequest rqst),
  FireEventResponse fire_listener_event(1: FireEventRequest rqst),

  // What Hive 3 and 4 added.

  void create_catalog(1: CreateCatalogRequest catalog)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3),
  void alter_catalog(1: AlterCatalogRequest rqst)
    throws (1: NoSuchObjectException o1, 2: InvalidOperationException o2, 3: MetaException o3),
  GetCatalogResponse get_catalog(1: GetCatalogRequest catName) throws (1: NoSuchObjectException o1, 2: MetaException o2),
  GetCatalogsResponse get_catalogs() throws (1: MetaException o1),
  void drop_catalog(1: DropCatalogRequest catName)
    throws (1: NoSuchObjectException o1, 2: InvalidOperationException o2, 3: MetaException o3),

  hive_metastore.Database get_database_req(1: GetDatabaseRequest request)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  GetDatabaseObjectsResponse get_databases_req(1: GetDatabaseObjectsRequest request) throws (1: MetaException o1),
  void create_database_req(1: CreateDatabaseRequest createDatabaseRequest)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3),
  void alter_database_req(1: AlterDatabaseRequest alterDbReq) throws (1: MetaException o1, 2: NoSuchObjectException o2),
  void drop_database_req(1: DropDatabaseRequest req)
    throws (1: NoSuchObjectException o1, 2: InvalidOperationException o2, 3: MetaException o3),

  void create_table_req(1: CreateTableRequest request)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4),
  hive_metastore.Table translate_table_dryrun(1: CreateTableRequest request)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4),
  AlterTableResponse alter_table_req(1: AlterTableRequest req)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  void drop_table_req(1: DropTableRequest dropTableReq) throws (1: NoSuchObjectException o1, 2: MetaException o3),
  TruncateTableResponse truncate_table_req(1: TruncateTableRequest req) throws (1: MetaException o1),
  GetFieldsResponse get_fields_req(1: GetFieldsRequest req)
    throws (1: MetaException o1, 2: UnknownTableException o2, 3: UnknownDBException o3),
  GetSchemaResponse get_schema_req(1: GetSchemaRequest req)
    throws (1: MetaException o1, 2: UnknownTableException o2, 3: UnknownDBException o3),
  list<ExtendedTableInfo> get_tables_ext(1: GetTablesExtRequest req) throws (1: MetaException o1),
  list<string> get_materialized_views_for_rewriting(1: string db_name) throws (1: MetaException o1),
  list<hive_metastore.Table> get_all_materialized_view_objects_for_rewriting() throws (1: MetaException o1),

  AllTableConstraintsResponse get_all_table_constraints(1: AllTableConstraintsRequest request)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  void add_unique_constraint(1: AddUniqueConstraintRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  void add_not_null_constraint(1: AddNotNullConstraintRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  void add_default_constraint(1: AddDefaultConstraintRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  void add_check_constraint(1: AddCheckConstraintRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),

  GetPartitionResponse get_partition_req(1: GetPartitionRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  PartitionsResponse get_partitions_req(1: PartitionsRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  GetPartitionsPsWithAuthResponse get_partitions_ps_with_auth_req(1: GetPartitionsPsWithAuthRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  GetPartitionsByNamesResult get_partitions_by_names_req(1: GetPartitionsByNamesRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2, 3: InvalidObjectException o3),
  list<hive_metastore.Partition> get_partitions_by_filter_req(1: GetPartitionsByFilterRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  GetPartitionsResponse get_partitions_with_specs(1: GetPartitionsRequest request) throws (1: MetaException o1),
  list<string> get_partition_names_req(1: PartitionsByExprRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),
  list<string> fetch_partition_names_req(1: PartitionsRequest partitionReq)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),
  GetPartitionNamesPsResponse get_partition_names_ps_req(1: GetPartitionNamesPsRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2),

  hive_metastore.Partition append_partition_req(1: AppendPartitionsRequest appendPartitionsReq)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3),
  AlterPartitionsResponse alter_partitions_req(1: AlterPartitionsRequest req)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  RenamePartitionResponse rename_partition_req(1: RenamePartitionRequest req)
    throws (1: InvalidOperationException o1, 2: MetaException o2),
  bool drop_partition_req(1: DropPartitionRequest dropPartitionReq)
    throws (1: NoSuchObjectException o1, 2: MetaException o2),

  SetPartitionsStatsResponse update_table_column_statistics_req(1: SetPartitionsStatsRequest req)
    throws (1: NoSuchObjectException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: InvalidInputException o4),
  SetPartitionsStatsResponse update_partition_column_statistics_req(1: SetPartitionsStatsRequest req)
    throws (1: NoSuchObjectException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: InvalidInputException o4),
  bool delete_column_statistics_req(1: DeleteColumnStatisticsRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2, 3: InvalidObjectException o3, 4: InvalidInputException o4),

  GetFunctionsResponse get_functions_req(1: GetFunctionsRequest request) throws (1: MetaException o1),

  GetOpenTxnsResponse get_open_txns_req(1: GetOpenTxnsRequest getOpenTxnsRequest),
  HeartbeatTxnRangeResponse heartbeat_txn_range(1: HeartbeatTxnRangeRequest txns),
  AllocateTableWriteIdsResponse allocate_table_write_ids(1: AllocateTableWriteIdsRequest rqst)
    throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2, 3: MetaException o3),
  GetValidWriteIdsResponse get_valid_write_ids(1: GetValidWriteIdsRequest rqst)
    throws (1: NoSuchTxnException o1, 2: MetaException o2),
  MaxAllocatedTableWriteIdResponse get_max_allocated_table_write_id(1: MaxAllocatedTableWriteIdRequest rqst)
    throws (1: MetaException o1),

  NotificationEventsCountResponse get_notification_events_count(1: NotificationEventsCountRequest rqst),
  WriteNotificationLogResponse add_write_notification_log(1: WriteNotificationLogRequest rqst),
  WriteNotificationLogBatchResponse add_write_notification_log_in_batch(1: WriteNotificationLogBatchRequest rqst)
}
