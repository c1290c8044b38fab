package guide

import (
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"
)

const contentsFile = folder + "/contents.yaml"

// listed is a part of the guide in contents.yaml.
type listed struct {
	Part  map[string]string `yaml:"part"`  // its name, by language
	Pages []string          `yaml:"pages"` // files without .md, the same in every language
}

func readContents(files fs.FS) ([]listed, error) {
	file, err := files.Open(contentsFile)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	var all []listed
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", contentsFile, err)
	}
	for i, l := range all {
		for _, code := range Languages() {
			if l.Part[code] == "" {
				return nil, fmt.Errorf("%s: part %d has no name in %q", contentsFile, i+1, code)
			}
		}
	}
	return all, nil
}
