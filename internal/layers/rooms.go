package layers

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/topo"
)

// Bounds of a package. Whoever opens one has to find a line by the names of its files: well-kept Go packages have 6
// (go-cloud) to 34 files (bleve), of which 3 (zoekt's query) to 15 (bleve's scorch) need each other.
const (
	mostFiles  = 30
	mostCircle = 12
)

// room is a package as far as its bounds go.
type room struct {
	files  int // without tests
	circle int // the most files of which each needs, by way of others, each; 0: no two do, or there are few files
}

// within reports what exceeds the bounds.
func (r room) within() bool { return r.files <= mostFiles && r.circle <= mostCircle }

// roomComplaints compares the packages that exceed the bounds with the table of those that may, each as far as it does
// already: what has become smaller has to be entered.
func roomComplaints(rooms, exceptions map[string]room) []string {
	var found []string
	for folder, r := range rooms {
		known, excepted := exceptions[folder]
		switch {
		case excepted && r.within():
			found = append(found, fmt.Sprintf("%s is within the bounds (%+v); remove its exception", folder, r))
		case excepted && (r.files > max(mostFiles, known.files) || r.circle > max(mostCircle, known.circle)):
			found = append(found, fmt.Sprintf("%s has grown to %+v from %+v; an exception only shrinks", folder, r, known))
		case excepted && (known.files > max(mostFiles, r.files) || known.circle > max(mostCircle, r.circle)):
			found = append(found, fmt.Sprintf("%s has shrunk to %+v; write that in place of %+v", folder, r, known))
		case !excepted && !r.within():
			found = append(found, fmt.Sprintf("%s has %+v; want at most %d files and a circle of %d",
				folder, r, mostFiles, mostCircle))
		}
	}
	for folder := range exceptions {
		if _, there := rooms[folder]; !there {
			found = append(found, folder+" is excepted from the bounds and is not there")
		}
	}
	slices.Sort(found)
	return found
}

// checker reads packages by the export data of what they import.
type checker struct {
	root    string
	exports map[string]string // files of export data by import path
}

// read measures the package of a folder; it type-checks one that is large enough for a circle.
func (c *checker) read(folder string) (room, error) {
	names, err := filepath.Glob(filepath.Join(c.root, filepath.FromSlash(folder), "*.go"))
	if err != nil {
		return room{}, err
	}
	positions := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if (file{name: name}).isTest() {
			continue
		}
		parsed, err := parser.ParseFile(positions, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return room{}, err
		}
		files = append(files, parsed)
	}
	if len(files) <= mostCircle {
		return room{files: len(files)}, nil
	}
	config := types.Config{
		Importer: importer.ForCompiler(positions, "gc", c.export),
		Error:    func(error) {}, // files for other systems define things twice
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	checked, _ := config.Check(folder, positions, files, info) // what matters is known all the same
	return room{files: len(files), circle: circleOf(positions, checked, info)}, nil
}

func (c *checker) export(path string) (io.ReadCloser, error) { return os.Open(c.exports[path]) }

// circleOf is the size of the largest strongly connected component of the files, by what they use of each other.
func circleOf(positions *token.FileSet, checked *types.Package, info *types.Info) (largest int) {
	uses := multi.NewDirectedGraph()
	nodes := map[string]int64{}
	node := func(at token.Pos) multi.Node {
		name := positions.Position(at).Filename
		if _, known := nodes[name]; !known {
			nodes[name] = int64(len(nodes))
		}
		return multi.Node(nodes[name])
	}
	for identifier, object := range info.Uses {
		if object.Pkg() == checked && object.Pos().IsValid() {
			uses.SetLine(uses.NewLine(node(identifier.Pos()), node(object.Pos())))
		}
	}
	for _, component := range topo.TarjanSCC(uses) {
		if len(component) > 1 {
			largest = max(largest, len(component))
		}
	}
	return largest
}
