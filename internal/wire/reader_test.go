package wire

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// bodies are responses that the reader must read, or leave to the normalizer, exactly as the normalizer reads them.
func bodies() []string {
	whole := object(described())
	all := []string{
		whole, ` ` + whole + "\n", `null`, ` null `, ``, `{}`, `{ }`, `[]`, `"r_1"`, `{"id":"r_1"}`, `{"id":7}`,
		`{"id":"r_1"}}`,
		`{"id":"r_1","id":"r_1"}`, `{"id":"r_1","\u0069d":"r_1"}`, `{"\u0069d":"r_1"}`, `{"id":"r_1","x":1,"x":2}`,
		`{"id":"r_1","x":{"y":1,"y":2}}`, `{"id":"r_1","x":1,"part":{"x":1,"x":2}}`,
		`{"id":"r_1","x":1,"part":{"id":"p","x":1},"y":1}`, `{"id":"r_1","x":1,"\u0078":2}`,
		`{"id":"r_1","parts":[{"id":"p","x":1},{"id":"p","x":1}],"x":1}`, `{"id":"r_1","parts":[{"id":"p","id":"p"}]}`,
		`{"id":"\u0041\/\ud83d\ude00"}`, "{\"id\":\"\u0393\u03b5\u03b9\u03ac\"}", "{\"id\":\"r\xff\"}",
		`{"id":"\ud800"}`,
		`{"id":"r_1","part":{"id":null,"size":{}},"parts":[null,7,{"size":"7"}],"tags":[1,null,"\n"]}`,
		`{"items":null}`, `{"items":[]}`, `{"items":[{"id":"p_1","size":"7"},null,{"id":7}],"nextCursor":7}`,
		`{"data":[{"id":"p_1"}]}`, `[{"id":"p_1"},{"size":{}}]`, `[null]`, `[{"id":"p_1"}`,
	}
	for _, m := range resourceShape.Members {
		twice := fmt.Sprintf(`,%q:%s}`, m.Name, described()[m.Name])
		all = append(all, strings.TrimSuffix(whole, "}")+twice)
		for _, value := range []string{
			`null`, `true`, `false`, `tru`, `0`, `-0`, `00`, `7`, `-7`, `7.0`, `7.5`, `7e2`, `1e400`, `-`,
			`123456789012345678`,
			`9223372036854775807`, `-9223372036854775808`, `9223372036854775808`, `4294967296`, `""`, `" "`, `"x"`,
			`"7"`,
			`"1.50"`, `"-1.5"`, `"+1"`, `"007"`, `"1e5"`, `"."`, `"1."`, `"0x1"`, `"true"`, `"YQ"`, `"YQ=="`, `"_-8"`,
			`"YR=="`,
			`"YQ==\n"`, `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.000000001+02:00"`, `"2026-01-02T03:04Z"`,
			`"2026-01-02"`, `[]`, `[null]`, `[""]`, `["a",1,{}]`, `[[]]`, `{}`, `{"id":""}`, `{"id":"p","size":7}`,
			`{"kind":"part"}`, `{"kind":"part","id":null}`, `{"kind":"part","size":null}`,
			`{"kind":"part","id":"p","size":[]}`, `{"kind":"later"}`, `{"kind":7}`,
			`{"a":{"b":[1]}}`,
			`[{"id":"p"},{"id":7,"size":"7"},{"size":1.5},"x"]`,
		} {
			members := described()
			members[m.Name] = value
			all = append(all, object(members))
		}
	}
	return all
}

// sameAsTheBender reads a body in both ways.
func sameAsTheBender(t *testing.T, r *Reader, body []byte, shape *Shape, field func(any) any, value func() any) {
	t.Helper()
	read, normalized := value(), value()
	into := read
	if field != nil {
		into = field(read)
	}
	unread, ok := r.read(body, shape, into)
	if !ok {
		return // it is left to the normalizer
	}
	wantUnread, err := (&Response{Shape: shape}).decodeLeniently(body, normalized)
	require.NoError(t, err, "%s", body)
	require.Equal(t, wantUnread, unread, "%s", body)
	if read, ok := read.(*resource); ok { // the normalizer writes the JSON of a union anew
		normalized := normalized.(*resource)
		require.Equal(t, normalized.Choice.raw == nil, read.Choice.raw == nil, "%s", body)
		normalized.Choice.raw, read.Choice.raw = nil, nil
	}
	require.Equal(t, normalized, read, "%s", body)
}

