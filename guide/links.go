package guide

import (
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// addressOf is where a file is served: a page of the guide at /guide/en/NAME, the reference
// at /guide/reference/NAME, in other languages at /guide/reference/zh/NAME, everything else under its name.
func addressOf(file string) string {
	file = strings.TrimSuffix(file, ".md")
	if within, ok := strings.CutPrefix(file, folder+"/"); ok {
		return Root + within
	}
	if name, code, ok := strings.Cut(file, "."); ok && languageOf(file+".md") == code {
		return Root + "reference/" + code + "/" + name
	}
	return Root + "reference/" + file
}

// lead is the address that a link of a file leads to. Links lead to files, as in a repository;
// files that are not served have no address.
func (g *Guide) lead(from, to string) (address string, ok bool) {
	link, err := url.Parse(to)
	if err != nil {
		return "", false
	}
	if link.IsAbs() || link.Path == "" {
		return to, true
	}
	file := path.Join(path.Dir(from), link.Path)
	if g.sources[file] == nil {
		return "", false
	}
	address = addressOf(file)
	if link.Fragment != "" {
		address += "#" + link.EscapedFragment()
	}
	return address, true
}

// relink makes links and pictures of a file lead to what is served. Others become the text that
// they show.
func (g *Guide) relink(file string, root ast.Node, source []byte) {
	var found []ast.Node
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && (n.Kind() == ast.KindLink || n.Kind() == ast.KindImage) {
			found = append(found, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range found {
		var to *[]byte
		switch n := n.(type) {
		case *ast.Link:
			to = &n.Destination
		case *ast.Image:
			to = &n.Destination
		}
		address, ok := g.lead(file, string(*to))
		if !ok {
			n.Parent().ReplaceChild(n.Parent(), n, ast.NewString([]byte(plain(n, source))))
			continue
		}
		*to = []byte(address)
	}
}
