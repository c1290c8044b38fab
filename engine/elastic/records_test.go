package elastic_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

func TestRecordsOfSeveralGateways(t *testing.T) {
	_, prefix := devservices.Indices(t)
	enginetest.SharedRecords(t, func() engine.Engine { return openWith(t, optionsOf(t, prefix)) })
}

// interrupted does something in front of the first request to an endpoint, which then is sent or
// fails.
type interrupted struct {
	http.RoundTripper
	at string
	do func() error
}

func (i *interrupted) RoundTrip(req *http.Request) (*http.Response, error) {
	if do := i.do; do != nil && strings.Contains(req.URL.Path, i.at) {
		i.do = nil
		if err := do(); err != nil {
			return nil, err
		}
	}
	return i.RoundTripper.RoundTrip(req)
}

// interruptible is an engine over the indices of a prefix that is interrupted at an endpoint.
func interruptible(t *testing.T, prefix, at string, do func() error) *elastic.Engine {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	options := optionsOf(t, prefix)
	options.Transport = &interrupted{RoundTripper: transport, at: at, do: do}
	return openWith(t, options)
}

var someItems = []engine.RecordItem{{Key: "a", Body: []byte(`1`)}, {Key: "b", Body: []byte(`2`)}}

// madeRecords makes a collection with two items.
func madeRecords(t *testing.T, e *elastic.Engine) engine.Records {
	t.Helper()
	saved, err := e.SaveRecords(t.Context(), engine.Records{
		RecordRef: engine.RecordRef{Tenant: "acme", Kind: "run", ID: "nightly"}, Head: []byte(`{}`),
	})
	if err == nil {
		err = e.PutItems(t.Context(), saved.RecordRef, someItems)
	}
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// documents counts what the index of records holds.
func documents(t *testing.T, prefix string) int {
	t.Helper()
	server := devservices.Elasticsearch(t)
	var counted struct{ Count int }
	found := devservices.Talk(t, http.MethodGet, server+"/"+prefix+"-records/_count", "")
	if err := json.Unmarshal(found, &counted); err != nil {
		t.Fatal(err)
	}
	return counted.Count
}

// TestADeletionOfRecordsThatWasCutOff: the collection is gone for everybody, and whoever deletes it
// again, or makes it again, deletes what is left.
func TestADeletionOfRecordsThatWasCutOff(t *testing.T) {
	for name, goOn := range map[string]func(*elastic.Engine, engine.RecordRef) error{
		"deleted again": func(e *elastic.Engine, ref engine.RecordRef) error { return e.DeleteRecords(t.Context(), ref) },
		"made again": func(e *elastic.Engine, ref engine.RecordRef) error {
			_, err := e.SaveRecords(t.Context(), engine.Records{RecordRef: ref, Head: []byte(`{}`)})
			if n, counted := e.CountItems(t.Context(), ref); n != 0 || counted != nil {
				t.Errorf("made again it has %d items, %v; want n 0 and no counted", n, counted)
			}
			return errors.Join(err, e.DeleteRecords(t.Context(), ref))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, prefix := open(t)
			r := madeRecords(t, e)
			broken := interruptible(t, prefix, "_delete_by_query", func() error { return errors.New("cut off") })
			if err := broken.DeleteRecords(t.Context(), r.RecordRef); !fault.Is(err, fault.Unavailable) {
				t.Fatalf("cut off: %v; want an error of kind Unavailable", err)
			}
			if n := documents(t, prefix); n != 3 {
				t.Errorf("%d documents are left, want all 3", n)
			}
			_, saved := e.SaveRecords(t.Context(), r)
			_, read := e.Records(t.Context(), r.RecordRef)
			for what, err := range map[string]error{
				"saving": saved, "reading": read, "writing": e.PutItems(t.Context(), r.RecordRef, someItems),
			} {
				if !fault.Is(err, fault.NotFound) {
					t.Errorf("%s: %v; want an error of kind NotFound", what, err)
				}
			}
			if list, err := e.ListRecords(t.Context(), r.Tenant, r.Kind); len(list) != 0 || err != nil {
				t.Errorf("listed: %+v, %v; want no list and no error", list, err)
			}
			if err := goOn(e, r.RecordRef); err != nil {
				t.Error(err)
			}
			if n := documents(t, prefix); n != 0 {
				t.Errorf("%d documents are left; want n 0", n)
			}
		})
	}
}

// TestItemsOfDeletedRecordsAreTakenBack when they arrive after the deletion, also where the name
// has been taken again.
func TestItemsOfDeletedRecordsAreTakenBack(t *testing.T) {
	e, prefix := open(t)
	r := madeRecords(t, e)
	remove := func() error { return e.DeleteRecords(t.Context(), r.RecordRef) }
	late := interruptible(t, prefix, "_bulk", remove)
	if err := late.PutItems(t.Context(), r.RecordRef, someItems); !fault.Is(err, fault.NotFound) {
		t.Errorf("late items: %v; want an error of kind NotFound", err)
	}
	if n := documents(t, prefix); n != 0 {
		t.Errorf("%d documents are left; want n 0", n)
	}
	madeRecords(t, e)
	late = interruptible(t, prefix, "_bulk", func() error {
		err := remove()
		madeRecords(t, e)
		return err
	})
	if err := late.PutItems(t.Context(), r.RecordRef, someItems); !fault.Is(err, fault.NotFound) {
		t.Errorf("late items: %v; want an error of kind NotFound", err)
	}
	if n := documents(t, prefix); n != 3 {
		t.Errorf("%d documents, want those of the new collection", n)
	}
}
