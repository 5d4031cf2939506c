package contrary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// Class says in which way a service can differ from an assumption. It decides which cases the assumption has.
type Class string

// The classes. A mark has one class, or one for each side of an exchange.
const (
	// ClassResponse is about the content of a response. The contrary host changes it.
	ClassResponse Class = "response"
	// ClassRequest is about the content of a request. The contrary host does not know it.
	ClassRequest Class = "request"
	// ClassOperation is about an operation: the contrary host does not have it.
	ClassOperation Class = "operation"
	// ClassConstraint is about a bound. The contrary host has a looser or a tighter one.
	ClassConstraint Class = "constraint"
	// ClassBehaviour is about what the service does, and not about the form of an exchange.
	ClassBehaviour Class = "behaviour"
)

// Classes are all classes, in the order of the table.
var Classes = []Class{ClassResponse, ClassRequest, ClassOperation, ClassConstraint, ClassBehaviour}

// Mark is an assumption with its places on the wire and its classes.
type Mark struct {
	*wire.Assumption
	Sites   []Site
	Classes []Class
}

// Is reports whether the mark has a class.
func (m *Mark) Is(c Class) bool { return slices.Contains(m.Classes, c) }

// Name is unique among all marks, such as "dapi.yaml Payout.status value ready".
func (m *Mark) Name() string { return strings.TrimSpace(m.File + " " + m.Where + " " + m.Aspect) }

// On returns the sites of one side.
func (m *Mark) On(side Side) []Site {
	return slices.DeleteFunc(slices.Clone(m.Sites), func(s Site) bool { return s.Side != side })
}

// classify sets the classes of a mark. It fails for a mark that fits no class: somebody must decide how a service can
// differ from it.
func classify(a *wire.Assumption, at []Site) (*Mark, error) {
	m := &Mark{Assumption: a, Sites: at}
	switch {
	case a.File == "errors.yaml", a.File == "coverage.yaml":
		m.Classes = []Class{ClassBehaviour}
		return m, nil
	case len(at) == 0:
		return nil, fmt.Errorf("%s: %s stands nowhere on the wire", a.Position(), m.Name())
	}
	for _, site := range at {
		class := classOf(m, site)
		switch {
		case class == "":
			return nil, fmt.Errorf("%s: %s fits no class: say in classOf what a service does that differs in its %s",
				a.Position(), m.Name(), a.What())
		case !m.Is(class):
			m.Classes = append(m.Classes, class)
		}
	}
	slices.SortFunc(m.Classes, func(a, b Class) int { return slices.Index(Classes, a) - slices.Index(Classes, b) })
	return m, nil
}

// classOf returns the class of a mark at one of its sites, or "".
func classOf(m *Mark, site Site) Class {
	ofOperation := site.Side == ""
	if _, is := m.Value(); is {
		return bySide(site, ClassResponse, ClassRequest)
	}
	switch m.Aspect {
	case "":
		if ofOperation {
			return ClassOperation
		}
		return bySide(site, ClassResponse, ClassRequest)
	case "servers":
		return ClassOperation
	case "type", "items", "fieldTypes", "fieldNames", "discriminator":
		return bySide(site, ClassResponse, ClassRequest)
	case "required", "nullable":
		return bySide(site, ClassResponse, ClassConstraint)
	case "status", "answer", "resource", "mediaType":
		return ClassResponse
	case "body", "query", "values":
		return ClassRequest
	case "pattern", "format", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "positive",
		"x-decimals", "x-id-prefix":
		return ClassConstraint
	case "unit", "purpose", "meaning", "order", "default", "idempotency", "x-slugs", "x-scope":
		return ClassBehaviour
	}
	return ""
}

func bySide(site Site, response, request Class) Class {
	switch site.Side {
	case Response:
		return response
	case Request:
		return request
	}
	return ""
}

// Derive classifies every mark, in the order of the files. The error names the marks that fit no class. The other marks
// are returned in any case.
func Derive(description *wire.Description) ([]*Mark, error) {
	at := sites(description)
	var marks []*Mark
	var unfit []string
	for _, a := range description.Assumptions {
		m, err := classify(a, at[a])
		if err != nil {
			unfit = append(unfit, err.Error())
			continue
		}
		marks = append(marks, m)
	}
	if len(unfit) > 0 {
		return marks, fmt.Errorf("marks in no class:\n%s", strings.Join(unfit, "\n"))
	}
	return marks, nil
}

// Exception is an assumption that every program depends on.
type Exception struct {
	Where  []string // the marks: file, place and aspect, as in Mark.Name
	Kinds  []Kind   // how the service differs; empty for all kinds
	Reason string
}

// Exceptions are those of class response. They do not include the proof of a write (x-proof): it is required even if it
// is only assumed.
var Exceptions = []Exception{
	{
		Where: []string{"dapi.yaml Approval", "dapi.yaml Approval.payload", "dapi.yaml Payout.approval",
			"dapi.yaml EscrowAction.approval"},
		Kinds:  []Kind{Absent, Null, AsText, AsNumber, AsBoolean, AsObject, AsList, Unreadable},
		Reason: "the bytes that are signed: without them nothing is approved, and no money moves",
	},
	{
		Where:  []string{"dapi.yaml Approval.id"},
		Kinds:  []Kind{Absent, Null, AsNumber, AsBoolean, AsObject, AsList},
		Reason: "names the signed approval: a confirm without it, or of another approval, funds nothing",
	},
}