func sameInEachForm(t *testing.T, r *Reader, body []byte) {
	t.Helper()
	sameAsTheBender(t, r, body, &resourceShape, nil, func() any { return new(resource) })
	sameAsTheBender(t, r, body, &listShape, nil, func() any { return new(list) })
	sameAsTheBender(t, r, body, &provenShape, nil, func() any { return new(proven) })
	sameAsTheBender(t, r, body, &Shape{Kind: KindList, Item: &partShape},
		func(value any) any { return List(value.(*[]part)) }, func() any { return new([]part) })
}

// proven is proven by an object, none of whose members must be there.
type proven struct{ Terms terms }

type terms struct {
	Account string
	Count   *int
	Part    part
}

var provenShape = complete(Shape{Kind: KindObject, Members: []Member{{Name: "terms", Proof: true, Type: Stated,
	Shape: &Shape{Kind: KindObject, Members: []Member{{Name: "account", Shape: &Text, Type: Assumed},
		{Name: "count", Shape: &Integer, Type: Assumed}, {Name: "part", Shape: &partShape, Type: Assumed}},
		Fields: func(object any, name []byte) (int, any) {
			v := object.(*terms)
			switch string(name) {
			case "account":
				return 0, &v.Account
			case "count":
				return 1, Optional(&v.Count)
			case "part":
				return 2, &v.Part
			}
			return -1, nil
		}}}}, Fields: func(object any, name []byte) (int, any) {
	if string(name) == "terms" {
		return 0, &object.(*proven).Terms
	}
	return -1, nil
}})

// A response whose proof says nothing that can be read is not the right one.
func TestEmptyProofIsRefused(t *testing.T) {
	for body, want := range map[string]string{
		`{"terms":{"account":"a"}}`: "", `{"terms":{"count":0}}`: "", `{"terms":{"account":7}}`: "",
		`{"terms":{"new":1}}`: "", `{"terms":{"account":null,"new":1}}`: "", `{"terms":{"part":{"size":[]}}}`: "",
		`{}`: "the response has no terms", `{"terms":null}`: "the response has no terms: it is null",
		`{"terms":{}}`:                        "the response has no terms: it is empty",
		`{"terms":{ } }`:                      "the response has no terms: it is empty",
		`{"terms":{"account":null}}`:          "the response has no terms: it is empty",
		`{"terms":{"account":{"a":1}}}`:       "the response has no terms: it is empty",
		`{"terms":{"account":[],"count":{}}}`: "the response has no terms: it is empty",
		`{"terms":[]}`:                        "the response has no terms: it is an array",
	} {
		_, err := read([]byte(body), new(proven), &provenShape)
		if want == "" {
			assert.NoError(t, err, body)
		} else {
			assert.EqualError(t, err, want, body)
		}
	}
}

func TestReaderMatchesTheNormalizer(t *testing.T) {
	var r Reader
	for _, body := range bodies() {
		sameInEachForm(t, &r, []byte(body))
	}
}

func FuzzReader(f *testing.F) {
	for _, body := range bodies() {
		f.Add([]byte(body))
	}
	var r Reader
	f.Fuzz(func(t *testing.T, body []byte) { sameInEachForm(t, &r, body) })
}

// The reader leaves to the normalizer only what cannot be read in one pass.
func TestValuesLeftToTheNormalizer(t *testing.T) {
	for body, reads := range map[string]bool{
		object(described()): true, `{"id":"r_1"}`: true, `{"id":"r_1","new":{"a":[1]}}`: true,
		`{"\u0069d":"r_1"}`: true,
		`{"id":"r_1","name":{},"count":"7","at":7,"parts":[7],"choice":[]}`:      true,
		`{"id":"r_1"` + unknownMembers(maxUnknown) + `}`:                         true,
		`{"id":"r_1","part":{"id":"p"` + unknownMembers(maxUnknown) + `},"a":1}`: true,
		`{"id":"r_1","a":1,"part":{"id":"p"` + unknownMembers(maxUnknown) + `}}`: true,
		`{"id":"r_1","parts":[{"size":7}]}`:                                      true,
		`{"id":"r_1","choice":{"kind":"part"}}`:                                  true,
		`{}`:                                                                     false, `{"id":""}`: false,
		`{"id":7}`: false, `[]`: false, `null`: false,
		`{"id":"r_1"}x`: false,
		`{"id":"r_1"` + unknownMembers(maxUnknown+1) + `}`:                         false,
		`{"id":"r_1","a":1,"part":{"id":"p"` + unknownMembers(maxUnknown+1) + `}}`: false,
		`{"id":"r_1","name":"a","name":"a"}`:                                       false,
	} {
		var r Reader
		_, read := r.read([]byte(body), &resourceShape, new(resource))
		assert.Equal(t, reads, read, body)
	}
}

