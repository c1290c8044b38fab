package content

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// documents gives the ids of all documents whose id begins so.
func (u *upload) documents(ctx context.Context, prefix string) (ids []string, err error) {
	for after, more := "", true; more; more = after != "" {
		var page chunks.Documents
		path := fmt.Sprintf("%s/documents?limit=1000&after=%s", cli.BasePath(u.wish.kb), url.QueryEscape(after))
		if err := u.client.Get(ctx, path, &page); err != nil {
			return nil, err
		}
		for i := range page.Documents {
			if id := page.Documents[i].ID; strings.HasPrefix(id, prefix) {
				ids = append(ids, id)
			}
		}
		after = page.Next
	}
	return ids, nil
}

// checkPrune refuses an empty folder, which is more often one that is not mounted.
func (u *upload) checkPrune(found *foundFiles) error {
	for i := range found.folders {
		if f := &found.folders[i]; u.wish.prune && !u.wish.yes && !f.any {
			return fault.Invalid("--prune", f.path,
				"a folder that holds a file; is this one mounted? --yes deletes all that came from it")
		}
	}
	return nil
}

// goneFile is a document whose file is gone, and the folder that it came with.
type goneFile struct{ id, folder string }

// gone gives the documents of an earlier ingest of the same folders whose file no longer
// exists. An existing file that was not sent is not gone.
func (u *upload) gone(ctx context.Context, found *foundFiles) (gone []goneFile, err error) {
	ids, err := u.documents(ctx, u.wish.selection.prefix)
	if err != nil {
		return nil, err
	}
	foreign := 0
	for _, id := range ids {
		there, err := found.has(strings.TrimPrefix(id, u.wish.selection.prefix))
		if err != nil {
			return nil, err
		}
		if there {
			continue
		}
		mark, err := u.markOf(ctx, id)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(found.folders, func(f localFolder) bool { return f.name == mark }) {
			gone = append(gone, goneFile{id, mark})
		} else {
			foreign++
		}
	}
	if foreign > 0 {
		u.program.Note("%s of no file here stay: no ingest of this folder or prefix brought them",
			cli.Counted(foreign, "document"))
	}
	return gone, nil
}

// has reports whether any of the folders has a file.
func (f *foundFiles) has(below string) (bool, error) {
	for i := range f.folders {
		if there, err := f.folders[i].has(below); there || err != nil {
			return there, err
		}
	}
	return false, nil
}

// markOf names the source of a document; empty if none was given.
func (u *upload) markOf(ctx context.Context, id string) (string, error) {
	var page chunks.DocumentChunks
	err := u.client.Get(ctx, u.documentPath(id)+"?limit=1", &page)
	if fault.Is(err, fault.NotFound) || len(page.Chunks) == 0 {
		return "", cli.Ignoring(err, fault.NotFound)
	}
	mark, _ := page.Chunks[0].Metadata[ingest.MetadataSourceFolder].(string)
	return mark, err
}

func (u *upload) documentPath(id string) string {
	return cli.BasePath(u.wish.kb) + "/documents/" + url.PathEscape(id)
}

// prune deletes documents, but for chunks that something else has brought since. One that somebody else has deleted
// is no failure.
func (u *upload) prune(ctx context.Context, gone []goneFile) error {
	for _, g := range gone {
		filter := map[string]string{engine.FieldDocumentID: g.id, ingest.MetadataSourceFolder: g.folder}
		var done chunks.Deleted
		err := u.client.Post(ctx, cli.BasePath(u.wish.kb)+"/delete", map[string]any{"filter": filter}, &done)
		if err != nil {
			return err
		}
		u.summary.Pruned = append(u.summary.Pruned, g.id)
	}
	return nil
}
