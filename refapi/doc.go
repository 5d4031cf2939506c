// Package refapi calls the reference endpoints: the operations of the service under /api/v1. It also has a handler that
// receives partners' webhooks.
//
//   - [Invoices]: changes the status of an invoice
//   - [Contracts]: reads a contract
//   - [Products]: lists what a merchant sells
//   - [Cards]: lists cards, and reveals a card's number to its holder
//   - [Quotes]: reads the status of the payment of a quote
//   - [Wallet]: logs in with a wallet
//   - [Webhooks]: sends a partner's events to the service
//   - [WebhookHandler]: receives such events
//
// [New] makes a client from the service's address and a [Credential]:
//
//	client, err := refapi.New("https://host.example", refapi.Credential{
//		AccessToken: refapi.NewAccessToken(os.Getenv("ACCESS_TOKEN")),
//	})
//	status, err := client.Quotes.Wait(ctx, quoteID, refapi.Settled)
//
// Words such as quote and payin are explained in the [glossary].
//
// # Credential
//
// The credential is an access token, and optionally an app API key beside it. Both are sent to the address that [New]
// was given and nowhere else, and neither prints. They do not work on other surfaces. The service's description does
// not show how an access token is issued or how long it lives. [Client.UseToken] changes it.
//
// # Errors
//
// If the service finds a field invalid, the call fails with *errors.DetailErrors. Its Items name the field, such as
// body.items[0].price. A refusal with only a sentence, such as "Not authenticated", is *errors.Unauthenticated for
// status 401 and *errors.Unrecognized otherwise; the sentence is its message. Bad input fails with *errors.InvalidInput
// before anything is sent.
//
// The description states no rate limits for this surface, so the client does not limit its own rate.
//
// # Writes that are sent once
//
// The description does not say whether the service recognises a repeated wallet login or webhook, so the SDK sends
// neither of them twice. If the response is lost, the call fails with *errors.InDoubt.
//
// # Events
//
// Partners report events to the service. The description states the path, the body and the response, and no signature.
// [WebhookHandler] receives such events; its Verify sees the headers and the exact bytes. The description shows no
// event that the service sends to an integrator. To follow a payment, poll its status, for example with [Quotes.Wait].
//
// [glossary]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
package refapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/refapi.yaml -o api.gen.go ../openapi/refapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run responses -spec ../openapi/refapi.yaml -package refapi
//go:generate ../internal/tools/run requests -spec ../openapi/refapi.yaml
//go:generate ../internal/tools/run readable -unexport MerchantProductList,ValidationErrorItem,WebhookAcknowledgement .
