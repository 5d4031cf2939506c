package host

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
)

func contactsCommand(a *app.App) *cobra.Command {
	group := &cobra.Command{Use: "contacts", Short: "Contacts: the saved destinations of payments"}
	group.AddCommand(createContactCommand(a), contactCapabilitiesCommand(a), deleteContactCommand(a),
		listContactsCommand(a))
	return group
}

func contactCapabilitiesCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	command := &cobra.Command{
		Use: "capabilities ID", Short: "Show how a contact can be paid, and what prevents it",
		Long: `Shows how a contact can be paid, and the blockers: the reasons why it cannot be paid. The service has no call that
returns a contact itself on the platform API.`,
		Example: "  moneymove contacts capabilities ct_1 -as cl_123",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: oneArgument(contactIDs(where)),
		RunE: func(c *cobra.Command, args []string) error {
			account, err := where.Account()
			if err != nil {
				return err
			}
			found, err := account.Contacts.Capabilities(c.Context(), dapi.ContactID(args[0]))
			if err != nil {
				return err
			}
			return a.Print(found, func() app.Table { return capabilityTable(found) })
		},
	}
	where.PlatformFlags(command.Flags())
	return command
}

func capabilityTable(c *dapi.ContactCapabilities) app.Table {
	table := app.Table{Rows: [][]string{{"contact", string(c.ContactID)}, {"payment", payable(c)}}}
	for _, blocker := range c.Blockers {
		table.Rows = append(table.Rows, []string{"blocker", blockerLine(blocker)})
	}
	return table
}

func deleteContactCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	command := &cobra.Command{
		Use: "delete ID", Short: "Delete a contact, which then cannot be paid any more",
		Example: "  moneymove contacts delete ct_1 -as cl_123",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: oneArgument(contactIDs(where)),
		RunE: func(c *cobra.Command, args []string) error {
			account, err := where.Account()
			if err != nil {
				return err
			}
			if err := account.Contacts.Delete(c.Context(), dapi.ContactID(args[0])); err != nil {
				return err
			}
			return a.Print(map[string]string{"deleted": args[0]}, func() app.Table {
				return app.Table{Rows: [][]string{{args[0] + " is deleted."}}}
			})
		},
	}
	where.PlatformFlags(command.Flags())
	return command
}

func listContactsCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	limit := 0
	command := &cobra.Command{
		Use: "list", Short: "List the contacts of the account that the app API key belongs to",
		Long: `Lists the contacts of an account. Only the app API has such a list, so it needs the app API key and not the developer
key, and it lists the contacts of that key's account. The platform API has no list: keep the ids of contacts that you
create there.`,
		Example: "  moneymove contacts list -api-key-file key.txt",
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 {
				return app.Usagef("-limit is %d: give 1 or more", limit)
			}
			service, err := where.App()
			if err != nil {
				return err
			}
			found := []appapi.Contact{}
			for contact, err := range service.Contacts.All(c.Context(), appapi.ListContactsParams{}) {
				if err != nil {
					return err
				}
				if found = append(found, contact); len(found) == limit {
					break
				}
			}
			return a.Print(items[appapi.Contact]{found}, func() app.Table { return contactTable(found) })
		},
	}
	where.HostFlags(command.Flags())
	where.AppFlags(command.Flags())
	command.Flags().IntVarP(&limit, "limit", "n", 1000, "list at most this `number`")
	return command
}

func contactTable(contacts []appapi.Contact) app.Table {
	table := app.Table{Head: []string{"CONTACT", "NAME", "DESTINATION", "CREATED"}}
	for _, c := range contacts {
		table.Rows = append(table.Rows, []string{c.ID, c.Name, destination(c.Account),
			c.CreatedAt.UTC().Format(time.RFC3339)})
	}
	return table
}

// destination shows in a few words where a contact of the app API is paid.
func destination(account model.ContactAccount) string {
	switch to := account.Variant().(type) {
	case model.OnchainAccount:
		return string(to.ChainID) + " " + to.Currency + " " + to.WalletAddress
	case model.EmailAccount:
		return to.Email
	}
	return ""
}

