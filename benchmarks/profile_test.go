package benchmarks

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/devservices"
)

const (
	// profileVariable names the file of BenchmarkProfile; without it that is skipped.
	profileVariable = "HYBRIDGE_TEST_PROFILE"
	profileRounds   = 4
	profileSlice    = 3 * time.Second
)

// BenchmarkProfile lets one gateway write and search on every engine, by every preset
// in turn, while it takes a profile of itself: what the compiler is told is hot.
func BenchmarkProfile(b *testing.B) {
	file, given := os.LookupEnv(profileVariable)
	if !given {
		b.Skip("`make profile` says where to: ", profileVariable, " is not set")
	}
	b.Setenv("HYBRIDGE_CPU_PROFILE", file)
	b.Setenv("HYBRIDGE_POSTGRES_URL", devservices.NewDatabase(b).URL)
	g := startGateway(b, strings.TrimSuffix(devservices.Elasticsearch(b), "/"))
	chunks, asked := corpus(b, chunkCount), questions(b, perPreset)
	var contestants []contestant
	for _, engine := range []string{"elasticsearch", "embedded", "postgres"} {
		w := &world{kb: fmt.Sprintf("profile-%s-%d", engine, os.Getpid())}
		g.fill(b, engine, w.kb, chunks)
		for _, preset := range presets {
			bodies := w.bodies(b, preset, asked)
			contestants = append(contestants, contestant{engine + " " + preset, func(i int) error {
				return g.search(bodies[i%len(bodies)])
			}})
		}
	}
	rates(b, clients, profileRounds, profileSlice, contestants...)
}
