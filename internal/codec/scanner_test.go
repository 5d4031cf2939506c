package codec_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// texts are valid and invalid texts of every form.
func texts() []string {
	manyMembers := func(more string) string {
		var text strings.Builder
		for i := range 20 {
			text.WriteString(`"m` + strconv.Itoa(i) + `":[],`)
		}
		return "{" + text.String() + more + "}"
	}
	return []string{
		``, ` `, `null`, ` true `, `false`, `nul`, `nullx`, `null null`, `x`, "\x00", "null\x00", `tru`, `fals`, `True`,
		`0`, `-0`, `00`, `01`, `-`, `-01`, `1.`, `1.5`, `.5`, `1e5`, `1E+5`, `1e-5`, `1e`, `1e+`, `+1`, `0x1`, `-a`,
		`123456789012345678901234567890`, `1_000`, `0e0`, `0.e1`, `1.5x`,
		`""`, `"a"`, `"a`, `"`, `"\"`, `"\`, `"\n\"\\\/\b\f\r\t"`, `"\x"`, `"\u00e9"`, `"\u00E9"`, `"\u00g9"`, `"\u00`,
		`"\u+0e9"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\ud83d"`,
		`"\ud83d\ude"`, `"\u0000"`, "\"a\nb\"", "\"a\x7fb\"", "\"\xc3\xa9\"", "\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"",
		"\"\xef\xbf\xbd\"", "\"\\n\xff\"", "\xef\xbb\xbfnull", `'a'`,
		`[]`, `[ ]`, `[1]`, "[ 1 ,\t2\r\n]", `[1,]`, `[,1]`, `[,]`, `[1 2]`, `[`, `[1`, `[1,`, `]`, `[}`, `[1]]`, `[[],[[]]]`,
		`{}`, `{ }`, `{"a":1}`, ` { "a" : 1 , "b" : [ ] } `, `{"a":1,}`, `{,"a":1}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{"a"`,
		`{"a":1`, `{"a":1 "b":2}`, `{a:1}`, `{1:1}`, `{null:1}`, `{"a":1}}`, `{]`, `{"a":{"a":{"a":1}}}`, `{"":1}`,
		`{ "a" : 1 , "a" : 2 }`, `{ "a" : 1 , "b" : 2 , "ab" : 3 }`, `{"a":1 ,"b":2}`, `{"a":1, "b":2}`,
		`{"a":1,"b" :2}`, `{"a":1,"b": 2}`, `{"a":1,,"b":2}`, `{"a":1,"b"}`, `{"a":1,"b":}`, `{"a":1,"b":2`, `{"a":1,"b"x2}`, `{"a"x1}`,
		`{"a":`, `{"a",1}`, "{\"a\":\n1}", `{"a":1,"b\u0062":2,"bb":3}`, `{"é":1,"é":2}`, `{"a":1,`,
		`{a":1}`, `{"b":1, a":1}`, `{"a":1"b":2}`, "{\"a\x01:1}", `{"a":1,"`, `{"`,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"\u0061":1,"a":2}`, `{"a":1,"A":2}`, `{"a":{"b":1,"b":2}}`,
		`[{"a":1},{"a":1}]`, `[{"a":1,"b":2,"a":3}]`, "{\"\xff\":1}", `{"\ud800":1}`, `{"":1,"":2}`,
		manyMembers(`"m20":0`), manyMembers(`"m0":0`), manyMembers(`"m19":0`), manyMembers(`"\u006d8":0`),
		manyMembers(`"m20":0,"m20":0`),
	}
}

// tree reads a value with the scanner: objects as maps, strings as texts, and everything else as its part of the text.
func tree(s *codec.Scanner) any {
	switch s.Kind() {
	case codec.KindBeginObject:
		object := map[string]any{}
		for members := s.Object(); s.Member(&members); {
			object[string(members.Name)] = tree(s)
		}
		return object
	case codec.KindBeginArray:
		array := []any{}
		for entries := s.Array(); s.Entry(&entries); {
			array = append(array, tree(s))
		}
		return array
	case codec.KindString:
		return s.Text()
	default:
		return codec.Value(s.Raw())
	}
}

// treeByJSONv2 reads the same with JSON v2.
func treeByJSONv2(t *testing.T, text codec.Value) any {
	t.Helper()
	switch text.Kind() {
	case codec.KindBeginObject:
		var members map[string]codec.Value
		require.NoError(t, codec.Unmarshal(text, &members))
		object := map[string]any{}
		for name, value := range members {
			object[name] = treeByJSONv2(t, value)
		}
		return object
	case codec.KindBeginArray:
		var entries []codec.Value
		require.NoError(t, codec.Unmarshal(text, &entries))
		array := []any{}
		for _, value := range entries {
			array = append(array, treeByJSONv2(t, value))
		}
		return array
	case codec.KindString:
		var read string
		require.NoError(t, codec.Unmarshal(text, &read))
		return read
	default:
		return text
	}
}

// same checks that the scanner accepts what JSON v2 accepts, and reads the same from it.
func same(t *testing.T, text []byte) {
	t.Helper()
	text = text[:len(text):len(text)] // whoever reads behind it panics
	var want codec.Value
	err := codec.Unmarshal(text, &want)

	skipping := codec.Over(text)
	skipping.Skip()
	if err == nil {
		require.Empty(t, bytes.Trim(text[skipping.At():], " \t\r\n"), "%.200q", text)
	} else if value := codec.Over(text); value.Raw() == nil {
		require.Zero(t, skipping.Left(), "after a mistake the scanner is at the end: %.200q", text)
		require.Equal(t, codec.KindInvalid, skipping.Kind(), "%.200q", text)
	}
	require.Equal(t, err == nil, skipping.End(), "%.200q: JSON v2 says %v", text, err)

	reading := codec.Over(text)
	got := tree(&reading)
	require.Equal(t, err == nil, reading.End(), "%.200q: JSON v2 says %v", text, err)
	if err == nil {
		require.Equal(t, treeByJSONv2(t, want), got, "%.200q", text)
		sharing := codec.Over(bytes.Clone(text))
		sharing.Share()
		require.Equal(t, got, tree(&sharing), "%.200q", text)
		raw := codec.Over(text)
		require.Equal(t, want, codec.Value(raw.Raw()), "%.200q", text)
	}
}

func TestScannerMatchesJSONv2(t *testing.T) {
	for _, text := range texts() {
		same(t, []byte(text))
		same(t, []byte(`{"in":[`+text+`]}`))
	}
}

func FuzzSameAsJSONv2(f *testing.F) {
	for _, text := range texts() {
		f.Add([]byte(text))
	}
	f.Fuzz(same)
}

func TestDepthEndsWhereItEndsForJSONv2(t *testing.T) {
	nested := func(depth int) []byte { return []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)) }
	for depth, valid := range map[int]bool{10000: true, 10001: false} {
		s := codec.Over(nested(depth))
		s.Skip()
		assert.Equal(t, valid, s.End(), depth)
		assert.Equal(t, valid, codec.Value(nested(depth)).IsValid(), depth)
	}
	wide := codec.Over([]byte("[" + strings.Repeat("[],", 20000) + "[]]"))
	wide.Skip()
	assert.True(t, wide.End(), "arrays beside each other are not nested")
}

// A value reads as nothing if it is of another kind, and what follows is still read.
func TestValueOfAnotherKindReadsAsZero(t *testing.T) {
	for _, value := range []string{`null`, `true`, `1.5`, `"text"`, `[1,{"a":2}]`, `{"a":[1]}`} {
		s := codec.Over([]byte(`[` + value + `,` + value + `,` + value + `,` + value + `,"end"]`))
		for entry, entries := 0, s.Array(); s.Entry(&entries); entry++ {
			switch entry {
			case 0:
				text := s.Text()
				assert.Equal(t, value == `"text"`, text == "text", value)
			case 1:
				count := 0
				for inner := s.Array(); s.Entry(&inner); {
					count++
				}
				assert.Equal(t, value[0] == '[', count == 2, value)
			case 2:
				count := 0
				for inner := s.Object(); s.Member(&inner); {
					count++
				}
				assert.Equal(t, value[0] == '{', count == 1, value)
			case 4:
				assert.Equal(t, "end", s.Text(), value)
			}
		}
		assert.True(t, s.End(), value)
	}
}

// The same holds for a text that is this value alone.
func TestDocumentOfAnotherKindReadsAsZero(t *testing.T) {
	for _, value := range []string{`null`, `7`, `"text"`, `[1]`, `{"a":1}`} {
		for _, read := range []func(*codec.Scanner){
			func(s *codec.Scanner) {
				for entries := s.Array(); s.Entry(&entries); {
					s.Skip()
				}
			},
			func(s *codec.Scanner) {
				for members := s.Object(); s.Member(&members); {
					s.Skip()
				}
			},
			func(s *codec.Scanner) { s.Text() },
			func(s *codec.Scanner) { s.Bytes() },
		} {
			s := codec.Over([]byte(value))
			read(&s)
			assert.True(t, s.End(), value)
		}
	}
}

func TestReadingAllocatesOnlyTheTextsThatItReturns(t *testing.T) {
	text := []byte(`{"error":{"code":"not_found","details":{"a":[1,2,"é",null],"b":{"c":true}},"message":"none"},"more":1}`)
	var code string
	allocations := testing.AllocsPerRun(100, func() {
		s := codec.Over(text)
		for members := s.Object(); s.Member(&members); {
			if string(members.Name) != "error" {
				continue
			}
			for inner := s.Object(); s.Member(&inner); {
				if string(inner.Name) == "code" {
					code = s.Text()
				}
			}
		}
		if !s.End() {
			code = ""
		}
	})
	assert.Equal(t, "not_found", code)
	assert.LessOrEqual(t, allocations, 1.0)
}

func TestSharedTextsAreOneAllocationAndNoPartOfTheInput(t *testing.T) {
	text := []byte(`["first text",["second text",""],{"a":"\u0074hird text"},"fourth text"]`)
	var got []string
	read := func() {
		got = got[:0]
		s := codec.Over(text)
		for entries := s.Array(); s.Entry(&entries); {
			if len(got) == 1 {
				s.Share()
			}
			switch s.Kind() {
			case codec.KindBeginArray:
				for inner := s.Array(); s.Entry(&inner); {
					got = append(got, s.Text())
				}
			case codec.KindBeginObject:
				for members := s.Object(); s.Member(&members); {
					got = append(got, s.Text())
				}
			default:
				got = append(got, s.Text())
			}
		}
	}
	read()
	assert.LessOrEqual(t, testing.AllocsPerRun(100, read), 4.0, "the first, the copy, and the escaped one twice")
	clear(text)
	assert.Equal(t, []string{"first text", "second text", "", "third text", "fourth text"}, got)
}

// Eight characters are looked at together. Each place in them is tried with each kind of character.
func TestEveryCharacterOfAStringIsScanned(t *testing.T) {
	for _, special := range []string{
		`"`, `\`, `\n`, `\x`, `\u00e9`, "\x00", "\x1f", " ", "!", "#", "[", "]", "\x7f", "\x80", "\xff", "é", "\xc3", "😀",
	} {
		for before := range 18 {
			for after := range 18 {
				same(t, []byte(`"`+strings.Repeat("a", before)+special+strings.Repeat("~", after)+`"`))
			}
		}
	}
}

