package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"` // none; some readers want it
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`

	took time.Duration
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML: a suite for each flow and one for each file of assumptions, in which a contradicted assumption
// is a failure and an open one is skipped.
func (r *Report) WriteJUnit(w io.Writer) error {
	all := &junitSuites{Name: "contract", Time: seconds(r.Took)}
	index := map[string]int{}
	add := func(suite string, c junitCase, took time.Duration) {
		i, known := index[suite]
		if !known {
			i = len(all.Suites)
			index[suite] = i
			all.Suites = append(all.Suites, junitSuite{Name: suite, Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")})
		}
		c.Class, c.Time = "contract."+suite, seconds(took)
		all.Suites[i].add(c, took)
	}
	for _, c := range r.Cases {
		add(c.Flow, c.junit(), c.Took)
	}
	for _, a := range r.Assumptions {
		add("assumptions."+strings.TrimSuffix(a.File, ".yaml"), a.junit(), 0)
	}
	for _, f := range r.Deviations {
		add("deviations", junitCase{Name: f.Operation + " " + f.Field, Failure: f.junit()}, 0)
	}
	for _, v := range r.Violations {
		add("deviations", junitCase{Name: v, Failure: &junitMessage{Message: "openapi3filter refuses the answer"}}, 0)
	}
	for i := range all.Suites {
		all.Tests += all.Suites[i].Tests
		all.Failures += all.Suites[i].Failures
		all.Skipped += all.Suites[i].Skipped
		all.Suites[i].Time = seconds(all.Suites[i].took)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase, took time.Duration) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	s.took += took
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}

func (c Case) junit() junitCase {
	j := junitCase{Name: c.Name}
	switch c.Outcome {
	case Failed:
		j.Failure = &junitMessage{Message: "the test failed; go test says why"}
	case Skipped:
		j.Skipped = &junitMessage{Message: c.Reason}
	}
	return j
}

func (a AssumptionSeen) junit() junitCase {
	j := junitCase{Name: a.Where + ", " + a.What()}
	switch a.Verdict {
	case Contradicted:
		j.Failure = a.Evidence.junit()
		j.Failure.Message += fmt.Sprintf("; %s: %s", a.Position(), a.Edit())
	case Open:
		j.Skipped = &junitMessage{Message: a.Why}
	default:
		j.Output = fmt.Sprintf("%s, %s: %s", describe(*a.Evidence), a.Evidence.Field, a.Evidence.Seen)
	}
	return j
}

func (f *Finding) junit() *junitMessage {
	return &junitMessage{Message: fmt.Sprintf("%s, %s: %s", describe(*f), f.Field, f.Seen), Text: f.Answer}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
