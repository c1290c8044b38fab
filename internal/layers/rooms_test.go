package layers

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// tooLarge are the packages that exceed the bounds. None is added, and each only shrinks.
var tooLarge = map[string]room{
	"engine/embedded": {files: 29, circle: 22},
	"engine/postgres": {files: 25, circle: 21},
}

func TestPackagesAreRooms(t *testing.T) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "./...")
	var said bytes.Buffer
	list.Dir, list.Stderr = root, &said
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", list, err, &said)
	}
	c := &checker{root: root, exports: map[string]string{}}
	for line := range strings.Lines(string(out)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), "\t")
		c.exports[path] = export
	}
	files, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	rooms := map[string]room{}
	for _, f := range files {
		if _, read := rooms[f.folder()]; read || f.isTest() {
			continue
		}
		if rooms[f.folder()], err = c.read(f.folder()); err != nil {
			t.Fatal(err)
		}
	}
	for _, complaint := range roomComplaints(rooms, tooLarge) {
		t.Error(complaint)
	}
}

func TestRoomsAreCompared(t *testing.T) {
	may := map[string]room{"hall": {files: 40, circle: 20}}
	for _, c := range []struct {
		rooms map[string]room
		want  string
	}{
		{map[string]room{"hall": {files: 40, circle: 20}, "a": {files: 30, circle: 12}}, ""},
		{map[string]room{"hall": {files: 40, circle: 20}, "a": {files: 31}}, "a has"},
		{map[string]room{"hall": {files: 40, circle: 20}, "a": {files: 13, circle: 13}}, "a has"},
		{map[string]room{"hall": {files: 41, circle: 20}}, "hall has grown"},
		{map[string]room{"hall": {files: 40, circle: 21}}, "hall has grown"},
		{map[string]room{"hall": {files: 39, circle: 20}}, "hall has shrunk"},
		{map[string]room{"hall": {files: 40, circle: 5}}, "hall has shrunk"},
		{map[string]room{"hall": {files: 30, circle: 12}}, "hall is within"},
		{map[string]room{}, "hall is excepted"},
	} {
		got := roomComplaints(c.rooms, may)
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, c.want) }) {
			t.Errorf("%v: %q, want %q", c.rooms, got, c.want)
		}
	}
}
