package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Verification is the business verification (KYB) of a client: save information and documents, read what is still
// missing, then submit. Saving and submitting are separate calls. Submitting sends a snapshot for review, which cannot
// be changed.
//
// A rail can need a verified client: else [Rails.Open] fails with *errors.RailRequirementsUnmet, whose Blockers say
// what is missing. Money that arrives on a chain, and a payin from another chain, need only a client that is `ready`.
// For payouts, the service's description names no verification, and the sandbox host requires none.
type Verification struct{ low lowLevel }

// Save saves applicant information and documents. It submits nothing. Call it again to add more.
//
// The service's description names no member of the applicant. [Applicant] makes the map with the names that are
// assumed: legalName (or entityName) of a business, firstName and lastName of a person, and country. The requirements
// in the response name what is missing.
//
// DocumentIDs are ids of documents that were uploaded before. The description shows no operation of the platform API
// that uploads one. The app API uploads documents for invoices and contracts (appapi.Documents); the description does
// not say that a verification takes their ids. Ask the service how to upload. The sandbox host takes any text as an id.
func (s *Verification) Save(
	ctx context.Context, information KYBInformation, options ...moneymovement.CallOption,
) (*KYB, error) {
	return transport.Of(s).low.SaveKYB(ctx, &information, options).
		Or(func(same transport.SameCredential) (*KYB, error) {
			return transport.Of(s).low.GetKYB(ctx, []moneymovement.CallOption{same})
		})
}

// Get returns the status and the requirements that are still missing.
func (s *Verification) Get(ctx context.Context, options ...moneymovement.CallOption) (*KYB, error) {
	return transport.Of(s).low.GetKYB(ctx, options)
}

// Complete submits the saved information for review. If requirements are missing, the error is *errors.Conflict, and
// [Verification.Get] returns them.
func (s *Verification) Complete(ctx context.Context, options ...moneymovement.CallOption) (*KYBSubmission, error) {
	return transport.Of(s).low.CompleteKYB(ctx, options).Or(func(same transport.SameCredential) (*KYBSubmission,
		error) {
		kyb, err := transport.Of(s).low.GetKYB(ctx, []moneymovement.CallOption{same})
		if err != nil {
			return nil, err
		}
		return &KYBSubmission{Status: kyb.Status}, nil
	})
}

// WaitDecided polls until the review is `approved` or `rejected`. People review, which can take days: give ctx a
// deadline. If ctx ends first, the error is *StillPending.
func (s *Verification) WaitDecided(ctx context.Context, options ...WaitOption) (*KYB, error) {
	return wait(ctx, options, poll[KYB]{
		low: transport.Of(s).low, operation: &opGetKYB, resource: "verification", id: transport.Of(s).low.actingFor(),
		read: func(ctx context.Context) (*KYB, error) {
			return transport.Of(s).low.as(transport.ClassPoll).GetKYB(ctx, nil)
		},
		status: func(k *KYB) string { return string(k.Status) },
		done:   func(k *KYB) bool { return k.Status.Final() },
	})
}