func TestBytesAreAPartOfTheText(t *testing.T) {
	text := []byte(`["plain","\u0065scaped",7]`)
	var got []string
	allocations := testing.AllocsPerRun(1, func() {
		got = got[:0]
		s := codec.Over(text)
		for entries := s.Array(); s.Entry(&entries); {
			got = append(got, string(s.Bytes()))
		}
	})
	assert.Equal(t, []string{"plain", "escaped", ""}, got)
	assert.Less(t, allocations, 8.0)
}

// A caller that does not look at End still gets nothing of a value that is not valid.
func TestInvalidJSONReadsAsNothing(t *testing.T) {
	for _, text := range []string{`"a`, `"\x"`, "\"\x01\"", "\"\xff\"", `"\ud800"`, `tru`, `nul`, `-`, `[1`, `{"a":1,"a":2}`, `x`, ``} {
		for name, read := range map[string]func(*codec.Scanner) bool{
			"Raw":      func(s *codec.Scanner) bool { return s.Raw() == nil },
			"Bytes":    func(s *codec.Scanner) bool { return len(s.Bytes()) == 0 },
			"Text":     func(s *codec.Scanner) bool { return s.Text() == "" },
			"TryBytes": func(s *codec.Scanner) bool { _, ok := s.TryBytes(); return !ok },
		} {
			s := codec.Over([]byte(text))
			assert.True(t, read(&s), "%s of %q", name, text)
			if name != "TryBytes" || text[:min(len(text), 1)] == `"` {
				assert.Zero(t, s.Left(), "%s of %q", name, text)
			}
		}
	}
}

