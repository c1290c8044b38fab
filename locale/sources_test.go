package locale

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unseen are folders whose texts no caller of the gateway reads.
var unseen = []string{
	"cmd", "config", "evaluation", "rag", "docs", "web", "internal", "engine/enginetest", "locale", // other programs, tests
	"analysis/jieba", "analysis/dictionary", "analysis/fold", "analysis/segment", "embedding/local", // read at the start
	"lib/smile", // what it says is for the log
	"testdata", "node_modules", ".git", "bin", "scripts",
}

// seenToo are files and folders of the unseen that make texts for callers.
var seenToo = []string{
	"internal/app/content.go", "internal/app/models.go", "internal/app/demo.go", "internal/app/demo/", "internal/cli/operating/doctor.go",
	"internal/cli/operating/doctor_servers.go",
	"evaluation/exchange/", "evaluation/library/", "evaluation/clicks/", "evaluation/runs/", "evaluation/metric/", "evaluation/judge/",
	"evaluation/compare.go", "rag/answer/", "config/config.go", "config/settings.go",
}

// The names by which a text for the reader is known, since every one is called so: a
// parameter or a variable, and a member of a struct.
var (
	textNames   = []string{"format", "accepted", "reason", "why", "detail"}
	textErrors  = []string{"synonyms"}                                                                        // packages whose plain errors are told too
	textAlso    = map[string]int{"Pass": 0, "Miss": 0, "Done": 1, "NewProgress": 1}                           // names of checks, outcomes
	textTags    = map[string][]string{"config": settingTags, "elastic": settingTags, "postgres": settingTags} // of members, by package
	settingTags = []string{"doc", "accept"}
	textMembers = []string{"Detail", "Reason", "WayOut", "EmptyReason", "Why", "reason", "accepted", "description", "whenToUse", "odd", "treated"}
)

// sources are the texts in the program, found by the names of what holds them.
type sources struct {
	packages map[string]*pkg // by the last part of their path
	sinks    map[string][]sink
	texts    map[string]string // format → where
}

// sink is an argument that is a text.
type sink struct {
	at       int
	isFormat bool
}

type pkg struct {
	name   string
	files  []*ast.File
	funcs  map[string][]*ast.FuncDecl
	values map[string]ast.Expr
	types  map[string]*ast.StructType
}

// readSources collects the texts of the program in a folder.
func readSources(t *testing.T, root string, isSeen func(file string) bool) map[string]string {
	t.Helper()
	s := &sources{packages: map[string]*pkg{}, sinks: map[string][]sink{}, texts: map[string]string{}}
	positions := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !isSeen(relative) {
			return nil
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(positions, relative, body, parser.SkipObjectResolution)
		if err == nil {
			s.add(path.Base(path.Dir(relative)), tree)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.packages {
		for _, file := range p.files {
			for _, declaration := range file.Decls {
				v := &visit{sources: s, pkg: p, positions: positions}
				v.function, _ = declaration.(*ast.FuncDecl)
				ast.Inspect(declaration, v.node)
			}
		}
	}
	return s.texts
}

func isSeen(file string) bool {
	if slices.ContainsFunc(seenToo, func(prefix string) bool { return strings.HasPrefix(file, prefix) }) {
		return true
	}
	return !slices.ContainsFunc(unseen, func(folder string) bool {
		return strings.HasPrefix(file, folder+"/") || strings.Contains(file, "/"+folder+"/")
	})
}

// add notes what a file declares.
func (s *sources) add(name string, tree *ast.File) {
	p := s.packages[name]
	if p == nil {
		p = &pkg{
			name: name, funcs: map[string][]*ast.FuncDecl{}, values: map[string]ast.Expr{}, types: map[string]*ast.StructType{},
		}
		s.packages[name] = p
	}
	p.files = append(p.files, tree)
	for _, declaration := range tree.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			p.funcs[d.Name.Name] = append(p.funcs[d.Name.Name], d)
			s.noteSink(d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				p.declare(spec)
			}
		}
	}
}

func (p *pkg) declare(spec ast.Spec) {
	switch d := spec.(type) {
	case *ast.ValueSpec:
		for i, value := range d.Values {
			p.values[d.Names[i].Name] = value
		}
	case *ast.TypeSpec:
		if of, ok := d.Type.(*ast.StructType); ok {
			p.types[d.Name.Name] = of
		}
	}
}

// noteSink notes which arguments of a function are texts.
func (s *sources) noteSink(d *ast.FuncDecl) {
	at := 0
	for _, field := range d.Type.Params.List {
		for _, name := range field.Names {
			if kind, ok := field.Type.(*ast.Ident); ok && kind.Name == "string" && slices.Contains(textNames, name.Name) {
				s.sinks[d.Name.Name] = append(s.sinks[d.Name.Name], sink{at, name.Name == "format"})
			}
			at++
		}
	}
}