// ExceptionOf returns the exception for a case, if there is one.
func ExceptionOf(c Case) (reason string, is bool) {
	for _, e := range Exceptions {
		if slices.Contains(e.Where, c.Mark.Name()) && (len(e.Kinds) == 0 || slices.Contains(e.Kinds, c.Kind)) {
			return e.Reason, true
		}
	}
	return "", false
}

// Side is request or response.
type Side string

// The sides.
const (
	Response Side = "response"
	Request  Side = "request"
)

// Each is the step of a site's path that stands for every entry of a list.
const Each = "*"

// Site is a place on the wire that a mark is about.
type Site struct {
	Operation *wire.Operation
	Side      Side
	Status    string // of the described response: 200, default
	In        string // body, header, query or path; "" for the operation or the response as a whole
	// path from the root of the body, with Each for the entries of lists, or the name of the parameter or header
	Path   []string
	Layers []wire.Node // the schemas of the value
	// Variants are the words that select the variants of unions on the way, by the length of the path to the union.
	Variants map[int][]string
	Required bool // the object around it requires it
	Proof    bool // it shows that a write was carried out
	Stated   bool // the description states the member, and perhaps not this aspect of it
}

// Name returns the last step of the path.
func (s Site) Name() string {
	if len(s.Path) == 0 {
		return ""
	}
	return s.Path[len(s.Path)-1]
}

// Success reports a site in a successful response.
func (s Site) Success() bool { return s.Side == Response && strings.HasPrefix(s.Status, "2") }

// sites finds the places of every mark.
func sites(description *wire.Description) map[*wire.Assumption][]Site {
	f := &finder{found: map[*wire.Assumption][]Site{}}
	for _, o := range description.Operations {
		f.operation(o)
	}
	return f.found
}

type finder struct {
	found map[*wire.Assumption][]Site
}

func (f *finder) note(node wire.Node, site Site) {
	for _, mark := range node.Marks() {
		f.found[mark] = append(f.found[mark], site)
	}
}

func (f *finder) operation(o *wire.Operation) {
	f.note(o.Root, Site{Operation: o})
	f.note(o.Node, Site{Operation: o})
	for _, parameter := range o.Parameters() {
		f.parameter(Site{Operation: o, Side: Request, In: parameter.At("in").Text(), Required: parameter.At("required").
			True()}, parameter)
	}
	if body := o.Body(); body.Exists() {
		f.value(Site{Operation: o, Side: Request, In: "body", Required: true}, body)
	}
	for status, response := range o.Node.At("responses").Members() {
		f.response(Site{Operation: o, Side: Response, Status: status}, response)
	}
}

func (f *finder) parameter(site Site, parameter wire.Node) {
	site.Path = []string{parameter.At("name").Text()}
	site.Layers = slices.Concat(parameter.Layers(), parameter.At("schema").Layers())
	for _, layer := range site.Layers {
		f.note(layer, site)
	}
}

func (f *finder) response(site Site, response wire.Node) {
	for _, layer := range response.Layers() {
		f.note(layer, site)
	}
	described := response.Target()
	for name, header := range described.At("headers").Members() {
		at := site
		at.In, at.Path, at.Layers = "header", []string{name}, slices.Concat(header.Layers(),
			header.Target().At("schema").Layers())
		for _, layer := range at.Layers {
			f.note(layer, at)
		}
	}
	if schema := described.At("content", "application/json", "schema"); schema.Exists() {
		site.In, site.Required = "body", true
		f.value(site, schema)
	}
}

// value goes through a schema and everything below it.
func (f *finder) value(site Site, schema wire.Node) {
	site.Layers = schema.Layers()
	site.Proof = proves(site.Layers)
	site.Stated = !slices.ContainsFunc(schema.Marks(), func(mark *wire.Assumption) bool { return mark.Aspect == "" })
	f.below(site)
}

// below notes a value's marks, and goes through the parts of the value.
func (f *finder) below(site Site) {
	for _, layer := range site.Layers {
		f.note(layer, site)
	}
	for _, layer := range site.Layers {
		for name, property := range layer.At("properties").Members() {
			at := site.step(name)
			at.Required = wire.Required(site.Layers, name)
			f.value(at, property)
		}
		if items := layer.At("items"); items.Exists() {
			at := site.step(Each)
			at.Required = true
			f.value(at, items)
		}
		for _, variant := range layer.At("oneOf").Entries() {
			at := site
			at.Variants = map[int][]string{len(site.Path): words(layer, variant)}
			for depth, selecting := range site.Variants {
				at.Variants[depth] = selecting
			}
			at.Layers = variant.Layers()
			f.below(at)
		}
	}
}

func (s Site) step(name string) Site {
	s.Path = append(s.Path[:len(s.Path):len(s.Path)], name)
	return s
}

// words returns the values of the discriminator that select a variant.
func words(union, variant wire.Node) (selecting []string) {
	for name, reference := range union.At("discriminator", "mapping").Members() {
		if reference.Text() == variant.At("$ref").Text() {
			selecting = append(selecting, name)
		}
	}
	return selecting
}