// A union in its usual form is read in one pass, and only what it lacks is noted.
func TestUsualUnionsAreReadInOnePass(t *testing.T) {
	whole := complete(Shape{Kind: KindObject, Members: []Member{
		{Name: "kind", Shape: &Text, Type: Stated, Required: Stated},
		{Name: "id", Shape: &Text, Type: Stated, Required: Stated},
		{Name: "size", Shape: &Integer, Type: Stated, Required: Stated},
	}, Fields: fieldOfPart})
	union := &Shape{Kind: KindUnion, By: "kind", Selects: Stated, Variants: map[string]*Shape{"part": &whole},
		Kept: keptChoice}
	for body, lacks := range map[string][]moneymovement.Unread{
		`{"kind":"part","id":"p","size":1}`:          nil,
		`{"size":1,"new":[],"id":"p","kind":"part"}`: nil,
		`{"kind":"later","x":1}`:                     nil,
		`{"kind":"part","size":1}`:                   {{Pointer: "/id", Stated: true, Problem: "is missing"}},
		`{"kind":"part","id":"p"}`:                   {{Pointer: "/size", Stated: true, Problem: "is missing"}},
		`{"kind":"part","id":"p","size":null}`:       {{Pointer: "/size", Stated: true, Problem: "is null"}},
	} {
		var r Reader
		var got choice
		r.scan.Start([]byte(body))
		assert.True(t, r.union(union, &got), body)
		assert.True(t, r.scan.End(), body)
		assert.Equal(t, lacks, r.normalizer.unread, body)
		assert.JSONEq(t, body, string(got.raw))
	}
	for _, body := range []string{`{"id":"p"}`, `{"kind":7}`, `[]`, `{"kind":"part","id":7}`,
		`{"kind":"part","kind":"part"}`} {
		var r Reader
		r.scan.Start([]byte(body))
		assert.False(t, r.union(union, new(choice)), body)
	}
}

func unknownMembers(n int) string {
	var members strings.Builder
	for i := range n {
		fmt.Fprintf(&members, `,"m%d":null`, i)
	}
	return members.String()
}

// A reader keeps nothing of a response, neither in itself nor in what it has read.
func TestReaderKeepsNoReferences(t *testing.T) {
	var r Reader
	body := []byte(`{"id":"r_1","new":1,"tags":["a"],"choice":{"kind":"later"},"parts":[{"size":{}}],"open":{"a":"b"}}`)
	var got resource
	unread, err := (&Response{Shape: &resourceShape}).Decode(&r, body, &got)
	require.NoError(t, err)
	require.NotEmpty(t, unread)
	clear(body)
	assert.Equal(t, "r_1", got.ID)
	assert.Equal(t, []string{"a"}, got.Tags)
	assert.JSONEq(t, `{"kind":"later"}`, string(got.Choice.raw))
	assert.Equal(t, codec.Value(`"b"`), got.Open["a"])
	assert.Contains(t, fmt.Sprint(unread), "/parts/0/size")
	assert.Equal(t, Reader{}.scan, r.scan)
	assert.Empty(t, r.normalizer.unread)
	for _, name := range r.unknown[:cap(r.unknown)] {
		assert.Nil(t, name)
	}
}

// The size of the first entry says how many there may be. Only a page gets room for them.
func TestPageIsAllocatedAtOnce(t *testing.T) {
	entry := `{"id":"p_12345678","size":7}`
	entries := "[" + strings.TrimSuffix(strings.Repeat(entry+",", 100), ",") + "]"
	var page list
	_, err := read([]byte(`{"items":`+entries+`}`), &page, &listShape)
	require.NoError(t, err)
	assert.Len(t, page.Items, 100)
	assert.Less(t, cap(page.Items), 150)

	var inside resource
	_, err = read([]byte(`{"id":"r_1","parts":[`+entry+`],"comment":"`+strings.Repeat("x", 10_000)+`"}`), &inside,
		&resourceShape)
	require.NoError(t, err)
	assert.LessOrEqual(t, cap(inside.Parts), 4, "another list")

	var hostile list
	_, err = read([]byte(`{"items":[{},"`+strings.Repeat("x", 1<<20)+`"]}`), &hostile, &listShape)
	require.NoError(t, err)
	assert.LessOrEqual(t, cap(hostile.Items), 2*maxPrealloc)
}

