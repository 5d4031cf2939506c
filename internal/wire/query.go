package wire

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// QueryText returns how a value is written in a query, and whether it is sent. A zero value is not sent. A non-nil
// pointer is sent, even if it points to zero.
func QueryText(value any) (string, bool) {
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", false
		}
		return queryValue(v.Elem()), true
	}
	if !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Slice && v.Len() == 0) {
		return "", false
	}
	return queryValue(v), true
}

func queryValue(v reflect.Value) string {
	if t, ok := v.Interface().(time.Time); ok {
		return t.UTC().Format(time.RFC3339Nano)
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = queryValue(v.Index(i))
		}
		return strings.Join(parts, ",")
	default: // such as a decimal
		return fmt.Sprint(v.Interface())
	}
}
