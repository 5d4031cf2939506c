package contrary

import (
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// Case is one way in which a service can differ from one assumption.
type Case struct {
	Mark   *Mark
	Class  Class
	Kind   Kind
	Member string // a member of the marked object, if the mark is about each of its members
}

// Name is unique among the cases of a mark.
func (c Case) Name() string {
	if c.Member == "" {
		return string(c.Kind)
	}
	return c.Member + " " + string(c.Kind)
}

// Change is a case at one site. The service differs at Site, which is the site of Member if the case has one.
type Change struct {
	Case
	Site Site
}

// Changes returns all cases of a mark at all of its sites.
func (m *Mark) Changes() []Change {
	var all []Change
	for _, site := range m.Sites {
		if word, is := m.Value(); is && !admits(site.Layers, word) {
			continue
		}
		class := classOf(m, site)
		for _, at := range members(m, site) {
			for _, kind := range kinds(m, class, at.site) {
				all = append(all, Change{Case{m, class, kind, at.member}, at.site})
			}
		}
	}
	if len(m.Sites) == 0 {
		for _, kind := range kinds(m, ClassBehaviour, Site{}) {
			all = append(all, Change{Case{m, ClassBehaviour, kind, ""}, Site{}})
		}
	}
	return all
}

// Cases returns the mark's cases, each once.
func (m *Mark) Cases() []Case {
	var cases []Case
	for _, change := range m.Changes() {
		if !slices.Contains(cases, change.Case) {
			cases = append(cases, change.Case)
		}
	}
	return cases
}

// admits reports that a value can have this word. A variant of a union has one word of its selector's enumeration.
func admits(layers []wire.Node, word string) bool {
	for _, layer := range layers {
		if words := layer.At("enum").Texts(); len(words) > 0 {
			return slices.Contains(words, word)
		}
	}
	return true
}

type memberSite struct {
	member string
	site   Site
}

// members returns the sites that a mark is about: the members of the marked object, or the site itself.
func members(m *Mark, site Site) []memberSite {
	if site.In != "body" {
		return []memberSite{{"", site}}
	}
	var names []string
	switch m.Aspect {
	case "fieldTypes", "fieldNames":
		for _, layer := range site.Layers {
			for name := range layer.At("properties").Members() {
				names = append(names, name)
			}
		}
	case "required":
		for _, layer := range site.Layers {
			if slices.ContainsFunc(layer.Marks(), func(mark *wire.Assumption) bool { return mark == m.Assumption }) {
				names = append(names, layer.At("required").Texts()...)
			}
		}
	case "discriminator":
		for _, layer := range site.Layers {
			if name := layer.At("discriminator", "propertyName").Text(); name != "" {
				names = append(names, name)
			}
		}
	case "items":
		names = []string{Each}
	}
	if len(names) == 0 {
		return []memberSite{{"", site}}
	}
	all := make([]memberSite, len(names))
	for i, name := range names {
		below := site.step(name)
		property, _ := wire.Property(site.Layers, name)
		if name == Each {
			property = itemsOf(site.Layers)
		}
		below.Layers, below.Required = property.Layers(), wire.Required(site.Layers, name)
		below.Proof, below.Stated = proves(below.Layers), true
		all[i] = memberSite{name, below}
	}
	return all
}

func itemsOf(layers []wire.Node) wire.Node {
	for _, layer := range layers {
		if items := layer.At("items"); items.Exists() {
			return items
		}
	}
	return wire.Node{}
}

func proves(layers []wire.Node) bool {
	return slices.ContainsFunc(layers, func(layer wire.Node) bool { return layer.At("x-proof").True() })
}

// kinds returns the ways in which a service can differ from a mark at a site.
func kinds(m *Mark, class Class, site Site) []Kind {
	switch class {
	case ClassResponse:
		return responseKinds(m, site)
	case ClassRequest:
		if m.Aspect == "type" || m.Aspect == "fieldTypes" || m.Aspect == "items" {
			return []Kind{OtherType}
		}
		return []Kind{Unknown}
	case ClassOperation:
		return []Kind{NotFound, WrongMethod}
	case ClassConstraint:
		switch {
		case m.Aspect == "x-decimals" && site.Side == Response:
			return nil // it limits the amounts that are sent
		case m.Aspect == "nullable", m.Aspect == "format" && site.Side == Request && isTime(site.Layers):
			return []Kind{Tighter} // the SDK's types cannot send anything looser
		case m.Aspect == "required", site.Side == Response:
			return []Kind{Looser} // a tighter value fits, or is the case of another assumption
		}
		return []Kind{Looser, Tighter}
	case ClassBehaviour:
		return behaviourKinds(m)
	}
	return nil
}

func isTime(layers []wire.Node) bool {
	_, format := described(layers)
	return format == "date-time" || format == "date"
}

func behaviourKinds(m *Mark) []Kind {
	switch m.Aspect {
	case "codes":
		return nil
	case "x-slugs":
		return []Kind{OtherSlug}
	case "x-scope":
		return []Kind{OtherScope}
	case "order":
		return []Kind{OtherOrder}
	case "default":
		return []Kind{OtherPage}
	case "idempotency":
		return []Kind{Repeats}
	}
	switch m.File {
	case "errors.yaml":
		return errorKinds(m)
	case "coverage.yaml":
		return []Kind{AnotherWord}
	}
	return nil
}

// NoCase says why an aspect has no case.
var NoCase = map[string]string{
	"unit": "the form of a response does not show the unit of an amount: the SDK reads it and computes nothing " +
		"with it",
	"meaning": "the form of a response does not show what a value means: it is sent and read as it is",
	"codes": "an approval with another code is not signed, and the refusal says how to allow the code: " +
		"`TestChainNamesAllowAChainCode`",
	"purpose": "no form shows what an operation is for: the program decides when to call it",
}

// WhyNoCase returns why a mark has no case, or "".
func (m *Mark) WhyNoCase() string {
	return NoCase[m.Aspect]
}

func responseKinds(m *Mark, site Site) []Kind {
	_, isValue := m.Value()
	switch {
	case isValue:
		return []Kind{AnotherWord}
	case m.Aspect == "status":
		return otherStatuses(site.Operation)
	case m.Aspect == "answer", m.Aspect == "resource":
		return append([]Kind{Status204, EmptyBody, OnlyOK}, pageKinds(ResponseLayers(site.Operation))...)
	case m.Aspect == "mediaType":
		return []Kind{OtherMedia}
	case m.Aspect == "required", m.Aspect == "nullable":
		return []Kind{Absent, Null}
	case m.Aspect == "fieldNames":
		return []Kind{Renamed}
	case m.Aspect == "fieldTypes", m.Aspect == "items":
		return otherTypes(site)
	case m.Aspect == "discriminator":
		return []Kind{Absent, Null, Renamed, AnotherWord, AsNumber}
	case site.In == "header":
		return []Kind{Absent, Unreadable}
	case site.In == "" && site.Status == "default":
		return []Kind{DetailText, BareMessage, PlainText, EmptyRefuse}
	case site.In == "": // a response without content
		return []Kind{Status200, Status201, Status202, OnlyOK}
	case len(site.Path) == 0:
		return append([]Kind{OnlyOK}, pageKinds(site.Layers)...)
	case m.Aspect == "type":
		return otherTypes(site)
	}
	whole := append([]Kind{Absent, Null}, otherTypes(site)...)
	if site.Name() == Each {
		whole = whole[1:] // a list without its first entry is still a list
	}
	if IsPageList(site) {
		whole = append(whole, BareList, ListInData, ListInResults)
	}
	return whole
}

// pageKinds returns the other forms of a response that is a page.
func pageKinds(layers []wire.Node) []Kind {
	if IsPage(layers) {
		return []Kind{BareList, ListInData, ListInResults}
	}
	return nil
}

// PageList returns the member of a page that holds its entries.
const PageList = "items"

// IsPage reports the schemas of a response that holds only a list.
func IsPage(layers []wire.Node) bool {
	list, _ := wire.Property(layers, PageList)
	if !itemsOf(list.Layers()).Exists() {
		return false
	}
	for _, layer := range layers {
		for name := range layer.At("properties").Members() {
			if !slices.Contains([]string{PageList, "total", "nextCursor"}, name) {
				return false
			}
		}
	}
	return true
}

// IsPageList reports the list of a page.
func IsPageList(site Site) bool {
	return slices.Equal(site.Path, []string{PageList}) && IsPage(ResponseLayers(site.Operation))
}

// ResponseLayers returns the schemas of an operation's successful response, or nil if it has no body.
func ResponseLayers(o *wire.Operation) []wire.Node {
	for status, response := range o.Node.At("responses").Members() {
		if status[0] == '2' {
			return response.Target().At("content", "application/json", "schema").Layers()
		}
	}
	return nil
}

// otherStatuses returns the statuses that the operation does not describe. It leaves out 204 if the response is stated:
// a 204 has no body.
func otherStatuses(o *wire.Operation) []Kind {
	var others []Kind
	for status, kind := range map[string]Kind{"200": Status200, "201": Status201, "202": Status202, "204": Status204} {
		assumed := slices.ContainsFunc(o.Node.Marks(), func(mark *wire.Assumption) bool {
			return mark.Aspect == "answer" || mark.Aspect == "resource"
		})
		_, exact := o.Response(int(status[0]-'0')*100 + int(status[2]-'0'))
		if !exact && (kind != Status204 || assumed) {
			others = append(others, kind)
		}
	}
	slices.Sort(others)
	return others
}

// otherTypes returns the JSON types and spellings that a value can have in place of the described one.
func otherTypes(site Site) []Kind {
	switch kind, format := described(site.Layers); kind {
	case "string":
		return append(spellings(format, site.Layers), AsNumber, AsBoolean, AsObject, AsList)
	case "integer", "number":
		return []Kind{DigitsAsText, Unreadable, AsBoolean, AsObject, AsList}
	case "boolean":
		return []Kind{AsText, AsNumber, AsObject, AsList}
	case "array":
		return []Kind{AsText, AsNumber, AsBoolean, AsObject}
	default:
		return []Kind{AsText, AsNumber, AsBoolean, AsList}
	}
}

// spellings returns other texts for a value with a format.
func spellings(format string, layers []wire.Node) []Kind {
	switch format {
	case "decimal":
		return []Kind{DigitsAsNumber, Unreadable}
	case "byte":
		return []Kind{URLBase64, UnpaddedBase64, Unreadable}
	case "date-time":
		return []Kind{SpacedTime, TimeToMinutes, ZonelessTime, Unreadable}
	case "date":
		return []Kind{DateWithTime, Unreadable}
	case "":
		if slices.ContainsFunc(layers, assumesWords) {
			return []Kind{AnotherWord}
		}
		return nil
	}
	return []Kind{AnotherForm}
}

// assumesWords reports an enumeration whose values are assumed. Another value in place of a stated one would mean
// something else.
func assumesWords(layer wire.Node) bool {
	return layer.At("enum").Exists() && slices.ContainsFunc(layer.Marks(), func(mark *wire.Assumption) bool {
		_, isValue := mark.Value()
		return isValue || mark.Aspect == ""
	})
}

// described returns the type and the format that schemas give a value. A union is an object.
func described(layers []wire.Node) (kind, format string) {
	for _, layer := range layers {
		if kind == "" {
			kind = layer.At("type").Text()
		}
		if format == "" {
			format = layer.At("format").Text()
		}
	}
	return kind, format
}

// errorKinds returns the ways in which a service can differ from the catalogue about a refusal.
func errorKinds(m *Mark) []Kind {
	place := m.Where + "." + m.Aspect
	switch {
	case strings.Contains(place, ".moved"):
		return []Kind{CarriedOut}
	case strings.Contains(place, ".remedy"):
		return []Kind{OtherAdvice}
	case strings.Contains(place, ".condition"):
		return []Kind{OtherSlug}
	case strings.Contains(place, ".details."):
		return []Kind{Absent, AsObject}
	}
	return nil
}

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