const createContactHelp = `Saves a contact. Give one destination: -contact-email for an existing contact of the service, -wallet for a wallet,
-iban for a SEPA account, or -d with the JSON body of POST /dapi/v1/contacts for everything else.

The service keeps one contact for each set of account details: the same command again shows the same contact. Then look
at moneymove contacts capabilities, which names a blocker for each detail that is missing.`

const createContactExamples = `  moneymove contacts create -contact-email ada@example.com -as cl_123
  moneymove contacts create -name Ada -wallet 0x52908400098527886E0F7030069857D2E4169EE7 -chain base -currency USDC
  moneymove contacts create -name 'Acme GmbH' -iban DE89370400440532013000 -holder-business 'Acme GmbH'
  moneymove contacts create -d @contact.json`

// contactFlags are the flags of contacts create.
type contactFlags struct {
	data, name                                           string
	email                                                string
	wallet, chain                                        string
	iban, bic, holder, holderFirst, holderLast, business string
	currency                                             string
}

// savedContact is the result of contacts create.
type savedContact struct {
	*dapi.Contact
	// Existed says that the service had a contact with these details.
	Existed bool `json:"existed"`
}

func createContactCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	var flags contactFlags
	command := &cobra.Command{
		Use: "create", Short: "Save a contact", Long: createContactHelp, Example: createContactExamples,
		RunE: func(c *cobra.Command, _ []string) error { return createContact(c, a, where, flags) },
	}
	where.PlatformFlags(command.Flags())
	set := command.Flags()
	set.StringVarP(&flags.data, "data", "d", "",
		"`body` of the request, in JSON; @file reads a file, and - standard input")
	set.StringVar(&flags.name, "name", "", "display `name`")
	set.StringVar(&flags.email, "contact-email", "", "`email` of an existing contact of the service")
	set.StringVar(&flags.wallet, "wallet", "", "`address` of a wallet")
	set.StringVar(&flags.chain, "chain", "base", "`code` of the wallet's chain")
	set.StringVar(&flags.iban, "iban", "", "`IBAN` of a SEPA account")
	set.StringVar(&flags.bic, "bic", "", "`BIC` of the SEPA account's bank")
	set.StringVar(&flags.holder, "holder", "", "full `name` of the SEPA account's holder")
	set.StringVar(&flags.holderFirst, "holder-first", "", "first `name` of a person who holds the SEPA account")
	set.StringVar(&flags.holderLast, "holder-last", "", "last `name` of a person who holds the SEPA account")
	set.StringVar(&flags.business, "holder-business", "", "registered `name` of a business that holds the SEPA account")
	set.StringVar(&flags.currency, "currency", "",
		"`currency` that arrives (default: USDC for a wallet, EUR for an IBAN)")
	return command
}

func createContact(c *cobra.Command, a *app.App, where *client.Target, flags contactFlags) error {
	asked, err := readContact(c, a, flags)
	if err != nil {
		return err
	}
	account, err := where.Account()
	if err != nil {
		return err
	}
	saved, err := saveContact(c.Context(), account, asked)
	if err != nil {
		return err
	}
	if able, err := account.Contacts.Capabilities(c.Context(), saved.ID); err == nil { // or else pay says it
		for _, blocker := range able.Blockers {
			a.Say("moneymove: warning: this contact cannot be paid yet: %s: %s", flagOf(blocker.Field), blocker.Message)
		}
	}
	return a.Print(saved, func() app.Table { return app.Table{Rows: saved.rows()} })
}

// flagOf returns the flag that a field of a contact comes from, or the field.
func flagOf(field string) string {
	return cmp.Or(map[string]string{
		"walletAddress": "wallet", "chainId": "chain", "accountHolderName": "holder",
	}[field], field, "account")
}

