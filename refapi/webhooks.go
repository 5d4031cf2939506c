package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Webhooks are the events that partners report to the service. [WebhookHandler] is the receiving end. The description
// shows no event that the service sends to an integrator.
//
// Source: Events.
type Webhooks struct{ low lowLevel }

// Send reports an event as a partner, which is named by its name in paths. ok is what the service acknowledged; an
// answer that leaves it out says true. Whether the service recognises a repeated event is not stated, so that one is
// sent once: if its answer is lost, the error is *errors.OutcomeUnknown.
func (s *Webhooks) Send(
	ctx context.Context, partner string, event WebhookEvent, options ...moneymovement.CallOption,
) (ok bool, err error) {
	taken, err := transport.Of(s).low.ReceiveWebhook(ctx, partner, &event, options).OrZero()
	if err != nil {
		return false, err
	}
	return taken.OK == nil || *taken.OK, nil
}
