package layers

// module is the path that imports of ours begin with.
const module = "github.com/hybridge-search/hybridge/"

// everywhere may be imported by every package: the text query, conditions of filters, the only error type.
var everywhere = []string{"textquery", "filter", "fault"}

// leaf is a package that knows nothing of us but what is everywhere.
var leaf []string

// layers says, from the top down, which packages of ours each package may import.
// A package without a place here fails the test: give it one, as low as it goes.
var layers = map[string][]string{
	"cmd/hybridge":           {anything},
	"internal/app":           {anything},
	"internal/cli":           {anything},
	"internal/cli/searching": {anything},
	"internal/cli/measuring": {anything},
	"internal/cli/content":   {anything},
	"internal/cli/operating": {anything},
	"internal/app/datadir":   leaf,
	"internal/offline":       {anything},
	"internal/relevance":     {anything},

	"gateway": {
		"gateway/searches", "gateway/versioned", "gateway/chunks", "gateway/quality",
		"gateway/protocols/cohere", "gateway/protocols/dify", "gateway/protocols/mcp", "gateway/protocols/meilisearch",
		"gateway/protocols/openai", "gateway/protocols/ragflow", "gateway/endpoint",
		"search/recall", "search", "catalog/migration", "catalog/jobs", "catalog", "engine", "scoring",
		"access", "access/audit", "access/keys", "access/quota", "locale", "guide",
	},
	"gateway/searches": {
		"gateway/endpoint", "search/compare", "search", "presets", "rag", "rag/answer", "access", "lib/labels",
	},
	"gateway/versioned": {
		"gateway/endpoint", "search", "presets", "synonyms", "rules", "versions", "engine", "access", "access/keys",
	},
	"gateway/chunks": {"gateway/endpoint", "ingest", "catalog/jobs", "search", "engine", "locale", "access"},
	"gateway/quality": {
		"gateway/endpoint", "evaluation", "evaluation/exchange", "evaluation/library", "evaluation/runs",
		"evaluation/judge", "evaluation/clicks", "events", "experiments", "experiments/live", "catalog/jobs", "access",
		"access/keys",
	},
	"gateway/protocols/cohere": {"gateway/endpoint", "search", "access"},
	"gateway/protocols/dify":   {"gateway/protocols/conditions", "gateway/endpoint", "rag", "search", "access"},
	"gateway/protocols/mcp": {
		"gateway/protocols/documents", "gateway/endpoint", "rag", "ingest", "search", "engine", "access",
	},
	"gateway/protocols/meilisearch": {
		"gateway/protocols/conditions", "gateway/endpoint", "rag", "search", "engine", "access",
	},
	"gateway/protocols/openai": {
		"gateway/protocols/conditions", "gateway/protocols/documents", "gateway/endpoint", "rag", "ingest", "catalog",
		"search", "engine", "access",
	},
	"gateway/protocols/ragflow": {
		"gateway/protocols/conditions", "gateway/protocols/documents", "gateway/endpoint", "rag", "ingest", "catalog",
		"search", "engine", "access",
	},
	"gateway/protocols/conditions": {"gateway/endpoint", "engine"},
	"gateway/protocols/documents":  {"gateway/endpoint", "ingest", "search", "engine", "access"},
	"gateway/endpoint": {
		"search", "ingest", "access", "access/keys", "access/quota", "locale", "lib/quietconn", "lib/tracing",
	},

	"search/compare":               {"search", "access"},
	"search/recall":                {"search", "engine", "scoring", "access", "evaluation/metric", "lib/labels"},
	"internal/cli/content/foreign": {"engine/elastic/rest"},
	"internal/app/demo":            {"docs", "ingest", "catalog", "engine", "access"},
	"docs":                         leaf,
	"docs/gen":                     {"docs"},
	"guide":                        {"bm25", "analysis", "analysis/highlight"},
	"web":                          leaf,
	"catalog/migration":            {"catalog/jobs", "catalog", "engine", "access"},
	"rag":                          {"search", "engine", "access"},
	"rag/answer":                   {"rag", "lib/service"},
	"evaluation": {
		"evaluation/exchange", "evaluation/metric", "search", "engine", "scoring", "access", "analysis/language",
		"embedding/bank", "lib/vector",
	},
	"evaluation/metric":   leaf,
	"evaluation/judge":    {"lib/service"},
	"evaluation/library":  {"search", "engine", "access"},
	"evaluation/exchange": {"evaluation/library", "access"},
	"evaluation/runs": {
		"evaluation/library", "evaluation/tune", "evaluation/metric", "evaluation/judge", "evaluation", "presets",
		"search", "engine", "scoring", "access", "catalog/jobs",
	},
	"evaluation/tune":   {"evaluation", "evaluation/metric", "search", "engine", "scoring"},
	"experiments":       leaf,
	"evaluation/clicks": {"evaluation/library", "events", "access"},
	"events":            {"search", "engine", "access", "lib/sqlite"},
	"experiments/live":  {"experiments", "events", "search", "engine", "access"},
	"ingest":            {"ingest/parse", "catalog", "engine", "access", "analysis/language", "analysis/fold"},
	"ingest/convert":    {"ingest/parse", "lib/service"},
	"ingest/parse":      leaf,
	"ingest/parse/pool": {"ingest/parse"},
	"catalog":           {"engine", "access"},

	"search/resultcache": {"search", "search/answer", "search/engines", "engine", "access"},

	"config": {
		"ingest/convert", "access", "search", "search/rerank", "engine", "engine/elastic", "engine/postgres", "scoring",
	},
	"presets": {"search", "engine", "scoring", "analysis", "versions"},
	"search": {
		"access", "analysis", "analysis/language", "embedding/bank", "engine", "lib/admission", "lib/tracing",
		"scoring", "search/answer", "search/ask", "search/engines", "search/plan", "search/present", "search/rank",
		"search/refine", "search/retrieve", "search/typing",
	},
	"search/typing": {
		"access", "analysis", "engine", "lib/tracing", "scoring", "search/answer", "search/ask", "search/engines",
		"search/plan",
	},
	"search/present": {
		"analysis/highlight", "engine", "lib/tracing", "scoring", "search/answer", "search/ask", "search/engines",
		"search/plan", "search/rank", "search/refine", "search/retrieve",
	},
	"search/refine": {
		"analysis", "engine", "lib/tracing", "lib/vector", "rules", "scoring", "search/answer", "search/ask",
		"search/engines", "search/plan", "search/rank", "search/retrieve",
	},
	"search/retrieve": {
		"analysis", "embedding/bank", "engine", "lib/tracing", "scoring", "search/answer", "search/ask",
		"search/engines", "search/plan", "search/rank", "search/relevance",
	},
	"search/rank": {
		"analysis", "engine", "lib/vector", "scoring", "search/answer", "search/plan", "search/relevance",
	},
	"search/relevance": {
		"analysis/language", "embedding/bank", "engine", "scoring", "search/answer",
	},
	"search/ask": {
		"analysis", "analysis/language", "embedding/bank", "engine", "lib/tracing", "rules", "scoring",
		"search/answer", "search/engines", "search/plan",
	},
	"search/engines": {
		"access", "engine", "lib/labels", "lib/tracing", "search/answer", "search/plan",
	},
	"search/answer": {
		"embedding/bank", "engine", "lib/jsonout", "rules", "scoring", "search/plan",
	},
	"search/plan": {
		"analysis", "analysis/language", "engine", "scoring",
	},

	"engine/elastic": {
		"engine/elastic/migrate", "engine/elastic/storage", "engine/elastic/rest", "engine", "scoring", "mappings", "esquery",
		"lib/vector", "lib/smile",
	},
	"engine/elastic/migrate": {"engine/elastic/storage", "engine/elastic/rest", "engine", "mappings", "esquery"},
	"engine/elastic/storage": {
		"access/keys", "access/quota", "engine/elastic/rest", "engine", "scoring", "mappings", "esquery", "lib/smile",
		"lib/vector", "lib/schema",
	},
	"engine/elastic/rest": {"engine", "esquery", "lib/quietconn", "lib/reason", "lib/smile", "lib/tracing"},

	"engine/postgres": {
		"access/keys", "access/quota", "engine", "scoring", "bm25", "bm25/tiered", "lib/vector", "lib/parallel",
		"lib/quietconn", "lib/reason", "lib/schema", "lib/tracing",
	},
	"engine/embedded":        {"engine", "scoring", "bm25", "lib/vector", "lib/parallel", "lib/sqlite"},
	"engine/mirror":          {"engine", "lib/sqlite"},
	"internal/migrationtest": {"catalog/migration", "catalog/jobs", "catalog", "engine", "access"},
	"engine/enginetest":      {"engine", "scoring", "internal/devservices", "internal/golden", "internal/skips"},
	"mappings":               {"engine", "scoring", "esquery"},
	"engine":                 {"scoring", "analysis/language"},

	"analysis":                leaf,
	"analysis/language":       leaf,
	"analysis/highlight":      {"analysis"},
	"synonyms":                {"analysis", "versions"}, // it splits its words as queries are split
	"rules":                   {"analysis"},             // and so do rules
	"versions":                {"lib/sqlite"},
	"analysis/tokens":         {"analysis", "analysis/segment", "analysis/fold"},
	"analysis/jieba":          {"analysis/segment", "analysis/fold", "analysis/dictionary"},
	"analysis/segment":        {"analysis/fold"},
	"analysis/fold":           leaf,
	"analysis/dictionary":     {"analysis/fold"},
	"analysis/dictionary/gen": {"analysis/dictionary"},
	"scoring":                 leaf,
	"bm25":                    leaf,
	"bm25/tiered":             {"bm25"},
	"lib/gitignore":           leaf,
	"lib/vector":              leaf,
	"lib/parallel":            leaf,
	"esquery":                 {"lib/smile"},
	"lib/smile":               leaf,
	"embedding":               {"lib/reason", "lib/tracing"},
	"embedding/bank":          leaf,
	"embedding/local":         {"embedding"},
	"search/rerank":           {"lib/service"},
	"search/rewrite":          {"search", "lib/service"},
	"access":                  leaf,
	"filter":                  leaf,
	"access/audit":            {"access"},
	"access/keys":             {"access", "lib/sqlite"},
	"access/quota":            {"lib/sqlite"},
	"textquery":               leaf,
	"fault":                   leaf,
	"locale":                  leaf,
	"lib/schema":              leaf,
	"lib/sqlite":              {"lib/reason", "lib/schema"},
	"catalog/jobs":            {"engine"},
	"lib/quietconn":           leaf,
	"lib/jsonout":             leaf,
	"lib/admission":           leaf,
	"lib/labels":              leaf,
	"lib/tracing":             leaf,
	"lib/reason":              leaf,
	"lib/service":             {"lib/reason", "lib/tracing"},

	"internal/benchmarks": leaf, // nothing but tests

	"internal/devservices": {"internal/skips"},
	"internal/skips":       leaf,
	"internal/deadline":    leaf,
	"internal/seeds":       leaf,
	"internal/histories":   leaf,
	"internal/keystest":    {"access/keys"},
	"internal/quotatest":   {"access/quota"},
	"internal/golden":      leaf,
	"internal/fieldcheck":  leaf,
	"internal/realtext":    {"internal/devservices", "internal/skips"},
	"internal/realtokens":  {"analysis/jieba", "analysis/tokens"},
	"internal/layers":      leaf,
	"internal/brief":       leaf,
	"internal/properties":  leaf,
	"internal/mutants":     {"internal/skips"},
}