func saveContact(ctx context.Context, account *dapi.Account, asked dapi.ContactCreate) (savedContact, error) {
	var response moneymovement.Response
	contact, err := account.Contacts.Create(ctx, asked, moneymovement.CaptureResponse(&response))
	return savedContact{contact, response.Replayed}, err
}

func (s savedContact) rows() [][]string {
	rows := [][]string{{"contact", string(s.ID)}, {"name", s.Name}}
	if s.Email != "" {
		rows = append(rows, []string{"email", s.Email})
	}
	if s.Crypto != nil {
		rows = append(rows, []string{"wallet", string(s.Crypto.Chain) + " " + s.Crypto.Token + " " + s.Crypto.Address})
	}
	if s.Bank != nil {
		rows = append(rows, []string{"bank", strings.TrimSpace(string(s.Bank.Method) + " " + s.Bank.Currency + " " +
			s.Bank.AccountMask)})
	}
	if s.Existed {
		rows = append(rows, []string{"saved", "earlier: the service had a contact with these details"})
	}
	return rows
}

// destinations are the flags that name a destination, each with the flags that go with it.
var destinations = map[string][]string{
	"data": {}, "contact-email": {"name", "currency"}, "wallet": {"name", "chain", "currency"},
	"iban": {"name", "bic", "holder", "holder-first", "holder-last", "holder-business", "currency"},
}

// details are all flags that say something about a contact.
var details = []string{
	"name", "chain", "bic", "holder", "holder-first", "holder-last", "holder-business", "currency",
}

// readContact reads the one destination of the command line.
func readContact(c *cobra.Command, a *app.App, flags contactFlags) (dapi.ContactCreate, error) {
	var chosen []string
	for _, name := range []string{"data", "contact-email", "wallet", "iban"} {
		if c.Flags().Changed(name) {
			chosen = append(chosen, name)
		}
	}
	if len(chosen) != 1 {
		return dapi.ContactCreate{}, app.Usagef("give one destination: -contact-email, -wallet, -iban, or -d with JSON")
	}
	for _, detail := range details {
		if c.Flags().Changed(detail) && !slices.Contains(destinations[chosen[0]], detail) {
			return dapi.ContactCreate{}, app.Usagef("-%s does not go with -%s: leave one of them out", detail,
				chosen[0])
		}
	}
	contact := dapi.ContactCreate{Name: flags.name}
	switch chosen[0] {
	case "data":
		return contactOf(a, flags.data)
	case "contact-email":
		contact.Account, contact.Currency = dapi.EmailContact(flags.email), flags.currency
	case "wallet":
		contact.Account = dapi.Onchain(dapi.OnchainAccount{
			WalletAddress: flags.wallet, ChainID: dapi.ChainCode(flags.chain), Currency: cmp.Or(flags.currency, "USDC"),
		})
	case "iban":
		contact.Account = dapi.SEPA(bankFieldsOf(flags))
	}
	return contact, nil
}

func bankFieldsOf(flags contactFlags) dapi.BankFields {
	fields := dapi.BankFields{
		IBAN: flags.iban, BIC: flags.bic, Currency: flags.currency, AccountHolderName: flags.holder,
		AccountHolderFirstName: flags.holderFirst, AccountHolderLastName: flags.holderLast,
		AccountHolderBusinessName: flags.business,
	}
	switch {
	case flags.business != "":
		fields.AccountHolderType = model.AccountHolderTypeBusiness
	case flags.holderFirst != "" || flags.holderLast != "":
		fields.AccountHolderType = model.AccountHolderTypeIndividual
	}
	return fields
}

// contactOf reads the JSON of -d. A member that the service does not know is refused, because it may be misspelled.
func contactOf(a *app.App, data string) (contact dapi.ContactCreate, err error) {
	text, err := bodyOf(a, data)
	if err != nil {
		return contact, err
	}
	if err := json.Unmarshal(text, &contact, json.RejectUnknownMembers(true)); err != nil {
		return contact, app.Usagef("-d is not the JSON of a contact: %w", err)
	}
	return contact, nil
}
