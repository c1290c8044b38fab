package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a structure that many requests share holds, and why none is answered by it what another caller alone sees.
const (
	ofProcess = "nothing of what tenants store"
	ofTenant  = "by the tenant, or by knowledge bases, which have one; whoever reads it asks the scope first"
	ofBase    = "of a whole knowledge base and of no chunk: statistics, places, states"
	ofText    = "by the text that it was made of, which the caller has"
)

// shared is every structure that requests have in common: caches, flights, maps under a lock. Where a structure holds
// what depends on what a caller may see, its test asks it for two callers in turn.
var shared = map[string]string{
	"access/keys/keeper.go Keeper.used":                    ofProcess,
	"access/quota/quota.go Meter.tenants":                  "access/quota TestMeter",
	"bm25/tiered/cache.go Cache.flights":                   ofBase,
	"bm25/tiered/memory.go memory.entries":                 ofBase,
	"catalog/jobs/history.go history.changed":              ofTenant,
	"catalog/jobs/jobs.go Manager.jobs":                    "catalog/jobs TestJobsAreTheTenantsOwn",
	"catalog/listing.go listing.flights":                   "catalog TestTenantsAndBoundKeysSeeOnlyTheirOwn",
	"catalog/listing.go snapshot.bases":                    "catalog TestTenantsAndBoundKeysSeeOnlyTheirOwn",
	"catalog/migration/service.go Service.running":         ofTenant,
	"embedding/bank/keeper.go Keeper.known":                ofProcess,
	"embedding/bank/keeper.go Keeper.makings":              ofProcess,
	"embedding/embedding.go Client.cache":                  ofText,
	"embedding/embedding.go Client.flights":                ofText,
	"engine/elastic/memory.go memory.targets":              ofBase,
	"engine/elastic/memory.go memory.counts":               "cmd/hybridge TestNeighboursAndFacetsKeepTheFilter",
	"engine/elastic/memory.go memory.fields":               ofBase,
	"engine/elastic/memory.go memory.samples":              ofBase,
	"engine/elastic/storage/location.go recent.locations":  ofBase,
	"engine/elastic/storage/location.go recent.writes":     ofBase,
	"engine/elastic/storage/location.go recent.states":     ofBase,
	"engine/elastic/storage/location.go recent.logged":     ofBase,
	"engine/elastic/storage/location.go recent.overdue":    ofBase,
	"engine/elastic/vocabulary.go termMemory.vocabularies": ofBase,
	"engine/elastic/vocabulary.go termMemory.counts":       ofBase,
	"engine/embedded/damage.go damage.rows":                ofBase,
	"engine/embedded/engine.go Engine.bases":               ofTenant,
	"engine/embedded/engine.go Engine.others":              ofTenant,
	"engine/embedded/engine.go Engine.shadows":             ofTenant,
	"engine/mirror/laggards.go laggards.all":               ofProcess,
	"engine/mirror/mirror.go Mirror.engines":               ofProcess,
	"engine/mirror/mirror.go Mirror.locks":                 ofTenant,
	"engine/postgres/engine.go Engine.bases":               ofTenant,
	"engine/postgres/engine.go Engine.shadows":             ofTenant,
	"engine/postgres/hnsw.go written.all":                  ofBase,
	"engine/stopwatch.go stopwatches.of":                   ofProcess, // of one search
	"engine/postgres/statistics.go sampleCache.all":        ofBase,
	"engine/postgres/words.go passingCache.all":            "cmd/hybridge TestNeighboursAndFacetsKeepTheFilter",
	"evaluation/runs/ask.go asking.judged":                 ofTenant,
	"evaluation/runs/climb.go climbing.chunks":             ofTenant,
	"evaluation/runs/climb.go climbing.judged":             ofTenant,
	"evaluation/runs/grading.go Gradings.running":          ofTenant,
	"evaluation/runs/grading.go grading.has":               ofTenant,
	"evaluation/runs/grading.go grading.like":              ofTenant,
	"evaluation/tune/tuner.go Tuner.at":                    ofProcess,
	"experiments/live/store.go Store.tenants":              ofTenant,
	"gateway/searches/degraded.go warnings.last":           ofProcess,
	"gateway/endpoint/gone.go watched.all":                 ofProcess,
	"gateway/health.go lookedAt.states":                    ofProcess,
	"gateway/endpoint/limit.go callers.keys":               "gateway TestEachKeyHasItsRequests",
	"gateway/endpoint/limit.go callers.known":              "gateway TestWrongKeysSlowDownTheirAddress",
	"gateway/endpoint/limit.go callers.wrong":              "gateway TestWrongKeysSlowDownTheirAddress",
	"gateway/endpoint/send.go sending.by":                  ofProcess,
	"lib/labels/labels.go Bounded.known":                   ofProcess,
	"locale/answer.go known":                               ofProcess,
	"search/retrieve/languages.go Profiles.kept":           ofBase,
	"search/present/nearest.go Sentences.kept":             ofText,
	"search/resultcache/flight.go flights.open":            "search/resultcache TestWhatAScopeSees",
	"search/resultcache/memory.go memory.cache":            "search/resultcache TestWhatAScopeSees",
	"search/rewrite/rewrite.go Client.kept":                ofText,
	"synonyms/library.go Library.sets":                     ofTenant,
	"versions/store.go Store.sets":                         "versions TestInUse",
}

// keepers are the types that keep things for several callers.
var keepers = regexp.MustCompile(`\b(lru\.Cache|simplelru\.LRU|expirable\.LRU|singleflight\.Group|sync\.Map)\b|^atomic\.Pointer\[map\[`)

// TestWhatCallersShare: a structure that requests have in common says why it keeps them apart, or which test shows it.
func TestWhatCallersShare(t *testing.T) {
	files, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if !f.isTest() && !strings.HasPrefix(f.name, "internal/") {
			found = append(found, sharedIn(t, f.name)...)
		}
	}
	for _, name := range found {
		if shared[name] == "" {
			t.Errorf("%s is shared by requests, and the table of internal/layers does not say what keeps callers apart", name)
		}
	}
	for name, why := range shared {
		if !slices.Contains(found, name) {
			t.Errorf("there is no %s any more", name)
		}
		folder, test, is := strings.Cut(why, " Test")
		if is && !strings.Contains(folder, " ") && !hasTest(t, folder, "Test"+test) {
			t.Errorf("%s: %s has no Test%s", name, folder, test)
		}
	}
}

// sharedIn are the fields and variables of a file that several requests have in common.
func sharedIn(t *testing.T, name string) (found []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range tree.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				found = append(found, sharedFields(name+" "+s.Name.Name, s.Type)...)
			case *ast.ValueSpec:
				if s.Type != nil && keepers.MatchString(types.ExprString(s.Type)) {
					found = append(found, name+" "+s.Names[0].Name)
				}
			}
		}
	}
	return found
}

// sharedFields returns the fields of a struct that keep things for several requests, and maps beside a lock.
func sharedFields(of string, declared ast.Expr) (found []string) {
	structure, ok := declared.(*ast.StructType)
	if !ok {
		return nil
	}
	locked := slices.ContainsFunc(structure.Fields.List, func(f *ast.Field) bool {
		kind := types.ExprString(f.Type)
		return kind == "sync.Mutex" || kind == "sync.RWMutex"
	})
	for _, field := range structure.Fields.List {
		kind := types.ExprString(field.Type)
		kept := keepers.MatchString(kind) || locked && strings.HasPrefix(kind, "map[")
		for _, name := range field.Names {
			if kept {
				found = append(found, of+"."+name.Name)
			}
		}
	}
	return found
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+name+"(")
	})
}
