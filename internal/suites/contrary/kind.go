package contrary

// Kind is how a service differs in one thing.
type Kind string

// What can be other about a member of an answer.
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

// The other spellings, which are read all the same.
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

// What can be other about an answer as a whole.
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

// What can be other about a request, an operation or a behaviour.
const (
	Unknown     Kind = "unknown"       // to the service, which refuses it
	OtherType   Kind = "another type"  // is what the service wants, so that it refuses this one
	NotFound    Kind = "404"           // there is no such operation
	WrongMethod Kind = "405"           // nor with this method
	Looser      Kind = "looser"        // the service's bound
	Tighter     Kind = "tighter"       // the service's bound
	OtherSlug   Kind = "another slug"  // refuses, or one that nobody knows
	OtherScope  Kind = "another scope" // is asked for
	OtherOrder  Kind = "another order" // of the entries
	OtherPage   Kind = "another page"  // is given to who asks for none
	Repeats     Kind = "another repetition"
	CarriedOut  Kind = "carried out all the same" // though refused
	OtherAdvice Kind = "another advice"           // would be right
)

// Effect is what comes of a change for who reads the answer. Kinds of one effect lead a flow the same way, so that
// flows run once for each.
type Effect string

// The effects.
const (
	Missing  Effect = "missing"   // nothing is there
	Unread   Effect = "unread"    // something is there that cannot be read
	Respelt  Effect = "respelt"   // it is read all the same
	Word     Effect = "word"      // it is kept as it came
	Whole    Effect = "whole"     // the answer as a whole is other
	NoEffect Effect = "elsewhere" // the change is not in an answer of success
)

// EffectOf is the effect of a kind.
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
