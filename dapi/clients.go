package dapi

import (
	"context"
	"maps"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Clients creates and reads clients. A client is an account that an integrator creates for a customer.
type Clients struct{ low lowLevel }

// Create creates a client. The email identifies the client: if a client with this email exists, Create returns that
// client. To see whether it is new, pass [moneymovement.CaptureResponse]: Response.Replayed is true for a client that
// existed.
//
// A new client cannot be used before its status is `ready`: see [Clients.WaitReady].
func (s *Clients) Create(
	ctx context.Context, client ClientCreate, options ...moneymovement.CallOption,
) (*Client, error) {
	return transport.OrNew(s).low.CreateClient(ctx, &client, options)
}

// Get returns a client. For the client of another integrator, it fails with *errors.NotFound.
func (s *Clients) Get(ctx context.Context, id ClientID, options ...moneymovement.CallOption) (*Client, error) {
	return transport.OrNew(s).low.GetClient(ctx, id, options)
}

// WaitReady polls until the client is `ready`. It then has a wallet and can move money. If ctx ends first, the error is
// *moneymovement.StillPending with the last status.
func (s *Clients) WaitReady(ctx context.Context, id ClientID, options ...moneymovement.WaitOption) (*Client, error) {
	return transport.Awaited[Client]{
		Client: transport.OrNew(s).low.transport, Operation: &opGetClient, Resource: "client", ID: string(id),
		Read: func(ctx context.Context) (*Client, error) {
			return transport.OrNew(s).low.polling(options).GetClient(ctx, id, nil)
		},
		Status: func(c *Client) string { return string(c.Status) },
		Done:   func(c *Client) bool { return c.Status == ClientStatusReady },
		Known:  func(c *Client) bool { return c.Status.Known() },
	}.Wait(ctx, options)
}

// Verification is the business verification (KYB, "know your business") of a client. Save sends information and
// documents, Get returns what is still missing, and Complete submits everything for review. The review gets a snapshot
// that cannot be changed.
//
// A rail can need a verified client: else [Rails.Open] fails with *errors.RailRequirementsUnmet, whose Blockers say
// what is missing. Money that arrives on a chain, and a payin from another chain, need only a client that is `ready`.
// For payouts, the service's description names no verification, and the sandbox host requires none.
type Verification struct{ low lowLevel }

// Save saves information about the applicant and ids of documents. It submits nothing. Call it again to add more.
//
// The service's description does not show the JSON names of the applicant's fields. [Applicant.Map] returns a map with
// the names that the SDK assumes. The requirements in the response name what is missing.
//
// DocumentIDs are ids of documents that you uploaded before. The description shows no call of the platform API that
// uploads documents. The app API uploads documents for invoices and contracts (appapi.Documents), but the description
// does not say that a verification accepts their ids. Ask the operator of the service how to upload. The sandbox host
// accepts any text as an id.
func (s *Verification) Save(
	ctx context.Context, information KYBInformation, options ...moneymovement.CallOption,
) (*KYB, error) {
	return transport.OrNew(s).low.SaveKYB(ctx, &information, options).
		ValueOrRead(func(origin transport.Origin) (*KYB, error) {
			return transport.OrNew(s).low.with(origin).GetKYB(ctx, nil)
		})
}

// Get returns the status and the requirements that are still missing.
func (s *Verification) Get(ctx context.Context, options ...moneymovement.CallOption) (*KYB, error) {
	return transport.OrNew(s).low.GetKYB(ctx, options)
}

// Complete submits the saved information for review. If requirements are missing, the error is *errors.Conflict, and
// [Verification.Get] returns them. The service's description does not say what a second call does. The sandbox host
// returns the same submission, unless the information has changed. After a restart, read the status with Get first.
func (s *Verification) Complete(ctx context.Context, options ...moneymovement.CallOption) (*KYBSubmission, error) {
	return transport.OrNew(s).low.CompleteKYB(ctx, options).ValueOrRead(func(origin transport.Origin) (*KYBSubmission,
		error) {
		kyb, err := transport.OrNew(s).low.with(origin).GetKYB(ctx, nil)
		if err != nil {
			return nil, err
		}
		return &KYBSubmission{Status: kyb.Status}, nil
	})
}

// WaitDecided polls until the review is `approved` or `rejected`. People do the review, which can take days. Give ctx a
// deadline. If ctx ends first, the error is *moneymovement.StillPending.
func (s *Verification) WaitDecided(ctx context.Context, options ...moneymovement.WaitOption) (*KYB, error) {
	return transport.Awaited[KYB]{
		Client: transport.OrNew(s).low.transport, Operation: &opGetKYB, Resource: "verification",
		ID: transport.OrNew(s).low.actingFor(),
		Read: func(ctx context.Context) (*KYB, error) {
			return transport.OrNew(s).low.polling(options).GetKYB(ctx, nil)
		},
		Status: func(k *KYB) string { return string(k.Status) },
		Done:   func(k *KYB) bool { return k.Status.Final() },
		Known:  func(k *KYB) bool { return k.Status.Known() },
	}.Wait(ctx, options)
}

// Applicant holds what a client states about itself for its verification. The service's description does not show the
// JSON names of these fields. The SDK assumes names that the sandbox host accepts. [Verification.Get] returns what is
// still missing, with the service's own names: set those in Further.
type Applicant struct {
	// LegalName is the registered name of a business.
	LegalName string
	// FirstName and LastName are the legal names of a person.
	FirstName, LastName string
	// Country is the ISO 3166-1 alpha-2 code of residency or registration, such as DE.
	Country string
	// Further has other fields, by their JSON name. It overrides the fields above. On the sandbox host, a nil value
	// removes a field that was saved before.
	Further map[string]any
}

// Map returns the value for the field Applicant of [KYBInformation]. It leaves out empty fields.
func (a Applicant) Map() map[string]any {
	named := map[string]any{}
	for name, value := range map[string]string{
		"legalName": a.LegalName, "firstName": a.FirstName, "lastName": a.LastName, "country": a.Country,
	} {
		if value != "" {
			named[name] = value
		}
	}
	maps.Copy(named, a.Further)
	return named
}