// A default counts for a text that is absent, null or empty.
func TestATextHasItsDefault(t *testing.T) {
	shape := complete(Shape{Kind: KindObject, Members: []Member{{Name: "id", Shape: &Text, Type: Stated},
		{Name: "name", Shape: &Text, Type: Stated, Default: "nobody"}}, Fields: fieldOfResource})
	for body, want := range map[string]string{`{"id":"r"}`: "nobody", `{"name":null}`: "nobody",
		`{"name":""}`:    "nobody",
		`{"name":"Bob"}`: "Bob"} {
		var got resource
		unread, err := read([]byte(body), &got, &shape)
		require.NoError(t, err)
		assert.Empty(t, unread)
		assert.Equal(t, want, got.Name, body)
	}
}

// A word that the shape knows is not copied.
func TestKnownEnumValuesAreNotAllocated(t *testing.T) {
	words := Shape{Kind: KindText, Words: []string{"in", "out"}}
	shape := Shape{Kind: KindObject, Members: []Member{{Name: "id", Shape: &words, Type: Stated}}, Fields: fieldOfPart}
	response := Response{Shape: &shape}
	var r Reader
	var got part
	for word, allocations := range map[string]int{"in": 0, "out": 0, "on": 1} {
		body := []byte(`{"id":"` + word + `"}`)
		assert.Equal(t, allocations, int(testing.AllocsPerRun(100, func() {
			_, _ = response.Decode(&r, body, &got)
		})), word)
		assert.Equal(t, word, got.ID)
	}
}

// kinds has fields of defined types, and of types that decode themselves.
type kinds struct {
	Words  []kindWord         `json:"words"`
	Count  *int               `json:"count"`
	Others []choice           `json:"others"`
	Open   map[string]float64 `json:"open"`
}

type kindWord string

func TestFieldsOfOtherTypes(t *testing.T) {
	shape := Shape{Kind: KindObject, Members: []Member{
		{Name: "words", Shape: &Shape{Kind: KindList, Item: &Text}, Type: Stated},
		{Name: "count", Shape: &Integer, Type: Stated},
		{Name: "others", Shape: &Shape{Kind: KindList, Item: resourceShape.member("choice").Shape}, Type: Stated},
		{Name: "open", Shape: &Any, Type: Stated},
	}, Fields: func(object any, name []byte) (int, any) {
		v := object.(*kinds)
		fields := []any{Words(&v.Words), Optional(&v.Count), List(&v.Others), &v.Open}
		for i, member := range []string{"words", "count", "others", "open"} {
			if member == string(name) {
				return i, fields[i]
			}
		}
		return -1, nil
	}}
	for _, body := range []string{
		`{"words":["a","b"],"count":7,"others":[{"kind":"part","id":"p"}],"open":{"a":1}}`,
		`{"words":["a",7,{},null],"count":"7","others":[null,{"kind":"part","id":[]},7],"open":null}`,
		`{"words":null,"count":null,"others":null}`, `{"words":[],"count":{},"others":[],"open":{}}`, `{}`,
		`{"words":{},"count":1.5,"others":{},"open":{}}`,
	} {
		var got, want kinds
		var r Reader
		unread, ok := r.read([]byte(body), &shape, &got)
		require.True(t, ok, body)
		wantUnread, err := (&Response{Shape: &shape}).decodeLeniently([]byte(body), &want)
		require.NoError(t, err, body)
		assert.Equal(t, wantUnread, unread, body)
		for i := range got.Others {
			got.Others[i].raw, want.Others[i].raw = nil, nil
		}
		assert.Equal(t, want, got, body)
		assert.True(t, reflect.DeepEqual(want, got), body)
	}
}

// scalarOf reads a scalar in one pass. It returns false if the normalizer has to read it.
func scalarOf[T any](s *Shape, text string) (into T, read bool) {
	var r Reader
	r.scan.Start([]byte(text))
	read = r.scalar(s, &into)
	return into, read && r.scan.End()
}

