package payments

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// Limits are what may be paid at all: caps, assets, payees and chains. A person reviews them as JSON, see
// [ParseLimits]. The zero value allows nothing to be debited.
//
// A processor with Config.Limits checks them when a payment is submitted and before each call that can pay, so nothing
// is signed that they refuse. A payment that they refuse needs a decision, with [ReasonPolicy]. It is not paid when a
// cap is raised or a new day begins, but when a person decides [Retry] and the limits then allow it.
//
// A payment counts from its submission until it is proven that it was not paid, and what came back still counts. It
// counts on the day on which it was submitted, or on the day of its call if nothing can have left before. A payment in
// doubt counts past a cap as well, and the service is asked about it before the limits refuse another signature. So
// does a payment that was found paid, whoever has paid it. The counts are in the store, and change in the transaction
// that stores the payment. They are those of all accounts and all processes: give each process the same limits, and
// begin with limits only when all of them know them.
//
// The payee of a payout or a transfer is its contact, because a booking does not show the contact's account. That of an
// escrow is its address. Releases and refunds of an escrow count nothing: the money has left the account before. A
// transfer by quote or invoice is refused, because its amount is not known before it is sent. Transfers are taken as
// USDC.
type Limits struct {
	// TimeZone is where the days begin, by its name in the IANA database, such as "Europe/Berlin" or "UTC". It is
	// required if there is a cap for a day.
	TimeZone string `json:"timeZone,omitzero"`
	// Assets are the assets that may be debited, each with its caps. Other assets are refused.
	Assets map[dapi.Asset]Caps `json:"assets"`
	// Payees are who may be paid: the ids of contacts and the addresses of escrows' payees, each with the name of the
	// payee. Ids with one name are one payee for the caps, such as one bank account that is a contact of two clients.
	// Nil allows every payee, and each id is one.
	Payees map[string]string `json:"payees,omitzero"`
	// Chains are the EVM chain ids that a cross-chain payout may leave and arrive on. The one that it does not name is
	// Base, 8453. Nil allows all of them.
	Chains []dapi.ChainID `json:"chains,omitzero"`

	unreadable error
}

// Caps are the most that may be debited, in units of the asset. Nil sets no cap, and zero allows nothing.
type Caps struct {
	Payment  *decimal.Decimal `json:"payment,omitempty"`  // by one payment
	Day      *decimal.Decimal `json:"day,omitempty"`      // by all payments of a day
	PayeeDay *decimal.Decimal `json:"payeeDay,omitempty"` // by the payments to one payee of a day
}

// ParseLimits reads limits from JSON:
//
//	{
//	  "timeZone": "Europe/Berlin",
//	  "assets": {"USDC": {"payment": "2500", "day": "20000", "payeeDay": "5000"}},
//	  "payees": {"ct_7": "rent", "ct_9": "payroll"},
//	  "chains": [8453]
//	}
//
// If they cannot be read, are not valid, or have a null or a member that is not known, the error is
// *errors.InvalidInput. The limits are then not nil, and refuse everything.
func ParseLimits(text []byte) (*Limits, error) {
	limits := new(Limits)
	err := codec.Unmarshal(text, limits, codec.NoUnknownMembers())
	switch {
	case err != nil:
		err = invalid("ParseLimits", "limits", "invalid", "cannot be read: "+err.Error())
	case hasNull(text):
		err = invalid("ParseLimits", "limits", "invalid", "must not have a null: leave a limit out if there is none")
	default:
		_, err = limits.rules("ParseLimits")
	}
	if err != nil {
		return &Limits{unreadable: err}, err
	}
	return limits, nil
}

// hasNull reports a null in JSON, by which a person can mean nobody as well as everybody.
func hasNull(text []byte) bool {
	for tokens := codec.NewDecoder(bytes.NewReader(text)); ; {
		if token, err := tokens.ReadToken(); err != nil || token.Kind() == 'n' {
			return err == nil
		}
	}
}

// countingVersion is the version of records that a program must know to go on with a payment that counts.
const countingVersion = 2

// limitRules are limits as they are used. Nil allows everything, and counts nothing.
type limitRules struct {
	zone   *time.Location
	assets map[string]Caps
	payees map[string]string
	chains []dapi.ChainID
}

// maxCapDigits bounds a cap, like the amounts of payments.
const maxCapDigits = 40

