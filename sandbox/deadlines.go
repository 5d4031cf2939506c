package sandbox

import (
	"io"
	"net/http"
	"time"
)

// How long a caller may take to send a body, and to receive the response. What a
// scripted fault waits in between is in neither.
const (
	bodyTime   = time.Minute
	answerTime = time.Minute
)

// withDeadlines bounds how long a connection is held by a caller that sends its
// body byte by byte, or never reads the response. A server with timeouts of its
// own keeps them, and without a connection there is nothing to hold.
func withDeadlines(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request) {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return w, r
	}
	connection := http.NewResponseController(w)
	if server.ReadTimeout <= 0 && r.Body != nil && r.Body != http.NoBody {
		_ = connection.SetReadDeadline(time.Now().Add(bodyTime)) // a writer that cannot is no connection's
		limited := *r                                            // net/http looks at its own copy of the request
		limited.Body = &timedBody{r.Body, connection}
		r = &limited
	}
	if server.WriteTimeout <= 0 {
		w = &timedWriter{w, connection}
	}
	return w, r
}

// timedBody is a body with a deadline, which ends with the body: after that the
// server reads on to notice a caller that hangs up.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// timedWriter gives the response a deadline, which starts with its head and holds
// until all of it has left.
type timedWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
}

// WriteHeader implements http.ResponseWriter.
func (w *timedWriter) WriteHeader(status int) {
	_ = w.connection.SetWriteDeadline(time.Now().Add(answerTime))
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
