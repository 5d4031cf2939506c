package contrary

import (
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// Side is request or response.
type Side string

// The sides.
const (
	Answer  Side = "answer"
	Request Side = "request"
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
func (s Site) Success() bool { return s.Side == Answer && strings.HasPrefix(s.Status, "2") }

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
	for status, answer := range o.Node.At("responses").Members() {
		f.answer(Site{Operation: o, Side: Answer, Status: status}, answer)
	}
}

func (f *finder) parameter(site Site, parameter wire.Node) {
	site.Path = []string{parameter.At("name").Text()}
	site.Layers = slices.Concat(parameter.Layers(), parameter.At("schema").Layers())
	for _, layer := range site.Layers {
		f.note(layer, site)
	}
}

func (f *finder) answer(site Site, answer wire.Node) {
	for _, layer := range answer.Layers() {
		f.note(layer, site)
	}
	described := answer.Target()
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