// rules checks limits.
func (l *Limits) rules(operation string) (*limitRules, error) {
	if l == nil {
		return nil, nil //nolint:nilnil // no limits
	}
	if l.unreadable != nil {
		return nil, l.unreadable
	}
	rules := &limitRules{assets: map[string]Caps{}, chains: slices.Clone(l.Chains)}
	days := false
	for _, asset := range slices.Sorted(maps.Keys(l.Assets)) {
		caps, name := l.Assets[asset], assetName(string(asset))
		if _, twice := rules.assets[name]; twice || name == "" {
			return nil, invalid(operation, "assets", "invalid", fmt.Sprintf("has %q twice, or as an empty name", asset))
		}
		for _, most := range []**decimal.Decimal{&caps.Payment, &caps.Day, &caps.PayeeDay} {
			if *most == nil {
				continue
			}
			*most = new(**most) // the caller cannot change it
			if digits, exponent := (*most).NumDigits(), (*most).Exponent(); (*most).IsNegative() ||
				digits > maxCapDigits || exponent > maxCapDigits || exponent < -maxCapDigits {
				return nil, invalid(operation, "assets."+string(asset), "out_of_range",
					fmt.Sprintf("must have caps of 0 or more, with at most %d digits", maxCapDigits))
			}
		}
		days = days || caps.Day != nil || caps.PayeeDay != nil
		rules.assets[name] = caps
	}
	for _, chain := range l.Chains {
		if chain <= 0 {
			return nil, invalid(operation, "chains", "out_of_range", "must be positive EVM chain ids")
		}
	}
	if l.Payees != nil {
		rules.payees = map[string]string{}
	}
	for _, id := range slices.Sorted(maps.Keys(l.Payees)) {
		name := strings.TrimSpace(l.Payees[id])
		if _, twice := rules.payees[payeeID(id)]; twice || payeeID(id) == "" || name == "" {
			return nil, invalid(operation, "payees", "invalid",
				fmt.Sprintf("must name each payee once: %q has no name, or is there twice", id))
		}
		rules.payees[payeeID(id)] = name
	}
	var err error
	switch {
	case l.TimeZone == "" && !days:
		rules.zone = time.UTC
	case l.TimeZone == "" || l.TimeZone == "Local":
		return nil, invalid(operation, "timeZone", errors.FieldMissing,
			`must name the zone in which the days begin, such as "Europe/Berlin" or "UTC"`)
	default:
		if rules.zone, err = time.LoadLocation(l.TimeZone); err != nil {
			return nil, invalid(operation, "timeZone", "invalid", fmt.Sprintf("%q is not a time zone that this "+
				"machine knows: use a name of the IANA database, and import time/tzdata if the machine has none",
				l.TimeZone))
		}
	}
	return rules, nil
}

func assetName(asset string) string { return strings.ToUpper(strings.TrimSpace(asset)) }

// payeeID returns an id in one spelling: the prefix of a contact's id is optional, and an address has no case.
func payeeID(id string) string {
	id = strings.TrimSpace(id)
	if len(id) == 42 && strings.EqualFold(id[:2], "0x") {
		return strings.ToLower(id)
	}
	return strings.TrimPrefix(id, "ct_")
}

// Spending is what a payment counts against the caps of [Limits].
type Spending struct {
	// Asset is what is debited, such as "USDC".
	Asset string `json:"asset"`
	// Amount is how much of it, in units of the asset.
	Amount decimal.Decimal `json:"amount"`
	// Payee is the name of the payee in the limits, or else the contact's id without its prefix, or an address in
	// lower case.
	Payee string `json:"payee"`
	// At is the time that says on which day the payment counts.
	At time.Time `json:"at"`
	// Unchecked says that the payment counts because it may be paid, and that the caps were not asked. They are asked
	// before its next signature, and it then counts on that day.
	Unchecked bool `json:"unchecked,omitzero"`
}

// Cap is the most that payments may count in a time.
type Cap struct {
	Asset string
	Payee string // empty for all payees
	// From and Until limit the time: a payment counts if its Spending.At is not before From, and is before Until. They
	// are the beginnings of two days.
	From, Until time.Time
	Most        decimal.Decimal
}

// CapReached says that a payment would count more than a cap allows. Nothing was changed.
type CapReached struct {
	Key moneymovement.Key
	Cap Cap
	// Sum is what would be counted with the payment.
	Sum decimal.Decimal
}

// Error returns one line, safe to log.
func (e *CapReached) Error() string { return errorbase.Textf(e, "payment %q: %s", e.Key, e.why()) }

func (e *CapReached) why() string {
	to := ""
	if e.Cap.Payee != "" {
		to = fmt.Sprintf(" to %q", e.Cap.Payee)
	}
	day := e.Cap.From.Format(time.DateOnly) + " in " + e.Cap.From.Location().String()
	return fmt.Sprintf("with it, %s %s%s would be paid on %s, and the cap of a day is %s", e.Sum, e.Cap.Asset, to, day,
		e.Cap.Most)
}

