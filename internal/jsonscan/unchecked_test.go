package jsonscan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/jsonscan"
)

// skipUnchecked reads a value as Skip does, but checks the names of objects by itself.
func skipUnchecked(s *jsonscan.Scanner) {
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
			usual, plain := jsonscan.Over([]byte(text)), jsonscan.Over([]byte(text))
			usual.Skip()
			skipUnchecked(&plain)
			require.Equal(t, usual.End(), plain.End(), text)
		}
	}
	twice := jsonscan.Over([]byte(`{"a":1,"a":2}`))
	members := twice.Unchecked()
	assert.True(t, twice.Next(&members))
	assert.True(t, twice.Next(&members))
	assert.False(t, twice.Next(&members))
	assert.True(t, twice.End(), "the program would have to notice")
}

func TestAValueIsReadAgain(t *testing.T) {
	s := jsonscan.Over([]byte(` {"a" : [1, 2] , "b":"\u0041"}`))
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
		s := jsonscan.Over([]byte(text))
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
	alone := jsonscan.Over([]byte(`"plain"`))
	_, isText := alone.TryBytes()
	assert.True(t, isText)
	assert.True(t, alone.End())
}

// After a failure, nothing brings the scanner back.
func TestAFailureIsFinal(t *testing.T) {
	s := jsonscan.Over([]byte(`{"a":1}`))
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
	s := jsonscan.Over([]byte(text))
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
	s := jsonscan.Over([]byte(`{"a":{"x":[1,2]},"b":"t", "c" : null,"d":4}`))
	var all []string
	members := s.Unchecked()
	for s.Next(&members) {
		all = append(all, string(members.Name))
	}
	assert.Equal(t, []string{"a", "b", "c", "d"}, all)
	assert.False(t, s.Next(&members), "it has ended")
	assert.True(t, s.End())
}