// Scalars in their usual forms are read in one pass. The normalizer would read them too, but is slower.
func TestUsualScalarsAreReadInOnePass(t *testing.T) {
	words := &Shape{Kind: KindText, Words: []string{"created", "funded"}}
	for _, want := range []string{"", "created", "funded", "create", "fundedx", `a "quote"`, "é"} {
		quoted, err := codec.Marshal(want)
		assert.NoError(t, err)
		for _, shape := range []*Shape{&Text, words} {
			got, read := scalarOf[string](shape, string(quoted))
			assert.True(t, read, want)
			assert.Equal(t, want, got)
		}
	}
	for _, amount := range []string{"0", "12.50", "-3", "100", `"0"`, `"12.50"`, `"-3"`, `1e2`} {
		got, read := scalarOf[decimal.Decimal](&Amount, amount)
		assert.True(t, read, amount)
		want, err := ParseNumber(text(codec.Value(amount)))
		assert.NoError(t, err)
		assert.Equal(t, want, got, amount)
	}
	at, read := scalarOf[time.Time](&Time, `"2026-01-02T03:04:05.5Z"`)
	assert.True(t, read)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 500_000_000, time.UTC), at)
	for text, want := range map[string]bool{"true": true, "false": false} {
		got, read := scalarOf[bool](&Boolean, text)
		assert.True(t, read, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]int64{"0": 0, "7": 7, "-7": -7, "10": 10, "1234567890": 1234567890,
		"99": 99, "123456789012345678": 123456789012345678, "-999999999999999999": -999999999999999999} {
		long, read := scalarOf[int64](&Integer, text)
		assert.True(t, read, text)
		assert.Equal(t, want, long, text)
		short, read := scalarOf[int](&Integer, text)
		assert.Equal(t, want <= math.MaxInt && want >= math.MinInt, read, text)
		if read {
			assert.EqualValues(t, want, short, text)
		}
	}
	for text, want := range map[string][]byte{`""`: {}, `"YQ=="`: []byte("a"), `"YWJj"`: []byte("abc")} {
		got, read := scalarOf[[]byte](&Bytes, text)
		assert.True(t, read, text)
		assert.Equal(t, want, got, text)
	}
}

// Every other form is left to the normalizer, which knows what is meant.
func TestUnusualScalarsAreLeftToTheNormalizer(t *testing.T) {
	for _, text := range []string{"7", "true", "{}", "[]"} {
		_, read := scalarOf[string](&Text, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{"true", `"x"`, `""`, "{}", `"1 "`} {
		_, read := scalarOf[decimal.Decimal](&Amount, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{"7", `"x"`, `""`, "null"} {
		_, read := scalarOf[time.Time](&Time, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{`"7"`, "7.0", "7e2", "true", "null", "-", "1234567890123456789", "9223372036854775808"} {
		_, read := scalarOf[int64](&Integer, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{"1", `"true"`, "null", "{}"} {
		_, read := scalarOf[bool](&Boolean, text)
		assert.False(t, read, text)
	}
	for _, text := range []string{"1", `"YQ"`, `"YQ==\n"`, `"YW\nJj"`, `"_-8="`, `"x"`} {
		_, read := scalarOf[[]byte](&Bytes, text)
		assert.False(t, read, text)
	}
}

// FuzzResponse reads any bytes in each form. Complete values that the strict decoder reads are read in the same way.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(object(described())))
	f.Add([]byte(`{"items":[{"id":"p_1","size":"7"},null],"nextCursor":7}`))
	f.Add([]byte(`[{"id":1}]`))
	f.Add([]byte(`{"data":[[]],"\u0069d":"\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, strict resource
		unread, err := read(body, &got, &resourceShape)
		if codec.Unmarshal(body, &strict, decoding) == nil && err == nil && len(unread) == 0 && strict.ID != "" {
			strict.Choice.raw, got.Choice.raw = nil, nil
			if strict.Tags == nil && got.Tags != nil {
				strict.Tags = got.Tags // null for an empty list
			}
			if strict.Parts == nil && got.Parts != nil {
				strict.Parts = got.Parts
			}
			require.Equal(t, strict, got, "%s", body)
		}
		if err == nil {
			require.NoError(t, Valid(body))
			require.NotEmpty(t, got.ID)
		}
		_, _ = read(body, &list{}, &listShape)
		_, _ = read(body, &[]part{}, &Shape{Kind: KindList, Item: &partShape})
		_ = listShape.HasResource(body)
	})
}