// Count makes a store change what is counted when it stores a record: from the Spending of the stored record to that of
// the new one. Caps are what must hold afterwards.
type Count struct{ Caps []Cap }

// Tally is a change of what a store counts for an asset, a payee and a quarter of an hour. Payee is empty in the tally
// of all payees. The days of all time zones begin with a quarter of an hour.
type Tally struct {
	Asset  string
	Payee  string
	At     time.Time       // the beginning of the quarter, in UTC
	Amount decimal.Decimal // to add; negative to take away
}

// Recount returns the tallies that a [Store] adds when it stores a record with a Count. before is the Spending of the
// stored record, nil for a new one. sum returns what is counted within a cap now. If a cap would be passed, the error
// is *[CapReached]. Otherwise it is one of sum.
func (r *Record) Recount(before *Spending, sum func(Cap) (decimal.Decimal, error)) ([]Tally, error) {
	if r.Count == nil {
		return nil, nil
	}
	changes := slices.Concat(tallies(before, true), tallies(r.Spending, false))
	for _, limit := range r.Count.Caps {
		counted, err := sum(limit)
		if err != nil {
			return nil, err
		}
		for _, change := range changes {
			if change.Asset == limit.Asset && change.Payee == limit.Payee && !change.At.Before(limit.From) &&
				change.At.Before(limit.Until) {
				counted = counted.Add(change.Amount)
			}
		}
		if counted.GreaterThan(limit.Most) {
			return nil, &CapReached{Key: r.Key, Cap: limit, Sum: counted}
		}
	}
	if before != nil && r.Spending != nil && before.same(r.Spending) {
		return nil, nil
	}
	return changes, nil
}

// tallies returns what a payment counts: for its payee, and for all.
func tallies(s *Spending, taken bool) []Tally {
	if s == nil {
		return nil
	}
	amount, at := s.Amount, s.At.UTC().Truncate(quarter)
	if taken {
		amount = amount.Neg()
	}
	return []Tally{{s.Asset, "", at, amount}, {s.Asset, s.Payee, at, amount}}
}

// quarter divides the days of all time zones.
const quarter = 15 * time.Minute

func (s *Spending) same(other *Spending) bool {
	return s.Asset == other.Asset && s.Payee == other.Payee && s.Amount.Equal(other.Amount) && s.At.Equal(other.At) &&
		s.Unchecked == other.Unchecked
}

// OverCap returns a record that a [Store] inserts in place of one that would pass a cap: it needs a decision, and
// counts nothing.
func (r Record) OverCap(reached *CapReached) Record { return r.stop(reached.why(), r.AcceptedAt) }

// stop is the event of limits that do not allow a new payment.
func (r Record) stop(why string, now time.Time) Record {
	r.setState(moneymovement.PaymentNeedsDecision, now)
	r.Due, r.Reason, r.ChangedAt = time.Time{}, policyReason(why), now
	r.Spending, r.Count = nil, nil
	return r
}

func policyReason(why string) *Reason {
	const goesOn = "; it goes on when a person decides Retry and the limits allow it"
	return &Reason{Code: ReasonPolicy, Message: why + goesOn}
}

// submitted returns a new record with what it counts, or as one that the limits refuse.
func (l *limitRules) submitted(r Record, now time.Time) Record {
	r, refused := l.admit(r, now)
	if refused != "" && !r.MayHaveLeft { // otherwise the service says first whether it was paid
		return r.stop(refused, now)
	}
	return r
}

// admit returns a record with what it counts from now on, when it is submitted and before each of its calls. refused
// says why the limits do not allow it, "" if they do.
func (l *limitRules) admit(r Record, now time.Time) (_ Record, refused string) {
	return l.count(r, nil, now, false)
}

// admitSignature is admit before a signature. price is that of the booking, nil if it has none.
func (l *limitRules) admitSignature(r Record, price *dapi.Quote, now time.Time) (_ Record, refused string) {
	return l.count(r, price, now, true)
}

