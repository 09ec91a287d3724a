// HiveServer2's service, TCLIService, as far as hbstore answers it.
//
// Names, numbers and types are the wire form of protocol V10 (Hive 2.3), with what later drivers add. codes.py names the
// numbers that fields of type i32 hold: `StatusCode` and so on. What is `required` must have been sent: a call without it
// is refused before a handler sees it, and drivers refuse replies without it.
//
// Calls that are not here, such as GetLog and CloseImpalaOperation, are answered as unknown methods, and clients go on.

namespace py hbstore.hiveserver2.tcliservice

// What all replies carry.

struct TStatus {
  1: required i32 statusCode            // StatusCode
  2: optional list<string> infoMessages // unset: drivers print them, or make causes of them
  3: optional string sqlState
  4: optional i32 errorCode
  5: optional string errorMessage
}

// Handles: names that the server gives and clients send back.

struct THandleIdentifier {
  1: required binary guid
  2: required binary secret
}

struct TSessionHandle {
  1: required THandleIdentifier sessionId
}

struct TOperationHandle {
  1: required THandleIdentifier operationId
  2: required i32 operationType         // OperationType
  3: required bool hasResultSet
  4: optional double modifiedRowCount
}

// Sessions.

struct TOpenSessionReq {
  1: required i32 client_protocol       // ProtocolVersion
  2: optional string username
  3: optional string password
  4: optional map<string, string> configuration
}

struct TOpenSessionResp {
  1: required TStatus status
  2: required i32 serverProtocolVersion // ProtocolVersion
  3: optional TSessionHandle sessionHandle
  4: optional map<string, string> configuration
}

struct TCloseSessionReq {
  1: required TSessionHandle sessionHandle
}

struct TCloseSessionResp {
  1: required TStatus status
}

struct TGetInfoReq {
  1: required TSessionHandle sessionHandle
  2: required i32 infoType              // InfoType
}

union TGetInfoValue {
  1: string stringValue
  2: i16 smallIntValue
  3: i32 integerBitmask
  4: i32 integerFlag
  5: i32 binaryValue
  6: i64 lenValue
}

struct TGetInfoResp {
  1: required TStatus status
  2: required TGetInfoValue infoValue
}

struct TSetClientInfoReq {
  1: required TSessionHandle sessionHandle
  2: optional map<string, string> configuration
}

struct TSetClientInfoResp {
  1: required TStatus status
}

// Statements.

struct TExecuteStatementReq {
  1: required TSessionHandle sessionHandle
  2: required string statement
  3: optional map<string, string> confOverlay
  4: optional bool runAsync = false
  5: optional i64 queryTimeout = 0      // seconds; 0: none
}

struct TExecuteStatementResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetOperationStatusReq {
  1: required TOperationHandle operationHandle
  2: optional bool getProgressUpdate
}

struct TProgressUpdateResp {
  1: required list<string> headerNames  // nine, as each row has
  2: required list<list<string>> rows
  3: required double progressedPercentage // from 0 to 1
  4: required i32 status                // JobExecutionStatus
  5: required string footerSummary
  6: required i64 startTime             // milliseconds since 1970
}

struct TGetOperationStatusResp {
  1: required TStatus status
  2: optional i32 operationState        // OperationState
  3: optional string sqlState
  4: optional i32 errorCode
  5: optional string errorMessage
  6: optional string taskStatus
  7: optional i64 operationStarted      // milliseconds since 1970
  8: optional i64 operationCompleted
  9: optional bool hasResultSet
  10: optional TProgressUpdateResp progressUpdateResponse
  11: optional i64 numModifiedRows
}

struct TCancelOperationReq {
  1: required TOperationHandle operationHandle
}

struct TCancelOperationResp {
  1: required TStatus status
}

struct TCloseOperationReq {
  1: required TOperationHandle operationHandle
}

struct TCloseOperationResp {
  1: required TStatus status
}

struct TGetQueryIdReq {
  1: required TOperationHandle operationHandle
}

struct TGetQueryIdResp {
  1: required string queryId
}

// The columns of a result.

union TTypeQualifierValue {
  1: i32 i32Value
  2: string stringValue
}

struct TTypeQualifiers {
  1: required map<string, TTypeQualifierValue> qualifiers
}

struct TPrimitiveTypeEntry {
  1: required i32 type                  // TypeId
  2: optional TTypeQualifiers typeQualifiers
}

union TTypeEntry {
  1: TPrimitiveTypeEntry primitiveEntry // of every type: drivers read no other
}

struct TTypeDesc {
  1: required list<TTypeEntry> types    // one
}

struct TColumnDesc {
  1: required string columnName
  2: required TTypeDesc typeDesc
  3: required i32 position              // from 0
  4: optional string comment
}

struct TTableSchema {
  1: required list<TColumnDesc> columns
}

struct TGetResultSetMetadataReq {
  1: required TOperationHandle operationHandle
}

struct TGetResultSetMetadataResp {
  1: required TStatus status
  2: optional TTableSchema schema
}

// The rows of a result. In nulls, bit i of the bytes, the lowest of a byte first, says that row i is NULL.

struct TBoolColumn {
  1: required list<bool> values
  2: required binary nulls
}

struct TByteColumn {
  1: required list<byte> values
  2: required binary nulls
}

struct TI16Column {
  1: required list<i16> values
  2: required binary nulls
}

struct TI32Column {
  1: required list<i32> values
  2: required binary nulls
}

struct TI64Column {
  1: required list<i64> values
  2: required binary nulls
}

struct TDoubleColumn {
  1: required list<double> values
  2: required binary nulls
}

