package contrary

// Kind is how a service differs in one thing.
type Kind string

// The kinds for a member of a response.
const (
	Absent      Kind = "absent"
	Null        Kind = "null"
	AsText      Kind = "a text"
	AsNumber    Kind = "a number"
	AsBoolean   Kind = "a boolean"
	AsObject    Kind = "an object"
	AsList      Kind = "a list"
	Renamed     Kind = "of another name"
	Unreadable  Kind = "a text of no such form"
	AnotherForm Kind = "a text of another form"
	AnotherWord Kind = "another word"
)

// The other spellings. The SDK reads them all.
const (
	DigitsAsNumber Kind = "the digits as a number"
	DigitsAsText   Kind = "the digits as a text"
	URLBase64      Kind = "base64 of the URL alphabet"
	UnpaddedBase64 Kind = "base64 without padding"
	SpacedTime     Kind = "a time with a space"
	TimeToMinutes  Kind = "a time without seconds"
	ZonelessTime   Kind = "a time without a zone"
	DateWithTime   Kind = "a date with a time"
	BareList       Kind = "a bare list"
	ListInData     Kind = "the list as data"
	ListInResults  Kind = "the list as results"
)

// The kinds for a response as a whole.
const (
	Status200   Kind = "status 200"
	Status201   Kind = "status 201"
	Status202   Kind = "status 202"
	Status204   Kind = "status 204"
	EmptyBody   Kind = "an empty body"
	OnlyOK      Kind = `{"ok":true}`
	OtherMedia  Kind = "application/octet-stream"
	DetailText  Kind = `{"detail":"..."}`
	BareMessage Kind = `{"message":"..."}`
	PlainText   Kind = "a plain text"
	EmptyRefuse Kind = "a refusal without a body"
)

// The kinds for a request, an operation or a behaviour.
const (
	Unknown     Kind = "unknown"       // the service does not know it and refuses it
	OtherType   Kind = "another type"  // the service wants another type and refuses this one
	NotFound    Kind = "404"           // the operation does not exist
	WrongMethod Kind = "405"           // the operation does not exist with this method
	Looser      Kind = "looser"        // the service's bound is looser
	Tighter     Kind = "tighter"       // the service's bound is tighter
	OtherSlug   Kind = "another slug"  // the service refuses with another slug, or with an unknown one
	OtherScope  Kind = "another scope" // the service asks for another scope
	OtherOrder  Kind = "another order" // the entries come in another order
	OtherPage   Kind = "another page"  // a request without a page gets another one
	Repeats     Kind = "another repetition"
	CarriedOut  Kind = "carried out all the same" // the service refuses it and carries it out
	OtherAdvice Kind = "another advice"           // another advice would be right
)

// Effect is what a change does to the reader of a response. Kinds with the same effect lead a flow the same way, so
// flows run once for each effect.
type Effect string

// The effects.
const (
	Missing  Effect = "missing"   // the member is missing
	Unread   Effect = "unread"    // the value is there and cannot be read
	Respelt  Effect = "respelt"   // the value has another spelling and is read
	Word     Effect = "word"      // the word is kept as it is
	Whole    Effect = "whole"     // the response as a whole is different
	NoEffect Effect = "elsewhere" // the change is not in a successful response
)

// EffectOf returns the effect of a kind.
func EffectOf(k Kind) Effect {
	switch k {
	case Absent, Null, Renamed:
		return Missing
	case AsText, AsNumber, AsBoolean, AsObject, AsList, Unreadable:
		return Unread
	case AnotherForm, AnotherWord:
		return Word
	case Status200, Status201, Status202, Status204, EmptyBody, OnlyOK, OtherMedia:
		return Whole
	case DigitsAsNumber, DigitsAsText, URLBase64, UnpaddedBase64, SpacedTime, TimeToMinutes, ZonelessTime, DateWithTime,
		BareList, ListInData, ListInResults:
		return Respelt
	}
	return NoEffect
}
