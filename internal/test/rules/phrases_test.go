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
	{words(`is none`), `"is empty", "is not set", "returns false for"`, []string{"there is none"}},
	{words(`so is nothing`), `say what happens without a value`, nil},
	{words(`(what|as|than) (it|they|he) (is|are) to be`), `"what it must be"`, nil},
	{words(`(is|are) to be`), `"must be"`, nil},
	{words(`whatever becomes of`), `"whether or not it succeeds"`, nil},
	{words(`as if (it|they)? ?(was|were)? ?not given`), `refuse it with an error, or say "is ignored"`, nil},
	{words(`makes? no sense`), `"is invalid"`, nil},
	{words(`(is|are) told`), `"receives", "gets", "learns"`, nil},
	{words(`tells`), `"reports", "says"`, []string{"tells apart"}},
	{words(`com(e|es|ing) back as`), `"the call fails with", "is returned as"`, nil},
	{words(`what needs one`), `say what needs it: "if you have to decide something"`, nil},
	{words(`no error envelope`), `"a body that is not the service's JSON error"`, nil},
	{words(`lest`), `"so as not to", or two sentences`, nil},
	{words(`thereof`), `"of it"`, nil},
	{words(`such as (it is|they are)`), `leave it out`, nil},
	{words(`that which`), `"what", or name it`, nil},
	{words(`(of|for) (the|a) (caller|program|user|reader)'s own`), `"your own"`, nil},
	{words(`answer(s|ed) (the|a|an|its|their|whether|with|for|nil|true|false)`),
		`"returns"; of the service "responds with"`, nil},
	{start(`One that`), `name the subject`, nil},
	{start(`What is`), `name the subject`, nil},
	{start(`Of (a|an|the) \w+[.,;]`), `a whole sentence, or leave it out`, nil},
	{start(`(That|This) goes for`), `"the same holds for", or name the subject`, nil},
}

// words finds an expression of whole words.
func words(expression string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b` + expression + `\b`) }

// start finds an expression at the beginning of a sentence.
func start(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[.!?] )` + expression)
}
