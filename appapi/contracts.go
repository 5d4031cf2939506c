package appapi

import (
	"context"
	"iter"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Contracts are agreements that invoices are issued under. Ids of contracts are UUIDs.
//
// Source: App API, Contracts.
type Contracts struct{ low lowLevel }

// List returns one page: at most params.Limit entries, from params.Offset on. With a Limit of 0 the service decides how
// many.
func (s *Contracts) List(
	ctx context.Context, params ListContractsParams, options ...moneymovement.CallOption,
) (*ContractList, error) {
	return transport.Of(s).low.ListContracts(ctx, &params, options)
}

// All walks all pages from params.Offset on. It can be ranged over more than once, and ends after the first error. What
// is created or deleted meanwhile can shift entries from one page to another.
func (s *Contracts) All(
	ctx context.Context, params ListContractsParams, options ...moneymovement.CallOption,
) iter.Seq2[model.Contract, error] {
	return pages(ctx, &opListContracts, s.List, params, options,
		func(p *ListContractsParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *ContractList) ([]model.Contract, int) { return l.Items, l.Total })
}

// Get answers one contract.
func (s *Contracts) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error) {
	return transport.Of(s).low.GetContract(ctx, id, options)
}

// Preview answers a contract as its document will read: the resolved fields and the text.
func (s *Contracts) Preview(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*ContractPreview, error) {
	return transport.Of(s).low.PreviewContract(ctx, id, options)
}

// Templates answers what contracts can be created from.
func (s *Contracts) Templates(ctx context.Context, options ...moneymovement.CallOption) ([]ContractTemplate, error) {
	list, err := transport.Of(s).low.ListContractTemplates(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Create offers a contract to a contractor. Repeating it can offer a second one, so that it is never sent twice.
func (s *Contracts) Create(
	ctx context.Context, contract ContractCreate, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	return transport.Of(s).low.CreateContract(ctx, &contract, options)
}

// Update changes the fields and the schedule that are set: what is absent stays, and what is empty or null is cleared.
func (s *Contracts) Update(
	ctx context.Context, id string, change ContractUpdate, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	return transport.Of(s).low.UpdateContract(ctx, id, &change, options).
		Or(reading(ctx, id, transport.Of(s).low.GetContract))
}

// Approve accepts a contract for the calling party.
//
// Source: States and transitions, Contract.
func (s *Contracts) Approve(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	return transport.Of(s).low.ApproveContract(ctx, id, options).Or(reading(ctx, id, transport.Of(s).low.GetContract))
}

// Pause stops a contract from invoicing.
//
// Source: States and transitions, Contract.
func (s *Contracts) Pause(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	return transport.Of(s).low.PauseContract(ctx, id, options).Or(reading(ctx, id, transport.Of(s).low.GetContract))
}

// ReplacePaymentMethods puts the given methods in place of all that are there; none removes them all. Make them with
// model.NewPaymentMethod.
func (s *Contracts) ReplacePaymentMethods(
	ctx context.Context, id string, methods []model.PaymentMethod, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	if methods == nil {
		methods = []model.PaymentMethod{} // which is sent, unlike one that is not set
	}
	low := transport.Of(s).low
	return low.ReplacePaymentMethods(ctx, id, &paymentMethodsReplacement{methods}, options).
		Or(reading(ctx, id, low.GetContract))
}

// Delete deletes a contract.
func (s *Contracts) Delete(ctx context.Context, id string, options ...moneymovement.CallOption) error {
	return transport.Of(s).low.DeleteContract(ctx, id, options)
}