// A scanner that is used again reads the next text, and nothing of the one before.
func TestScannerCanBeReused(t *testing.T) {
	var s codec.Scanner
	for _, text := range []string{`["\u0061",1]`, `"\u0062"`, `{"a"`, `[[["\u0063"]]]`, ``, `"d"`} {
		s.Start([]byte(text))
		fresh := codec.Over([]byte(text))
		assert.Equal(t, tree(&fresh), tree(&s), text)
		assert.Equal(t, fresh.End(), s.End(), text)
	}
	long := []byte(`"\n` + strings.Repeat("a", 64<<10) + `"`)
	s.Start(long)
	assert.Len(t, s.Text(), 64<<10+1)
	s.Start([]byte(`"\n"`))
	assert.Equal(t, "\n", s.Text())
}

// What an array or an object has, is not read twice.
func TestEndedArrayHasNoFurtherEntries(t *testing.T) {
	s := codec.Over([]byte(`[[1],2]`))
	outer := s.Array()
	assert.True(t, s.Entry(&outer))
	inner := s.Array()
	assert.True(t, s.Entry(&inner))
	assert.False(t, s.Entry(&inner))
	assert.False(t, s.Entry(&inner), "it has ended, and the next comma is not its own")
	assert.True(t, s.Entry(&outer))
	assert.Equal(t, "2", string(s.Raw()))
	assert.False(t, s.Entry(&outer))
	assert.True(t, s.End())
}