func (l *limitRules) count(r Record, price *dapi.Quote, now time.Time, signs bool) (_ Record, refused string) {
	if l == nil {
		return r, ""
	}
	spending, refused := l.spending(&r, price)
	if refused == "" {
		refused = l.allows(&r, spending)
	}
	if spending.Asset == "" { // it debits nothing, or nobody knows what
		return r, refused
	}
	switch kept := r.Spending; {
	case kept == nil:
		spending.At, spending.Unchecked = now.UTC(), r.MayHaveLeft
	case r.MayHaveLeft: // it was paid on that day and under this name, perhaps
		spending.At, spending.Payee, spending.Unchecked = kept.At, kept.Payee, kept.Unchecked
		spending.Amount = decimal.Max(spending.Amount, kept.Amount)
	case l.sameDay(kept.At, now):
		spending.At = kept.At
		spending.Amount = decimal.Max(spending.Amount, kept.Amount)
	default:
		spending.At = now.UTC()
	}
	asks := !r.MayHaveLeft // what may be paid counts in any case
	if signs && r.MayHaveLeft {
		asks = spending.Unchecked || spending.Amount.GreaterThan(r.Spending.Amount)
		if spending.Unchecked {
			spending.At = now.UTC()
		}
	}
	r.Spending, r.Count, r.Needs = &spending, new(Count), max(r.Needs, countingVersion)
	if asks {
		r.Count.Caps, spending.Unchecked = l.capsOf(&spending), false
	}
	return r, refused
}

// countPaid returns a record that counts what it may have debited, also if the limits did not allow it.
func (l *limitRules) countPaid(r Record, now time.Time) Record {
	paid := r.State == moneymovement.PaymentPaid || r.State == moneymovement.PaymentCompleted ||
		r.State == moneymovement.PaymentCameBack
	if l == nil || r.Spending != nil || !r.MayHaveLeft && !paid {
		return r
	}
	if !r.PaidAt.IsZero() { // such as before there were limits
		now = r.PaidAt
	}
	if r, _ = l.admit(r, now); r.Count != nil {
		r.Count.Caps = nil
	}
	return r
}

// spending returns what a payment debits, but for the time. Its Asset is empty if it debits nothing, or if that is not
// known. refused then says why.
func (l *limitRules) spending(r *Record, price *dapi.Quote) (s Spending, refused string) {
	switch {
	case r.Payout != nil:
		s = Spending{Asset: string(r.Payout.Currency), Amount: r.Payout.Amount, Payee: string(r.Payout.ContactID)}
		if price != nil && assetName(price.SourceCurrency) == assetName(s.Asset) {
			s.Amount = decimal.Max(s.Amount, price.SourceAmount) // with a fee on top
		}
	case r.Escrow != nil:
		if !r.Action.Known() && r.Kind == KindEscrowAction {
			return s, fmt.Sprintf("this version does not know what the action %q debits", r.Action)
		}
		s.Payee = string(r.Escrow.Payee)
		if r.Kind == KindEscrow || r.Action == dapi.EscrowActionTypeApprove {
			s.Asset, s.Amount = string(r.Escrow.Currency), r.Escrow.Amount
		}
	case r.Transfer != nil && r.Transfer.ContactID != "":
		s = Spending{Asset: string(dapi.USDC), Amount: r.Transfer.Amount, Payee: r.Transfer.ContactID}
	default:
		return s, "the amount of a transfer by quote or invoice is not known before it is sent, so no limit can hold"
	}
	debits := s.Asset != "" || !s.Amount.IsZero()
	s.Asset, s.Payee = assetName(s.Asset), payeeID(s.Payee)
	if debits && (s.Asset == "" || s.Payee == "") {
		return Spending{}, "it does not show its asset and its payee, so no limit can hold"
	}
	if name, named := l.payees[s.Payee]; named {
		s.Payee = name
	}
	return s, ""
}

// allows returns why the limits do not allow a payment by itself, whatever is counted, or "".
func (l *limitRules) allows(r *Record, s Spending) string {
	var payee string
	var chains []dapi.ChainID
	switch {
	case r.Payout != nil:
		payee, chains = string(r.Payout.ContactID), chainsOf(r.Payout)
	case r.Transfer != nil:
		payee = r.Transfer.ContactID
	case r.Action != dapi.EscrowActionTypeRefund: // which returns the money
		payee = string(r.Escrow.Payee)
	}
	if _, named := l.payees[payeeID(payee)]; l.payees != nil && payee != "" && !named {
		return fmt.Sprintf("the limits do not name the payee %q", payee)
	}
	for _, chain := range chains {
		if l.chains != nil && !slices.Contains(l.chains, chain) {
			return fmt.Sprintf("the limits do not name the chain %d", chain)
		}
	}
	if s.Asset == "" {
		return ""
	}
	caps, named := l.assets[s.Asset]
	switch {
	case !named:
		return fmt.Sprintf("the limits do not name the asset %q", s.Asset)
	case caps.Payment != nil && s.Amount.GreaterThan(*caps.Payment):
		return fmt.Sprintf("it debits %s %s, and the cap of a payment is %s", s.Amount, s.Asset, caps.Payment)
	}
	return ""
}

// base is the EVM id of the chain on which balances are held.
const base dapi.ChainID = 8453

