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