// Texts behind Share are parts of one copy, except those with escapes.
func TestSharedTextsAreTheSameAsOthers(t *testing.T) {
	const text = `["before","a","","b\u00e9","` + "é" + `",["longer than the rest of it"]]`
	s := codec.Over([]byte(text))
	var got []string
	var read func()
	read = func() {
		if s.Kind() != codec.KindBeginArray {
			got = append(got, s.Text())
			return
		}
		for entries := s.Array(); s.Entry(&entries); {
			read()
			if len(got) == 1 {
				s.Share()
			}
		}
	}
	read()
	assert.Equal(t, []string{"before", "a", "", "bé", "é", "longer than the rest of it"}, got)
	assert.True(t, s.End())
}

// skipUnchecked reads a value as Skip does, but checks the names of objects by itself.
func skipUnchecked(s *codec.Scanner) {
	if s.Kind(); !s.Begins('{') {
		s.Skip()
		return
	}
	names := map[string]bool{}
	for members := s.Unchecked(); s.Next(&members); {
		if names[string(members.Name)] {
			s.Fail()
		}
		names[string(members.Name)] = true
		skipUnchecked(s)
	}
}

// Only the check of names is left to the program.
func TestAnUncheckedObjectIsReadAsAnyOther(t *testing.T) {
	for _, text := range texts() {
		for _, text := range []string{text, `{"in":` + text + `}`} {
			usual, plain := codec.Over([]byte(text)), codec.Over([]byte(text))
			usual.Skip()
			skipUnchecked(&plain)
			require.Equal(t, usual.End(), plain.End(), text)
		}
	}
	twice := codec.Over([]byte(`{"a":1,"a":2}`))
	members := twice.Unchecked()
	assert.True(t, twice.Next(&members))
	assert.True(t, twice.Next(&members))
	assert.False(t, twice.Next(&members))
	assert.True(t, twice.End(), "the program would have to notice")
}

