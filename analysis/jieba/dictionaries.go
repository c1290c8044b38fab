package jieba

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/yanyiwu/gojieba"

	"github.com/hybridge-search/hybridge/analysis/dictionary"
	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
	"github.com/hybridge-search/hybridge/fault"
)

// dictionaries are the words and the model that come with the program, and the user's words checked and folded.
type dictionaries struct {
	words, model, user []byte
	fingerprint        string
}

func collect(o Options, t *fold.Table) (d dictionaries, err error) {
	if o.UserDictionary != "" {
		if d.user, err = readUserWords(o.UserDictionary, t); err != nil {
			return d, err
		}
	}
	d.fingerprint = segment.Fingerprint(dictionary.WordsSum, dictionary.ModelSum, sum(d.user))
	return d, nil
}

func sum(content []byte) string {
	of := sha256.Sum256(content)
	return hex.EncodeToString(of[:])
}

// readBuiltin reads the embedded files.
func (d *dictionaries) readBuiltin() (err error) {
	if d.words, err = dictionary.Words(); err != nil {
		return err
	}
	d.model, err = dictionary.Model()
	return err
}

// lexicon reads the dictionaries into tables.
func (d dictionaries) lexicon() (*segment.Lexicon, error) {
	if err := d.readBuiltin(); err != nil {
		return nil, err
	}
	return segment.Read(segment.Source{
		Words: string(d.words), User: string(d.user), Model: string(d.model),
		Log: logarithm, Fingerprint: d.fingerprint,
	})
}

// gojieba unpacks the dictionaries into dir, unless they are there already, and has gojieba load
// them. Without a dir they are unpacked into a temporary folder.
func (d dictionaries) gojieba(dir string) (*gojieba.Jieba, error) {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "hybridge-dictionary-")
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "making a folder for the dictionaries")
		}
		defer func() { _ = os.RemoveAll(temporary) }()
		dir = temporary
	}
	target := filepath.Join(dir, d.fingerprint)
	if err := d.unpack(target); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "unpacking the dictionaries to %s", target)
	}
	file := func(i int) string { return filepath.Join(target, unpacked[i]) }
	return gojieba.NewJieba(file(0), file(1), file(2), file(3), file(4)), nil
}

// unpacked are the files that gojieba reads. A checksum over them is written last, because
// gojieba ends the process if a file is damaged.
var unpacked = []string{
	dictionary.WordsFile, dictionary.ModelFile, "user.dict.utf8", "idf.utf8", "stop_words.utf8",
}

const checksumFile = "checksum"

// unpack writes the whole folder or nothing, by renaming a temporary one. It replaces a
// damaged folder.
func (d dictionaries) unpack(target string) error {
	if intact(target) {
		return nil
	}
	if err := d.readBuiltin(); err != nil {
		return err
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
		d.words, d.model, d.user,
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
