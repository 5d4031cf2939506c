// Package model has the types that several packages of the SDK share.
//
//   - resources: [Invoice], [Contract], [Card], [PaymentMethod], [Document], [UniversalTransactionStatus]
//   - amounts: [Decimal] for amounts that are JSON strings, and [Number] for amounts that are JSON numbers
//   - [Date], a calendar day without a time
//   - [OpenObject], a JSON object whose fields the service's description does not show
//   - [Nullable], [Set] and [Null], for the fields of an update
//   - [CardSigner] and [SignCardDetails], for the wallet signature that reveals a card's number
//
// The package makes no calls: the clients are in packages dapi, appapi, refapi and public. The [glossary] explains the
// words of the service.
//
// Amounts are in units of their currency, never in cents. Times are in UTC. The ids of invoices, contracts, documents,
// accounts and transactions are UUIDs, as text. The service's description does not show the form of a card's id. A zero
// time or an empty text means that the service did not send a value.
//
// [glossary]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
package model

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/common.yaml -o common.gen.go ../openapi/common.yaml
//go:generate ../internal/tools/run responses -spec ../openapi/common.yaml -package responses -shared -models= -shared-models common.gen.go -o ../internal/responses/responses.gen.go
//go:generate ../internal/tools/run states -spec ../openapi/common.yaml -package model -o states.gen.go
//go:generate ../internal/tools/run readable . ../internal/responses
