package contrary_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// tree is a value of the public API as JSON, without what is empty: a member that is zero and one that is not there are
// the same.
func tree(t *testing.T, value any) any {
	t.Helper()
	written, err := jsonv2.Marshal(value, jsonv1.DefaultOptionsV1(), jsonv2.WithMarshalers(jsonv2.MarshalToFunc(
		func(enc *jsontext.Encoder, s moneymovement.Secret) error {
			return enc.WriteToken(jsontext.String(s.Reveal()))
		},
	)))
	require.NoError(t, err)
	read, err := decode(written)
	require.NoError(t, err)
	return filled(read)
}

// filled drops what is empty. Entries of lists stay.
func filled(value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, member := range v {
			if member = filled(member); member != nil {
				kept[name] = member
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	case []any:
		if len(v) == 0 {
			return nil
		}
		kept := make([]any, len(v))
		for i, entry := range v {
			kept[i] = filled(entry)
		}
		return kept
	case json.Number:
		if number, err := decimal.NewFromString(v.String()); err == nil && number.IsZero() {
			return nil
		}
		return v
	case bool:
		if !v {
			return nil
		}
	case string:
		if v == "" || v == "0" || v == "0001-01-01T00:00:00Z" || v == "0001-01-01" {
			return nil
		}
	}
	return value
}

// differences are the places at which two trees differ. A list that is shorter by one entry differs at the entry that
// is left out.
func differences(before, after any, here pointer) (found []pointer) {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	switch b := before.(type) {
	case map[string]any:
		a, is := after.(map[string]any)
		if !is {
			return []pointer{here}
		}
		names := slices.Sorted(maps.Keys(b))
		for name := range a {
			if _, there := b[name]; !there {
				names = append(names, name)
			}
		}
		for _, name := range names {
			found = append(found, differences(b[name], a[name], here.step(name))...)
		}
		return found
	case []any:
		a, is := after.([]any)
		switch {
		case is && len(a) == len(b):
			for i := range b {
				found = append(found, differences(b[i], a[i], here.step(strconv.Itoa(i)))...)
			}
			return found
		case is && len(a) == len(b)-1:
			left := 0
			for left < len(a) && sameValue(a[left], b[left]) {
				left++
			}
			found = append(found, here.step(strconv.Itoa(left)))
			for i := left; i < len(a); i++ {
				found = append(found, differences(b[i+1], a[i], here.step(strconv.Itoa(i+1)))...)
			}
			return found
		}
		return []pointer{here}
	}
	if sameValue(before, after) {
		return nil
	}
	return []pointer{here}
}

func sameValue(a, b any) bool { return reflect.DeepEqual(a, b) || sameScalar(a, b) }

// sameScalar reports numbers and times that are equal and written otherwise.
func sameScalar(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	one, another := fmt.Sprint(a), fmt.Sprint(b)
	if x, err := decimal.NewFromString(one); err == nil {
		if y, err := decimal.NewFromString(another); err == nil {
			return x.Equal(y)
		}
	}
	x, err := time.Parse(time.RFC3339, one)
	y, also := time.Parse(time.RFC3339, another)
	return err == nil && also == nil && x.Equal(y)
}

// shownPart is the member of an answer that the SDK returns, if it does not return all of it: the list of a page, or
// the one thing in an envelope.
func shownPart(body, value any) (name string, is bool) {
	whole, _ := body.(map[string]any)
	if _, isList := value.([]any); isList && whole != nil {
		return contrary.PageList, true
	}
	object, _ := value.(map[string]any)
	for name := range whole {
		if _, same := object[name]; len(whole) == 1 && !same {
			return name, true
		}
	}
	return "", false
}

// inValue are the places of the body that the value shows.
func inValue(before reading, places []pointer) (shown []pointer) {
	body, _ := decode(before.answer.Body)
	name, part := shownPart(body, before.value)
	if !part {
		return places
	}
	for _, p := range places {
		if len(p) > 0 && p[0] == name {
			shown = append(shown, p[1:])
		}
	}
	return shown
}

// renamed is where a value stands under its other name.
func renamed(p pointer) pointer { return p[:len(p)-1].step("other" + p[len(p)-1]) }

func joined(pointers []pointer) string {
	all := make([]string, len(pointers))
	for i, p := range pointers {
		all[i] = p.String()
	}
	return strings.Join(all, ", ")
}
