package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Webhooks sends a partner's events to the service. To receive such events, use [WebhookHandler]. The description shows
// no event that the service sends to an integrator.
type Webhooks struct{ low lowLevel }

// Send reports an event as a partner. partner is the partner's name in the path of the webhook. ok is the value in the
// response; it is true if the response does not have it. The description does not say whether the service recognises a
// repeated event, so Send is never sent twice. If its response is lost, it fails with *errors.OutcomeUnknown.
func (s *Webhooks) Send(
	ctx context.Context, partner string, event WebhookEvent, options ...moneymovement.CallOption,
) (ok bool, err error) {
	taken, err := transport.Of(s).low.ReceiveWebhook(ctx, partner, &event, options).OrZero()
	if err != nil {
		return false, err
	}
	return taken.OK == nil || *taken.OK, nil
}