// visit looks through one declaration.
type visit struct {
	*sources
	pkg       *pkg
	positions *token.FileSet
	function  *ast.FuncDecl
	given     map[string][]string // what the function was called with
	depth     int
}

func (v *visit) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		v.call(n)
	case *ast.CompositeLit:
		v.literal(n)
	case *ast.AssignStmt:
		v.assignment(n)
	case *ast.ReturnStmt:
		v.result(n)
	case *ast.StructType:
		v.tags(n)
	}
	return true
}

// tags keeps what a package says of its members to whoever reads their values.
func (v *visit) tags(s *ast.StructType) {
	for _, field := range s.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			continue
		}
		for _, name := range textTags[v.pkg.name] {
			if text := reflect.StructTag(tag).Get(name); text != "" {
				v.texts[strings.ReplaceAll(text, "%", "%%")] = v.positions.Position(field.Pos()).String()
			}
		}
	}
}

// call keeps the texts that a function is given. What is internal is never shown.
func (v *visit) call(c *ast.CallExpr) {
	if slices.Contains(textErrors, v.pkg.name) && (qualified(c.Fun, "errors") == "New" || qualified(c.Fun, "fmt") == "Errorf") {
		v.keep(c, false)
	}
	if len(c.Args) == 0 || isInternal(c.Args[0]) || qualified(c.Fun, "fmt") != "" {
		return
	}
	if at, ok := textAlso[calledName(c.Fun)]; ok && at < len(c.Args) {
		v.keep(c.Args[at], false)
	}
	for _, s := range v.sinks[calledName(c.Fun)] {
		if s.at < len(c.Args) {
			v.keep(c.Args[s.at], s.isFormat)
			for _, value := range c.Args[s.at+1:] {
				v.keepSentences(value)
			}
		}
	}
}

// literal keeps the members of a struct that are texts, named or by their place.
func (v *visit) literal(l *ast.CompositeLit) {
	of := v.structOf(l.Type)
	if list, ok := l.Type.(*ast.ArrayType); ok && v.structOf(list.Elt) != nil {
		for _, element := range l.Elts {
			if inner, ok := element.(*ast.CompositeLit); ok && inner.Type == nil {
				v.members(inner, v.structOf(list.Elt))
			}
		}
	}
	v.members(l, of)
}

func (v *visit) structOf(kind ast.Expr) *ast.StructType {
	switch kind := kind.(type) {
	case *ast.StructType:
		return kind
	case *ast.Ident:
		return v.pkg.types[kind.Name]
	}
	return nil
}

func (v *visit) members(l *ast.CompositeLit, of *ast.StructType) {
	var names []string
	if of != nil {
		for _, field := range of.Fields.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
	}
	for i, element := range l.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && slices.Contains(textMembers, key.Name) {
				v.keep(pair.Value, false)
			}
		} else if i < len(names) && slices.Contains(textMembers, names[i]) {
			v.keep(element, false)
		}
	}
}

// result keeps what a function returns under the name of a text.
func (v *visit) result(r *ast.ReturnStmt) {
	if v.function == nil || v.function.Type.Results == nil {
		return
	}
	at := 0
	for _, field := range v.function.Type.Results.List {
		for _, name := range field.Names {
			if at < len(r.Results) && slices.Contains(textNames, name.Name) {
				v.keep(r.Results[at], false)
			}
			at++
		}
	}
}

func (v *visit) assignment(a *ast.AssignStmt) {
	for i, to := range a.Lhs {
		if len(a.Rhs) != len(a.Lhs) {
			return
		}
		switch to := to.(type) {
		case *ast.IndexExpr:
			if text, ok := a.Rhs[i].(*ast.BasicLit); ok && calledName(to.X) == "Details" {
				v.keep(text, false)
			}
		case *ast.SelectorExpr:
			if slices.Contains(textMembers, to.Sel.Name) {
				v.keep(a.Rhs[i], false)
			}
		case *ast.Ident:
			if slices.Contains(textNames, to.Name) {
				v.keep(a.Rhs[i], false)
			}
		}
	}
}

// value stands for what is known only when the program runs.
const value = "%s"

// keep notes the formats that an expression may be. isFormat says that % in its
// letters is a verb.
func (v *visit) keep(e ast.Expr, isFormat bool) {
	for _, format := range v.formats(e, isFormat) {
		v.texts[format] = v.positions.Position(e.Pos()).String()
	}
}

// keepSentences notes what a value of a format is when it is a text of its own.
func (v *visit) keepSentences(e ast.Expr) {
	for _, format := range v.formats(e, false) {
		if hasWords(format) && strings.Contains(format, " ") {
			v.texts[format] = v.positions.Position(e.Pos()).String()
		}
	}
}

// words tells texts from what only joins values.
var words = regexp.MustCompile(`[A-Za-z]{2}`)

func hasWords(format string) bool { return words.MatchString(verb.ReplaceAllString(format, "")) }

