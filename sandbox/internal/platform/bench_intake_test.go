package platform_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func (b *bench) saveKYB(account string, body platformwire.KYBSave) (platformwire.KYB, error) {
	response, err := b.SaveKYB(b.as(account, ""), platformwire.SaveKYBRequestObject{Body: &body})
	if err != nil {
		return platformwire.KYB{}, err
	}
	return read[platformwire.KYB](b, render(b, response.VisitSaveKYBResponse)), nil
}

func (b *bench) completeKYB(account string) (platformwire.KYBSubmission, error) {
	response, err := b.CompleteKYB(b.as(account, ""), platformwire.CompleteKYBRequestObject{})
	if err != nil {
		return platformwire.KYBSubmission{}, err
	}
	return read[platformwire.KYBSubmission](b, render(b, response.VisitCompleteKYBResponse)), nil
}

// verify completes a client's verification and lets it be decided.
func (b *bench) verify(account string) {
	_, err := b.saveKYB(account, platformwire.KYBSave{
		Applicant: map[string]any{"legalName": "Acme Ltd", "country": "DE"}, DocumentIds: []string{"doc_1"},
	})
	require.NoError(b, err)
	_, err = b.completeKYB(account)
	require.NoError(b, err)
	b.clock.Advance(time.Duration(b.settings.Load().KYBDecisionAfter))
}

func (b *bench) openRail(account string, body platformwire.RailOpen) (platformwire.Rail, error) {
	response, err := b.OpenRail(b.as(account, ""), platformwire.OpenRailRequestObject{Body: &body})
	if err != nil {
		return platformwire.Rail{}, err
	}
	return read[platformwire.Rail](b, render(b, response.VisitOpenRailResponse)), nil
}

// virtualAccount opens a rail, lets it become active, and answers its account.
func (b *bench) virtualAccount(account string, body platformwire.RailOpen) *platformwire.VirtualAccount {
	_, err := b.openRail(account, body)
	require.NoError(b, err)
	b.clock.Advance(time.Duration(b.settings.Load().RailActiveAfter))
	opened, err := b.openRail(account, body)
	require.NoError(b, err)
	return opened.VirtualAccount
}

func (b *bench) payin(account string, body platformwire.PayinCreate) (platformwire.Payin, error) {
	response, err := b.CreatePayin(b.as(account, ""), platformwire.CreatePayinRequestObject{Body: &body})
	if err != nil {
		return platformwire.Payin{}, err
	}
	return read[platformwire.Payin](b, render(b, response.VisitCreatePayinResponse)), nil
}

func (b *bench) instructions(account, id string) (answered, error) {
	response, err := b.CreatePayinInstructions(b.as(account, ""), platformwire.CreatePayinInstructionsRequestObject{PayinID: id})
	if err != nil {
		return answered{}, err
	}
	return render(b, response.VisitCreatePayinInstructionsResponse), nil
}

func (b *bench) completePayin(account, key, id string) (platformwire.Payin, error) {
	response, err := b.CompletePayin(b.as(account, key), platformwire.CompletePayinRequestObject{PayinID: id})
	if err != nil {
		return platformwire.Payin{}, err
	}
	return read[platformwire.Payin](b, render(b, response.VisitCompletePayinResponse)), nil
}

func (b *bench) escrow(account, key string, body platformwire.EscrowCreate) (platformwire.Escrow, error) {
	response, err := b.CreateEscrow(b.as(account, key), platformwire.CreateEscrowRequestObject{Body: &body})
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response.VisitCreateEscrowResponse)), nil
}

func (b *bench) prepare(account, key, id string, kind platformwire.EscrowActionType) (platformwire.EscrowAction, error) {
	response, err := b.PrepareEscrowAction(b.as(account, key), platformwire.PrepareEscrowActionRequestObject{
		EscrowID: id, Body: &platformwire.EscrowActionCreate{Type: kind},
	})
	if err != nil {
		return platformwire.EscrowAction{}, err
	}
	return read[platformwire.PreparedEscrowAction](b, render(b, response.VisitPrepareEscrowActionResponse)).Action, nil
}

// act signs and confirms a prepared action.
func (b *bench) act(account, id string, action platformwire.EscrowAction) (platformwire.Escrow, error) {
	response, err := b.ConfirmEscrowAction(b.as(account, ""), platformwire.ConfirmEscrowActionRequestObject{
		EscrowID: id, IdempotencyKey: action.IdempotencyKey, Body: &platformwire.ApprovalConfirm{
			ApprovalID: action.Approval.ID, PublicKey: b.public, Signature: b.sign(action.Approval.Payload),
		},
	})
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response.VisitConfirmEscrowActionResponse)), nil
}

func (b *bench) sync(account, id string) (platformwire.Escrow, error) {
	response, err := b.SyncEscrow(b.as(account, ""), platformwire.SyncEscrowRequestObject{EscrowID: id})
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response.VisitSyncEscrowResponse)), nil
}
