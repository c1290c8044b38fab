package quality

import (
	"testing"
)

func TestEventsThatAreOff(t *testing.T) {
	s := &eventService{}
	if _, err := s.events(); err != errNoEvents { //nolint:errorlint // this very one
		t.Error(err)
	}
	if _, err := s.clicks(); err != errNoEvents { //nolint:errorlint // this very one
		t.Error(err)
	}
}
