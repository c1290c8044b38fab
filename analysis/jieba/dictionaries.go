package jieba

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/yanyiwu/gojieba"

	"github.com/hybridge-search/hybridge/analysis/dictionary"
	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
	"github.com/hybridge-search/hybridge/fault"
)

// dictionaries are the raw files, and the user's words checked and folded.
type dictionaries struct {
	words, model, user []byte
	fingerprint        string
}

// builtin holds the checksums of the embedded files once they are known, as unpacking them
// takes a tenth of a second.
var builtin atomic.Pointer[[2][sha256.Size]byte]

func collect(o Options, t *fold.Table) (d dictionaries, err error) {
	sums := builtin.Load()
	if sums == nil {
		if err := d.readBuiltin(); err != nil {
			return d, err
		}
		sums = &[2][sha256.Size]byte{sha256.Sum256(d.words), sha256.Sum256(d.model)}
		builtin.Store(sums)
	}
	if o.UserDictionary != "" {
		if d.user, err = readUserWords(o.UserDictionary, t); err != nil {
			return d, err
		}
	}
	d.fingerprint = segment.Fingerprint(sums[0], sums[1], sha256.Sum256(d.user))
	return d, nil
}

// readBuiltin reads the embedded files, unless it has already.
func (d *dictionaries) readBuiltin() (err error) {
	if d.words != nil {
		return nil
	}
	if d.words, err = dictionary.Words(); err != nil {
		return err
	}
	d.model, err = dictionary.Model()
	return err
}

// load unpacks the dictionaries into dir, unless they are there already, and loads them
// into gojieba and a lexicon at the same time. Without a dir they are unpacked into a
// temporary folder.
func (d *dictionaries) load(dir string, t *fold.Table) (*Segmenter, error) {
	if err := d.readBuiltin(); err != nil {
		return nil, err
	}
	if strings.ContainsAny(dir, "|;") {
		return nil, fault.Invalid("data_dir", dir, "a path without | and ;, which gojieba reads as a list of paths")
	}
	if dir == "" {
		temporary, err := os.MkdirTemp("", "hybridge-dictionary-")
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "making a folder for the dictionaries")
		}
		defer func() { _ = os.RemoveAll(temporary) }()
		dir = temporary
	}
	target := filepath.Join(dir, d.fingerprint)
	if err := d.unpack(target, t); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "unpacking the dictionaries to %s", target)
	}
	file := func(name string) string { return filepath.Join(target, name) }
	words, err := os.ReadFile(file(dictionary.WordsFile))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "reading the dictionaries in %s", target)
	}
	made := &Segmenter{fingerprint: d.fingerprint}
	var loading sync.WaitGroup
	loading.Go(func() {
		made.jieba = gojieba.NewJieba(file(dictionary.WordsFile), file(dictionary.ModelFile),
			file(unpacked[2]), file(unpacked[3]), file(unpacked[4]))
	})
	made.lexicon, err = segment.Read(segment.Source{
		Words: string(words), User: string(d.user), Model: string(d.model),
		Log: logarithm, Fingerprint: d.fingerprint,
	})
	loading.Wait()
	if err != nil {
		return nil, err
	}
	return made, nil
}

// unpacked are the files that gojieba reads. A checksum over them is written last, because
// gojieba ends the process if a file is damaged.
var unpacked = []string{
	dictionary.WordsFile, dictionary.ModelFile, "user.dict.utf8", "idf.utf8", "stop_words.utf8",
}

const checksumFile = "checksum"

// unpack writes the whole folder or nothing, by renaming a temporary one. It replaces a
// damaged folder.
func (d *dictionaries) unpack(target string, t *fold.Table) error {
	if intact(target) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(target), ".unpacking-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	contents := [][]byte{
		foldWords(d.words, t), d.model, d.user,
		// gojieba's keyword extractor, which is not used, needs at least one line.
		[]byte("的 1.0\n"), []byte("的\n"),
	}
	for i, name := range unpacked {
		if err := os.WriteFile(filepath.Join(temporary, name), contents[i], 0o600); err != nil {
			return err
		}
	}
	sum, err := checksum(temporary)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temporary, checksumFile), []byte(sum), 0o600); err != nil {
		return err
	}
	if intact(target) {
		return nil // another process was faster
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.Rename(temporary, target); err != nil && !intact(target) {
		return err
	}
	return nil
}

func intact(target string) bool {
	want, err := os.ReadFile(filepath.Join(target, checksumFile))
	if err != nil {
		return false
	}
	got, err := checksum(target)
	return err == nil && got == string(want)
}

func checksum(dir string) (string, error) {
	h := sha256.New()
	for _, name := range unpacked {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		h.Write([]byte(name + " " + strconv.Itoa(len(content)) + "\n"))
		h.Write(content)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// foldWords folds the word list as texts are folded, so that every entry can match. Of two
// entries that fold to the same word the more frequent counts. ASCII entries are left out,
// as the dictionary does not cut Latin words.
func foldWords(raw []byte, t *fold.Table) []byte {
	var lines bytes.Buffer
	lines.Grow(len(raw))
	best := map[string]float64{}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		entry := t.String(fields[0])
		frequency, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || frequency <= 0 || entry == "" || fold.IsASCII(entry) || frequency <= best[entry] {
			continue
		}
		best[entry] = frequency
		lines.WriteString(entry + " " + fields[1] + " " + fields[2] + "\n") // a later line replaces an earlier one
	}
	return lines.Bytes()
}

// readUserWords checks and folds a user dictionary with lines of `word [frequency] [tag]`
// and # comments. gojieba would end the process on a bad line.
func readUserWords(path string, t *fold.Table) ([]byte, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "reading the user dictionary %s", path)
	}
	defer func() { _ = file.Close() }()
	out := []byte{}
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		entry, err := userWord(line, t)
		if err != nil {
			err.Detail = fmt.Sprintf("line %d of the user dictionary %s: %s", number, path, err.Detail)
			return nil, err
		}
		out = append(out, entry...)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "reading the user dictionary %s", path)
	}
	return out, nil
}

func userWord(line string, t *fold.Table) (string, *fault.Error) {
	const accepted = "`word [frequency] [tag]`, the frequency a whole number of at least 1"
	fields := strings.Fields(line)
	entry := t.String(fields[0])
	tag := "x"
	switch {
	case len(fields) > 3, strings.ContainsAny(entry, " \x00\ufffd"), entry == "":
		return "", fault.Invalid("user_dictionary", line, accepted)
	case len(fields) == 1:
		return entry + " " + tag + "\n", nil
	}
	frequency, err := strconv.ParseUint(fields[1], 10, 31)
	switch {
	case err != nil && len(fields) == 2:
		return entry + " " + fields[1] + "\n", nil // word and tag
	case err != nil || frequency == 0:
		return "", fault.Invalid("user_dictionary", line, accepted)
	case len(fields) == 3:
		tag = fields[2]
	}
	return fmt.Sprintf("%s %d %s\n", entry, frequency, tag), nil
}
