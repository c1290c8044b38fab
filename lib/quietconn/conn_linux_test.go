package quietconn_test

import (
	"io"
	"testing"
)

func TestNothingIsAllocated(t *testing.T) {
	a, b := ends(t)
	message := make([]byte, 1000)
	allocated := testing.AllocsPerRun(100, func() {
		if _, err := a.Write(message); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(b, message); err != nil {
			t.Fatal(err)
		}
	})
	if allocated > 0 {
		t.Errorf("a write and a read allocate %v times; want allocated 0", allocated)
	}
}
