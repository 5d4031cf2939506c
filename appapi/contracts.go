package appapi

import (
	"context"
	"iter"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Contracts creates, reads and changes contracts. A contract is an agreement that invoices are issued under. The id of
// a contract is a UUID.
type Contracts struct{ low lowLevel }

// List returns one page: at most params.Limit contracts, starting at params.Offset. If Limit is 0, the service decides
// how many.
func (s *Contracts) List(
	ctx context.Context, params ListContractsParams, options ...moneymovement.CallOption,
) (*ContractList, error) {
	return transport.Of(s).low.ListContracts(ctx, &params, options)
}

// All reads every page, starting at params.Offset. You can range over the result more than once. The iteration ends
// after the first error. If contracts are created or deleted meanwhile, it can miss a contract or return one twice.
func (s *Contracts) All(
	ctx context.Context, params ListContractsParams, options ...moneymovement.CallOption,
) iter.Seq2[model.Contract, error] {
	return pages(ctx, &opListContracts, s.List, params, options,
		func(p *ListContractsParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *ContractList) ([]model.Contract, int) { return l.Items, l.Total })
}

// Get returns one contract.
func (s *Contracts) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error) {
	return transport.Of(s).low.GetContract(ctx, id, options)
}

// Preview returns the document of a contract: its text, and the values that were filled in.
func (s *Contracts) Preview(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*ContractPreview, error) {
	return transport.Of(s).low.PreviewContract(ctx, id, options)
}

// Templates returns the templates that contracts can be created from.
func (s *Contracts) Templates(ctx context.Context, options ...moneymovement.CallOption) ([]ContractTemplate, error) {
	list, err := transport.Of(s).low.ListContractTemplates(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Create offers a contract to a contractor. A second call can offer a second contract, so Create is never sent twice.
// If its response is lost, it fails with *errors.InDoubt: look for the contract with [Contracts.List].
func (s *Contracts) Create(
	ctx context.Context, contract ContractCreate, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	return transport.Of(s).low.CreateContract(ctx, &contract, options)
}

// Update changes the fields and the schedule of a contract, and returns the contract. A field that is not set stays as
// it is. A field that is set to null or to an empty text is cleared.
func (s *Contracts) Update(
	ctx context.Context, id string, change ContractUpdate, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	return transport.Of(s).low.UpdateContract(ctx, id, &change, options).
		Or(reading(ctx, id, transport.Of(s).low, lowLevel.GetContract))
}

// Approve accepts a contract for the party that calls, and returns the contract. The description does not show which
// states allow this. In any other state, Approve fails with *errors.Conflict.
func (s *Contracts) Approve(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	low := transport.Of(s).low
	return low.ApproveContract(ctx, id, options).Or(reading(ctx, id, low, lowLevel.GetContract))
}

// Pause pauses a contract, and returns the contract. The description does not say what a pause stops, or what ends it.
// It also does not show which states allow a pause. In any other state, Pause fails with *errors.Conflict.
func (s *Contracts) Pause(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	low := transport.Of(s).low
	return low.PauseContract(ctx, id, options).Or(reading(ctx, id, low, lowLevel.GetContract))
}

// ReplacePaymentMethods replaces all payment methods of a contract, and returns the contract. If methods is empty, the
// contract has none afterwards. Make each method with model.NewPaymentMethod.
func (s *Contracts) ReplacePaymentMethods(
	ctx context.Context, id string, methods []model.PaymentMethod, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	if methods == nil {
		methods = []model.PaymentMethod{} // an empty list is sent, and nil is not
	}
	low := transport.Of(s).low
	return low.ReplacePaymentMethods(ctx, id, &paymentMethodsReplacement{methods}, options).
		Or(reading(ctx, id, low, lowLevel.GetContract))
}

// Delete deletes a contract.
func (s *Contracts) Delete(ctx context.Context, id string, options ...moneymovement.CallOption) error {
	return transport.Of(s).low.DeleteContract(ctx, id, options)
}
