package compose

import (
	"bytes"
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
)

const root = "../.."

func load(t *testing.T) *types.Project {
	t.Helper()
	project, err := loadWith(t, passwords(t))
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func loadWith(t *testing.T, environment types.Mapping) (*types.Project, error) {
	t.Helper()
	name := filepath.Join(root, "docker-compose.yml")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  root,
		ConfigFiles: []types.ConfigFile{{Filename: name, Content: content}},
		Environment: environment,
	})
}

// passwords are those that scripts/passwords writes into an empty copy of the project.
func passwords(t *testing.T) types.Mapping {
	t.Helper()
	folder := t.TempDir()
	script, err := os.ReadFile(filepath.Join(root, "scripts/passwords"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "scripts"), 0o700); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(folder, "scripts/passwords")
	if err := os.WriteFile(copied, script, 0o700); err != nil {
		t.Fatal(err)
	}
	env := filepath.Join(folder, ".env")
	var first []byte
	for range 2 { // a second run leaves what is there
		if out, err := exec.CommandContext(t.Context(), copied).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		written, err := os.ReadFile(env)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(written, first) {
			t.Fatal("scripts/passwords changes passwords that are there")
		}
		first = written
	}
	if info, err := os.Stat(env); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v; want a file for its owner alone", info.Mode(), err)
	}
	values, err := dotenv.UnmarshalBytesWithLookup(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestNothingStartsWithoutPasswords(t *testing.T) {
	given := passwords(t)
	if len(given) != 3 {
		t.Errorf("scripts/passwords writes %d passwords, want 3", len(given))
	}
	for name, password := range given {
		if len(password) < 48 {
			t.Errorf("%s has %d letters", name, len(password))
		}
		without := maps.Clone(given)
		delete(without, name)
		if _, err := loadWith(t, without); err == nil || !strings.Contains(err.Error(), "scripts/passwords") {
			t.Errorf("without %s: %v; want a word of scripts/passwords", name, err)
		}
	}
	if security := load(t).Services["elasticsearch"].Environment["xpack.security.enabled"]; security == nil || *security != "true" {
		t.Error("Elasticsearch's security is off")
	}
}

// TestContainersAreConfined: what gets into one of them can do little there.
func TestContainersAreConfined(t *testing.T) {
	for name, service := range load(t).Services {
		if !slices.Equal(service.CapDrop, []string{"ALL"}) || len(service.CapAdd) > 0 || service.Privileged {
			t.Errorf("%s has capabilities", name)
		}
		if !service.ReadOnly {
			t.Errorf("%s can write to its image", name)
		}
		if !slices.Contains(service.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s may gain privileges", name)
		}
		if service.MemLimit <= 0 || service.PidsLimit <= 0 {
			t.Errorf("%s may take any memory or any number of processes", name)
		}
	}
}

func TestProjectHasItsServices(t *testing.T) {
	project := load(t)
	want := []string{"elasticsearch", "gateway", "postgres", "redis"}
	if got := project.ServiceNames(); !slices.Equal(got, want) {
		t.Errorf("services are %v, want %v", got, want)
	}
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
	for name, service := range load(t).Services {
		if service.Build == nil && !pinned.MatchString(service.Image) {
			t.Errorf("%s: the image %q has no whole version", name, service.Image)
		}
	}
	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	bases := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(string(dockerfile), -1)
	if len(bases) != 3 {
		t.Fatalf("the Dockerfile has %d stages, want 3", len(bases))
	}
	for _, base := range bases {
		if !pinned.MatchString(base[1]) {
			t.Errorf("Dockerfile: the image %q has no whole version", base[1])
		}
	}
}

func TestDockerfileBuildsWithTheGoOfTheModule(t *testing.T) {
	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(module)
	if version == nil || !strings.Contains(string(dockerfile), "FROM golang:"+string(version[1])+"-") {
		t.Errorf("the Dockerfile does not build with Go %s of go.mod", version)
	}
}

func TestHealthIsCheckedAndWaitedFor(t *testing.T) {
	for name, service := range load(t).Services {
		check := service.HealthCheck
		if check == nil || check.Disable || len(check.Test) < 2 || check.Interval == nil || check.Timeout == nil {
			t.Errorf("%s has no health check with interval and timeout", name)
		}
		for other, dependency := range service.DependsOn {
			if dependency.Condition != types.ServiceConditionHealthy {
				t.Errorf("%s waits until %s is %q, want healthy", name, other, dependency.Condition)
			}
		}
	}
	if waits := load(t).Services["gateway"].DependsOn; len(waits) != 3 {
		t.Errorf("the gateway waits for %v, want the three servers", waits)
	}
}

func TestOnlyTheGatewayIsPublishedAndOnlyHere(t *testing.T) {
	for name, service := range load(t).Services {
		for _, port := range service.Ports {
			if name != "gateway" || port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %s on %q", name, port.Published, port.HostIP)
			}
		}
	}
}