// anything stands for every package that is not test machinery.
const anything = "*"

// owners are the only packages that may import a library, tests included: what
// is behind it stays behind one door. x/... is x and the packages in it.
var owners = map[string][]string{
	"github.com/gofiber/":                        {"gateway/..."},
	"github.com/danielgtaylor/huma/v2/adapters/": {"gateway"},
	"github.com/elastic/":                        {"engine/elastic/rest", "mappings"},
	"github.com/valyala/fasthttp":                {"gateway/endpoint", "engine/elastic/rest", "internal/benchmarks"},
	"github.com/jackc/pgx":                       {"engine/postgres", "internal/devservices"},
	"github.com/pgvector/":                       {"engine/postgres"},
	"modernc.org/sqlite":                         {"lib/sqlite"},
	"github.com/yanyiwu/gojieba":                 {"analysis/jieba", "analysis/dictionary"},
	"github.com/longbridgeapp/opencc":            {"analysis/fold"},
	"github.com/kljensen/snowball":               {"analysis/tokens"},
	"github.com/modelcontextprotocol/":           {"gateway/...", "internal/cli/operating", "cmd/hybridge"},
	"github.com/alecthomas/participle/":          {"gateway/protocols/meilisearch"},
	"github.com/google/jsonschema-go/":           {"gateway/protocols/mcp"},
	"gonum.org/v1/gonum":                         {"evaluation/tune", "internal/benchmarks", "internal/layers"},
	"github.com/anishathalye/porcupine":          {"internal/histories"},
	"go.opentelemetry.io/otel/sdk":               {"internal/app", "lib/tracing"}, // here its tests
	"go.opentelemetry.io/otel/exporters/":        {"internal/app"},
	"go.opentelemetry.io/":                       {"internal/app", "cmd/hybridge", "gateway/...", "lib/tracing"},
}

// light are packages that a program can import without a C compiler and without what
// only cuts text into tokens: nothing that they import may import what is heavy.
var (
	light = []string{"rag", "search", "gateway"}
	heavy = []string{"C", "github.com/yanyiwu/gojieba", "github.com/longbridgeapp/opencc", "github.com/kljensen/snowball"}
)

// machinery are the packages that only tests use; only they may import `testing`. The program is none of them.
var (
	machinery = []string{"internal/", "engine/enginetest"}
	program   = []string{"internal/app", "internal/cli", "internal/offline"}
)