struct TStringColumn {
  1: required list<string> values
  2: required binary nulls
}

struct TBinaryColumn {
  1: required list<binary> values
  2: required binary nulls
}

union TColumn {
  1: TBoolColumn boolVal
  2: TByteColumn byteVal
  3: TI16Column i16Val
  4: TI32Column i32Val
  5: TI64Column i64Val
  6: TDoubleColumn doubleVal
  7: TStringColumn stringVal
  8: TBinaryColumn binaryVal
}

struct TRow {                           // of protocols before V6, which are not spoken: no row is sent as such
}

struct TRowSet {
  1: required i64 startRowOffset
  2: required list<TRow> rows           // empty
  3: optional list<TColumn> columns
}

struct TFetchResultsReq {
  1: required TOperationHandle operationHandle
  2: required i32 orientation = 0       // FetchOrientation
  3: required i64 maxRows
  4: optional i16 fetchType = 0         // FetchType
}

struct TFetchResultsResp {
  1: required TStatus status
  2: optional bool hasMoreRows
  3: optional TRowSet results
}

// Listings of the catalog: each is an operation whose rows are fetched as those of a statement.

struct TGetCatalogsReq {
  1: required TSessionHandle sessionHandle
}

struct TGetCatalogsResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetSchemasReq {
  1: required TSessionHandle sessionHandle
  2: optional string catalogName
  3: optional string schemaName
}

struct TGetSchemasResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetTablesReq {
  1: required TSessionHandle sessionHandle
  2: optional string catalogName
  3: optional string schemaName
  4: optional string tableName
  5: optional list<string> tableTypes
}

struct TGetTablesResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetTableTypesReq {
  1: required TSessionHandle sessionHandle
}

struct TGetTableTypesResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetColumnsReq {
  1: required TSessionHandle sessionHandle
  2: optional string catalogName
  3: optional string schemaName
  4: optional string tableName
  5: optional string columnName
}

struct TGetColumnsResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetTypeInfoReq {
  1: required TSessionHandle sessionHandle
}

struct TGetTypeInfoResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetFunctionsReq {
  1: required TSessionHandle sessionHandle
  2: optional string catalogName
  3: optional string schemaName
  4: required string functionName
}

struct TGetFunctionsResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetPrimaryKeysReq {
  1: required TSessionHandle sessionHandle
  2: optional string catalogName
  3: optional string schemaName
  4: optional string tableName
}

struct TGetPrimaryKeysResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

struct TGetCrossReferenceReq {
  1: required TSessionHandle sessionHandle
  2: optional string parentCatalogName
  3: optional string parentSchemaName
  4: optional string parentTableName
  5: optional string foreignCatalogName
  6: optional string foreignSchemaName
  7: optional string foreignTableName
}

struct TGetCrossReferenceResp {
  1: required TStatus status
  2: optional TOperationHandle operationHandle
}

// Delegation tokens of Kerberos, which are refused.

struct TGetDelegationTokenReq {
  1: required TSessionHandle sessionHandle
  2: required string owner
  3: required string renewer
}

struct TGetDelegationTokenResp {
  1: required TStatus status
  2: optional string delegationToken
}

struct TCancelDelegationTokenReq {
  1: required TSessionHandle sessionHandle
  2: required string delegationToken
}

struct TCancelDelegationTokenResp {
  1: required TStatus status
}

struct TRenewDelegationTokenReq {
  1: required TSessionHandle sessionHandle
  2: required string delegationToken
}

struct TRenewDelegationTokenResp {
  1: required TStatus status
}

service TCLIService {
  TOpenSessionResp OpenSession(1: TOpenSessionReq req)
  TCloseSessionResp CloseSession(1: TCloseSessionReq req)
  TGetInfoResp GetInfo(1: TGetInfoReq req)
  TSetClientInfoResp SetClientInfo(1: TSetClientInfoReq req)

  TExecuteStatementResp ExecuteStatement(1: TExecuteStatementReq req)
  TGetOperationStatusResp GetOperationStatus(1: TGetOperationStatusReq req)
  TCancelOperationResp CancelOperation(1: TCancelOperationReq req)
  TCloseOperationResp CloseOperation(1: TCloseOperationReq req)
  TGetQueryIdResp GetQueryId(1: TGetQueryIdReq req)

  TGetResultSetMetadataResp GetResultSetMetadata(1: TGetResultSetMetadataReq req)
  TFetchResultsResp FetchResults(1: TFetchResultsReq req)

  TGetCatalogsResp GetCatalogs(1: TGetCatalogsReq req)
  TGetSchemasResp GetSchemas(1: TGetSchemasReq req)
  TGetTablesResp GetTables(1: TGetTablesReq req)
  TGetTableTypesResp GetTableTypes(1: TGetTableTypesReq req)
  TGetColumnsResp GetColumns(1: TGetColumnsReq req)
  TGetTypeInfoResp GetTypeInfo(1: TGetTypeInfoReq req)
  TGetFunctionsResp GetFunctions(1: TGetFunctionsReq req)
  TGetPrimaryKeysResp GetPrimaryKeys(1: TGetPrimaryKeysReq req)
  TGetCrossReferenceResp GetCrossReference(1: TGetCrossReferenceReq req)

  TGetDelegationTokenResp GetDelegationToken(1: TGetDelegationTokenReq req)
  TCancelDelegationTokenResp CancelDelegationToken(1: TCancelDelegationTokenReq req)
  TRenewDelegationTokenResp RenewDelegationToken(1: TRenewDelegationTokenReq req)
}
