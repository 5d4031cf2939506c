package platform_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func (b *bench) saveKYB(account string, body platformwire.KYBInformation) (platformwire.KYB, error) {
	response, err := b.SaveKYB(b.as(account, ""), body)
	if err != nil {
		return platformwire.KYB{}, err
	}
	return read[platformwire.KYB](b, render(b, response)), nil
}

func (b *bench) completeKYB(account string) (platformwire.KYBSubmission, error) {
	response, err := b.CompleteKYB(b.as(account, ""))
	if err != nil {
		return platformwire.KYBSubmission{}, err
	}
	return read[platformwire.KYBSubmission](b, render(b, response)), nil
}

// verify completes a client's verification and lets it be decided.
func (b *bench) verify(account string) {
	_, err := b.saveKYB(account, platformwire.KYBInformation{
		Applicant: map[string]any{"legalName": "Acme Ltd", "country": "DE"}, DocumentIds: []string{"doc_1"},
	})
	require.NoError(b, err)
	_, err = b.completeKYB(account)
	require.NoError(b, err)
	b.clock.Advance(time.Duration(b.settings.Load().KYBDecisionAfter))
}

func (b *bench) openRail(account string, body platformwire.RailCreate) (platformwire.Rail, error) {
	response, err := b.OpenRail(b.as(account, ""), body)
	if err != nil {
		return platformwire.Rail{}, err
	}
	return read[platformwire.Rail](b, render(b, response)), nil
}

// virtualAccount opens a rail, lets it become active, and answers its account.
func (b *bench) virtualAccount(account string, body platformwire.RailCreate) *platformwire.VirtualAccount {
	_, err := b.openRail(account, body)
	require.NoError(b, err)
	b.clock.Advance(time.Duration(b.settings.Load().RailActiveAfter))
	opened, err := b.openRail(account, body)
	require.NoError(b, err)
	return opened.VirtualAccount
}

func (b *bench) payin(account string, body platformwire.PayinCreate) (platformwire.Payin, error) {
	response, err := b.CreatePayin(b.as(account, ""), body)
	if err != nil {
		return platformwire.Payin{}, err
	}
	return read[platformwire.Payin](b, render(b, response)), nil
}

func (b *bench) instructions(account, id string) (answered, error) {
	response, err := b.CreatePayinInstructions(b.as(account, ""), id)
	if err != nil {
		return answered{}, err
	}
	return render(b, response), nil
}

func (b *bench) completePayin(account, key, id string) (platformwire.Payin, error) {
	response, err := b.CompletePayin(b.as(account, key), id)
	if err != nil {
		return platformwire.Payin{}, err
	}
	return read[platformwire.Payin](b, render(b, response)), nil
}

func (b *bench) escrow(account, key string, body platformwire.EscrowCreate) (platformwire.Escrow, error) {
	response, err := b.CreateEscrow(b.as(account, key), body)
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response)), nil
}

func (b *bench) prepare(
	account, key, id string, kind platformwire.EscrowActionType,
) (platformwire.EscrowAction, error) {
	response, err := b.PrepareEscrowAction(b.as(account, key), id, platformwire.EscrowActionCreate{Type: kind})
	if err != nil {
		return platformwire.EscrowAction{}, err
	}
	return read[platformwire.PreparedEscrowAction](b, render(b, response)).Action, nil
}

// act signs and confirms a prepared action.
func (b *bench) act(account, id string, action platformwire.EscrowAction) (platformwire.Escrow, error) {
	response, err := b.ConfirmEscrowAction(b.as(account, ""), id, action.IdempotencyKey, platformwire.ApprovalConfirm{
		ApprovalID: action.Approval.ID, PublicKey: b.public, Signature: b.sign(action.Approval.Payload),
	})
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response)), nil
}

func (b *bench) sync(account, id string) (platformwire.Escrow, error) {
	response, err := b.SyncEscrow(b.as(account, ""), id)
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response)), nil
}
