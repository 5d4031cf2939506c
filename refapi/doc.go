// Package refapi is the reference endpoints under /api/v1: invoice updates, contracts, merchant products, cards, the
// status of a quoted payment, wallet login, and partners' webhooks, which it sends and receives.
//
//	client, err := refapi.New(baseURL, refapi.Credential{AccessToken: refapi.NewAccessToken(os.Getenv("ACCESS_TOKEN"))})
//	cards, err := client.Cards.List(ctx)
//	details, err := client.Cards.Details(ctx, cards.Cards[0].ID, wallet) // a *wallet.Key of package signing/wallet
//	status, err := client.Quotes.Wait(ctx, quoteID)
//
// # Credential
//
// An [AccessToken], and with [WithAPIKey] an app API key besides. They print as a redaction and are sent to the
// client's base URL and nowhere else. Neither is a credential of another surface.
//
// # Errors
//
// All calls answer the types of package errors. A failed validation is *errors.DetailErrors, whose items name the
// place, such as body.items[0].price; a refusal that is one sentence, such as "Not authenticated", is
// *errors.Unauthenticated with status 401 and else *errors.Unrecognized, with the sentence as its message. What is
// wrong with a request that can be seen before it is sent is *errors.InvalidInput.
//
// # Events
//
// Partners report events to the service: the description states path, body and answer, and no signature. It shows no
// event that reaches an integrator's backend, so progress is read. [WebhookHandler] receives a partner's webhook, and
// its Verify sees the headers and the bytes as they came.
//
// # Repetition
//
// A wallet login and a webhook are sent once: whether the service recognises a second one is not stated. If their
// answer is lost, the error is *errors.OutcomeUnknown.
package refapi
