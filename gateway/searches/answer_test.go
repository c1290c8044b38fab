package searches

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

func TestAnswersWithoutAModel(t *testing.T) {
	if _, err := (&answerService{}).answers(); err != errNoAnswers { //nolint:errorlint // this very one
		t.Errorf("without a model: %v", err)
	}
	if p := endpoint.ProblemOf(errNoAnswers); p.Status != 400 || p.Code != "unsupported" || !strings.Contains(p.Detail, "answer.url") {
		t.Errorf("without a model: %+v", p)
	}
}