// chainsOf returns the chains of a cross-chain payout. If it names only one of the two, the other is Base.
func chainsOf(p *dapi.PayoutCreate) []dapi.ChainID {
	if p.FromChainID == 0 && p.ToChainID == 0 {
		return nil
	}
	return []dapi.ChainID{cmp.Or(p.FromChainID, base), cmp.Or(p.ToChainID, base)}
}

// capsOf returns the caps of the day on which a payment counts.
func (l *limitRules) capsOf(s *Spending) (all []Cap) {
	from, until := l.day(s.At)
	add := func(payee string, most *decimal.Decimal) {
		if most != nil {
			all = append(all, Cap{Asset: s.Asset, Payee: payee, From: from, Until: until, Most: *most})
		}
	}
	caps := l.assets[s.Asset]
	add("", caps.Day)
	add(s.Payee, caps.PayeeDay)
	return all
}

// day returns the beginning of the day of a time, and that of the next one.
func (l *limitRules) day(at time.Time) (from, until time.Time) {
	year, month, day := at.In(l.zone).Date()
	return l.begins(year, month, day), l.begins(year, month, day+1)
}

// begins returns the first instant of a date. Where summer time begins at midnight, it is 1:00, and time.Date can
// return 23:00 of the date before. Where summer time ends at 1:00, time.Date can return the second midnight.
func (l *limitRules) begins(year int, month time.Month, day int) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, l.zone)
	if midnight.Day() != time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Day() {
		_, midnight = midnight.ZoneBounds()
	}
	if first := midnight.Add(-time.Hour); first.Day() == midnight.Day() {
		return first
	}
	return midnight
}

func (l *limitRules) sameDay(a, b time.Time) bool {
	from, _ := l.day(a)
	other, _ := l.day(b)
	return from.Equal(other)
}

// countUnpaid returns a record that counts nothing any more, if it is proven that it was not paid and will not be
// without a person.
func (r Record) countUnpaid() Record {
	byPolicy := r.State == moneymovement.PaymentNeedsDecision && r.Reason != nil && r.Reason.Code == ReasonPolicy
	if r.Spending != nil && !r.MayHaveLeft && (r.State == moneymovement.PaymentRefused || byPolicy) {
		r.Spending, r.Count = nil, new(Count)
	}
	return r
}

// Counter counts the payments of a program that pays with dapi alone. In one transaction, it adds up the Spending of
// all keys but this one within each cap, returns an error if that and the amount are more than Cap.Most, and otherwise
// stores the Spending under the key, in place of what the key had. A key counts until your program knows that it was
// not paid. The cap's Payee is empty for all payees.
type Counter func(ctx context.Context, key moneymovement.Key, spending Spending, caps []Cap) error

// BeforeSigning returns a function for [dapi.PayTerms], for a program that pays without a processor. It refuses a
// booked payout that the limits do not allow, with an error that says why. count counts, and nothing is signed if it
// fails. If the limits are not valid, or have a cap for a day and count is nil, the error is *errors.InvalidInput.
func (l *Limits) BeforeSigning(count Counter) (func(context.Context, *dapi.Payout) error, error) {
	if l == nil {
		l = new(Limits) // which allows nothing
	}
	rules, err := l.rules("BeforeSigning")
	if err != nil {
		return nil, err
	}
	for _, caps := range rules.assets {
		if count == nil && (caps.Day != nil || caps.PayeeDay != nil) {
			return nil, invalid("BeforeSigning", "count", errors.FieldMissing, "is nil, and there is a cap for a day")
		}
	}
	return func(ctx context.Context, booked *dapi.Payout) error {
		switch {
		case booked == nil:
			return errors.New("there is no booking that the limits could allow")
		case payeeID(string(booked.ContactID)) == "", assetName(string(booked.Currency)) == "",
			!booked.Amount.IsPositive():
			return errors.New("the booking does not show its contact, currency and amount, so no limit can hold")
		}
		key := moneymovement.Key(booked.IdempotencyKey)
		asked := Record{Key: key, Kind: KindPayout, Payout: &dapi.PayoutCreate{ContactID: booked.ContactID,
			Amount: booked.Amount, Currency: booked.Currency,
			FromChainID: booked.FromChainID, ToChainID: booked.ToChainID}}
		record, refused := rules.admitSignature(asked, booked.Quote, time.Now())
		switch {
		case refused != "":
			return errors.New(refused)
		case count == nil:
			return nil
		case key == "": // it could not be told from others
			return errors.New("the booking shows no key to count it under")
		}
		return count(ctx, key, *record.Spending, record.Count.Caps)
	}, nil
}
