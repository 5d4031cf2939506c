package fleetredis

import (
	"context"
	"crypto/rand"
	_ "embed" // of the script
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/fleet"
)

//go:embed take.lua
var takeScript string

// DefaultPrefix is what the names of all keys begin with, unless an option says otherwise.
const DefaultPrefix = "moneymovement:"

// Windows counts the calls of rate windows on a Redis server. It is safe for concurrent use.
type Windows struct {
	client redis.UniversalClient
	prefix string
	take   *redis.Script
}

// NewWindows returns the windows on a server. The names of the keys begin with the prefix, or with [DefaultPrefix] if
// it is empty. Each window is one key, so the server can be a cluster.
func NewWindows(client redis.UniversalClient, prefix string) *Windows {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	return &Windows{client: client, prefix: prefix, take: redis.NewScript(takeScript)}
}

// NewLimiter returns a limiter that shares the rate windows of a credential with all processes that use the same server
// and prefix. credential is the result of [dapi.Developer.Credential]. Pass the limiter to
// moneymovement.WithRateLimiter.
func NewLimiter(
	client redis.UniversalClient, credential string, options ...fleet.Option,
) (*fleet.Limiter, error) {
	if client == nil {
		return nil, &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: "NewLimiter"},
			Fields: []errors.Field{{Field: "client", Code: errors.FieldMissing,
				Message: "is nil: make one with redis.NewClient"}}}
	}
	return fleet.NewLimiter(NewWindows(client, ""), credential, options...)
}

// Reserve implements [fleet.Windows] with one script, by the clock of the server.
func (w *Windows) Reserve(ctx context.Context, request fleet.Request) (fleet.Reservation, error) {
	key := w.prefix + "window:{" + request.Key + "}"
	reply, err := w.take.Run(ctx, w.client, []string{key}, arguments(&request)...).Slice()
	if err != nil {
		if strings.Contains(err.Error(), "FOREIGN") {
			return fleet.Reservation{}, fmt.Errorf("the value of the Redis key %q is not a rate window: "+
				"delete the key, or use another prefix", key)
		}
		return fleet.Reservation{}, err
	}
	return read(reply)
}

func arguments(request *fleet.Request) []any {
	args := make([]any, 0, 13+len(request.Unused)+len(request.Past))
	args = append(args, request.Process, request.Calls, request.Span.Microseconds(), request.Ahead.Microseconds())
	for _, calls := range request.Waiting {
		args = append(args, calls)
	}
	args = append(args, flag(request.Pressed), flag(request.Overdue), request.WindowID, rand.Text(),
		len(request.Unused))
	for _, mark := range request.Unused {
		args = append(args, mark)
	}
	for _, age := range request.Past {
		args = append(args, age.Microseconds())
	}
	return args
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}

var errReply = errors.New("the Redis server returned another reply than the script's")

// read reads the reply of the script.
func read(reply []any) (reservation fleet.Reservation, err error) {
	if len(reply) != 5 {
		return reservation, errReply
	}
	name, isText := reply[0].(string)
	next, isNumber := reply[1].(int64)
	reserved, err := numbers(reply[2], err)
	room, err := numbers(reply[3], err)
	others, err := numbers(reply[4], err)
	if err != nil || !isText || !isNumber || len(reserved)%2 != 0 || len(others) != len(reservation.Others) {
		return reservation, errReply
	}
	reservation.WindowID, reservation.Next = name, time.Duration(next)*time.Microsecond
	for i := 0; i < len(reserved); i += 2 {
		reservation.Slots = append(reservation.Slots,
			fleet.Slot{Mark: reserved[i], In: time.Duration(reserved[i+1]) * time.Microsecond})
	}
	for _, after := range room {
		reservation.Free = append(reservation.Free, time.Duration(after)*time.Microsecond)
	}
	for r, calls := range others {
		reservation.Others[r] = int(calls)
	}
	return reservation, nil
}

func numbers(value any, err error) ([]int64, error) {
	list, isList := value.([]any)
	if err != nil || !isList {
		return nil, errReply
	}
	all := make([]int64, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case int64:
			all[i] = v
		case string:
			if all[i], err = strconv.ParseInt(v, 10, 64); err != nil {
				return nil, errReply
			}
		default:
			return nil, errReply
		}
	}
	return all, nil
}