func TestScannerCanGoBackToAValue(t *testing.T) {
	s := codec.Over([]byte(` {"a" : [1, 2] , "b":"\u0041"}`))
	members := s.Unchecked()
	require.True(t, s.Next(&members))
	at := s.At()
	assert.True(t, s.Begins('['))
	_, isText := s.TryBytes()
	assert.False(t, isText)
	assert.Equal(t, `[1, 2]`, string(s.Raw()))
	s.Back(at)
	assert.Equal(t, `[1, 2]`, string(s.Raw()))
	require.True(t, s.Next(&members))
	text, isText := s.TryBytes()
	assert.True(t, isText)
	assert.Equal(t, "A", string(text))
	assert.Equal(t, 1, s.Left())
	require.False(t, s.Next(&members))
	assert.True(t, s.End())
}

func TestATextIsReadOrLeft(t *testing.T) {
	for _, text := range []string{`["plain","","é","a\"b",7]`, ` [ "plain" , "" , "é" , "a\"b" , 7 ] `,
		`{"a":"plain","b":"","c":"é","d":"a\"b","e":7}`, `{"a": "plain", "b": "", "c" : "é","d": "a\"b","e": 7}`} {
		s := codec.Over([]byte(text))
		next := func() func() bool {
			if s.Kind(); s.Begins('[') {
				entries := s.Array()
				return func() bool { return s.Entry(&entries) }
			}
			members := s.Unchecked()
			return func() bool { return s.Next(&members) }
		}()
		var got []string
		for next() {
			at := s.At()
			read, isText := s.TryBytes()
			if !isText {
				assert.Equal(t, at, s.At(), "it is not read")
				continue
			}
			got = append(got, string(read))
		}
		assert.Equal(t, []string{"plain", "", "é", `a"b`}, got, text)
		assert.True(t, s.End(), text)
	}
	alone := codec.Over([]byte(`"plain"`))
	_, isText := alone.TryBytes()
	assert.True(t, isText)
	assert.True(t, alone.End())
}

// After a failure, nothing brings the scanner back.
func TestAFailureIsFinal(t *testing.T) {
	s := codec.Over([]byte(`{"a":1}`))
	at := s.At()
	assert.False(t, s.Fail())
	s.Back(at)
	s.Skip()
	assert.False(t, s.End())
	_, isText := s.TryBytes()
	assert.False(t, isText)
}

// names reads the names of an object, which must be kept until the end.
func names(text string) (all []string) {
	s := codec.Over([]byte(text))
	var kept [][]byte
	for members := s.Unchecked(); s.Next(&members); {
		kept = append(kept, members.Kept())
		s.Skip()
	}
	for _, name := range kept {
		all = append(all, string(name))
	}
	return all
}

func TestNamesOfAnObject(t *testing.T) {
	for text, want := range map[string][]string{
		`{"a":1,"bc":2,"":3}`:                      {"a", "bc", ""},
		` { "a" : 1 , "bc" : 2 } `:                 {"a", "bc"},
		`{"\u0061a":1,"\u0062":2,"d":3}`:           {"aa", "b", "d"},
		`{"a":{"x":1},"b":[{"y":1}],"c":"\u0041"}`: {"a", "b", "c"},
		`{"a":1,"b"}`:                              {"a"},
		`{"a":1,b:2}`:                              {"a"},
		`{"a":1;"b":2}`:                            {"a"},
		`["a",1]`:                                  nil,
		`{}`:                                       nil,
		`{"":{}}`:                                  {""},
	} {
		assert.Equal(t, want, names(text), text)
	}
}

// A value that was not read is skipped.
func TestAMemberThatIsNotReadIsSkipped(t *testing.T) {
	s := codec.Over([]byte(`{"a":{"x":[1,2]},"b":"t", "c" : null,"d":4}`))
	var all []string
	members := s.Unchecked()
	for s.Next(&members) {
		all = append(all, string(members.Name))
	}
	assert.Equal(t, []string{"a", "b", "c", "d"}, all)
	assert.False(t, s.Next(&members), "it has ended")
	assert.True(t, s.End())
}