// formats gives what a text may be: the formats of all its forms.
func (v *visit) formats(e ast.Expr, isFormat bool) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil || e.Kind != token.STRING {
			return []string{value}
		}
		if !isFormat {
			text = strings.ReplaceAll(text, "%", "%%")
		}
		return []string{text}
	case *ast.BinaryExpr:
		var all []string
		for _, left := range v.formats(e.X, isFormat) {
			for _, right := range v.formats(e.Y, isFormat) {
				all = append(all, left+right)
			}
		}
		return all
	case *ast.ParenExpr:
		return v.formats(e.X, isFormat)
	case *ast.CallExpr:
		return v.results(e)
	case *ast.Ident:
		return v.named(e.Name, isFormat)
	case *ast.SelectorExpr:
		if of, ok := e.X.(*ast.Ident); ok && v.packages[of.Name] != nil {
			if constant := v.packages[of.Name].values[e.Sel.Name]; constant != nil {
				return v.in(v.packages[of.Name], nil).formats(constant, isFormat)
			}
		}
	}
	return []string{value}
}

// in is a look at another declaration.
func (v *visit) in(p *pkg, function *ast.FuncDecl) *visit {
	return &visit{sources: v.sources, pkg: p, positions: v.positions, function: function, depth: v.depth + 1}
}

// named gives what a constant is, or a variable of the function.
func (v *visit) named(name string, isFormat bool) []string {
	if constant := v.pkg.values[name]; constant != nil {
		return v.in(v.pkg, nil).formats(constant, isFormat)
	}
	if given := v.given[name]; given != nil {
		return given
	}
	if v.function == nil || v.depth > 4 {
		return []string{value}
	}
	var all []string
	ast.Inspect(v.function, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, to := range a.Lhs {
				if to, ok := to.(*ast.Ident); ok && to.Name == name {
					all = append(all, v.in(v.pkg, v.function).formats(a.Rhs[i], isFormat)...)
				}
			}
		}
		return true
	})
	if len(all) == 0 {
		return []string{value}
	}
	return all
}

// results gives what a call may answer: of Sprintf its format, of a function of ours
// what it returns.
func (v *visit) results(c *ast.CallExpr) []string {
	if name := qualified(c.Fun, "fmt"); name == "Sprintf" || name == "Errorf" {
		for _, argument := range c.Args[1:] {
			v.keepSentences(argument)
		}
		return v.formats(c.Args[0], true)
	}
	if qualified(c.Fun, "strings") == "Join" {
		v.keepAppended(c.Args[0])
		return []string{value}
	}
	if qualified(c.Fun, "errors") == "New" {
		return v.formats(c.Args[0], false)
	}
	home, name := v.pkg, calledName(c.Fun)
	if selector, ok := c.Fun.(*ast.SelectorExpr); ok {
		if of, ok := selector.X.(*ast.Ident); ok && v.packages[of.Name] != nil {
			home = v.packages[of.Name]
		}
	}
	var all []string
	for _, function := range home.funcs[name] {
		if v.depth < 4 && returnsText(function) {
			inside := v.in(home, function)
			inside.given = v.arguments(function, c)
			all = append(all, inside.returned()...)
		}
	}
	if len(all) == 0 {
		return []string{value}
	}
	return all
}

// keepAppended notes the texts in a list that is joined.
func (v *visit) keepAppended(list ast.Expr) {
	name, ok := list.(*ast.Ident)
	if !ok || v.function == nil {
		return
	}
	ast.Inspect(v.function, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && calledName(c.Fun) == "append" && calledName(c.Args[0]) == name.Name {
			for _, element := range c.Args[1:] {
				v.keep(element, false)
			}
		}
		return true
	})
}

// arguments gives what the parameters of a function are in a call.
func (v *visit) arguments(f *ast.FuncDecl, c *ast.CallExpr) map[string][]string {
	given, at := map[string][]string{}, 0
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if at < len(c.Args) {
				given[name.Name] = v.formats(c.Args[at], false)
			}
			at++
		}
	}
	return given
}

func returnsText(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 || f.Body == nil {
		return false
	}
	kind, ok := f.Type.Results.List[0].Type.(*ast.Ident)
	return ok && kind.Name == "string"
}

func (v *visit) returned() []string {
	var all []string
	ast.Inspect(v.function.Body, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner {
			return false
		}
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			all = append(all, v.formats(r.Results[0], false)...)
		}
		return true
	})
	return all
}

func calledName(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// qualified gives the name of a function of the package, "" for any other.
func qualified(f ast.Expr, of string) string {
	if selector, ok := f.(*ast.SelectorExpr); ok {
		if name, ok := selector.X.(*ast.Ident); ok && name.Name == of {
			return selector.Sel.Name
		}
	}
	return ""
}

func isInternal(e ast.Expr) bool {
	return qualified(e, "fault") == "Internal"
}
