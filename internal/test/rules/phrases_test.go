package rules_test

import "regexp"

// phrase is an expression that a reader whose second language is English has to read twice, and better words for it.
type phrase struct {
	find   *regexp.Regexp
	better string
	allow  []string // what contains the phrase and is plain all the same
}

// phrases are looked for in Markdown, in comments and in texts of code, wherever a line ends.
var phrases = []phrase{
	{whole(`is none`), `"is empty", "is not set", "returns false for"`, []string{"there is none"}},
	{whole(`so is nothing`), `say what happens without a value`, nil},
	{whole(`(what|as|than) (it|they|he) (is|are) to be`), `"what it must be"`, nil},
	{whole(`(is|are) to be`), `"must be"`, nil},
	{whole(`whatever becomes of`), `"whether or not it succeeds"`, nil},
	{whole(`as if (it|they)? ?(was|were)? ?not given`), `refuse it with an error, or say "is ignored"`, nil},
	{whole(`makes? no sense`), `"is invalid"`, nil},
	{whole(`(is|are) told`), `"receives", "gets", "learns"`, nil},
	{whole(`tells`), `"reports", "says"`, []string{"tells apart"}},
	{whole(`com(e|es|ing) back as`), `"the call fails with", "is returned as"`, nil},
	{whole(`what needs one`), `say what needs it: "if you have to decide something"`, nil},
	{whole(`no error envelope`), `"a body that is not the service's JSON error"`, nil},
	{whole(`lest`), `"so as not to", or two sentences`, nil},
	{whole(`thereof`), `"of it"`, nil},
	{whole(`such as (it is|they are)`), `leave it out`, nil},
	{whole(`that which`), `"what", or name it`, nil},
	{whole(`(of|for) (the|a) (caller|program|user|reader)'s own`), `"your own"`, nil},
	{whole(`answer(s|ed) (the|a|an|its|their|whether|with|for|nil|true|false)`),
		`"returns"; of the service "responds with"`, nil},
	{start(`One that`), `name the subject`, nil},
	{start(`What is`), `name the subject`, nil},
	{start(`Of (a|an|the) \w+[.,;]`), `a whole sentence, or leave it out`, nil},
	{start(`(That|This) goes for`), `"the same holds for", or name the subject`, nil},
	{start(`Source:`), `leave it to stated.yaml and openapi/: users do not have it`, nil},
	{start(`[a-z]+[A-Z]\w*: `), `"is" instead of the colon`, []string{"payoutmethodsdisabled: "}},
	{regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`), `finish it, or write down the decision`, nil},
}

// whole finds an expression of whole words.
func whole(expression string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b` + expression + `\b`) }

// start finds an expression at the beginning of a sentence.
func start(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[.!?] )` + expression)
}
