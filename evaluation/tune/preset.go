package tune

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// members returns the variant's settings as in JSON and the configuration.
func (v *Variant) members() map[string]any {
	text, err := json.Marshal(v.Overrides)
	if err != nil {
		return nil // numbers are finite: no request says others
	}
	all := map[string]any{}
	if json.Unmarshal(text, &all) != nil {
		return nil // as above
	}
	for name, value := range all {
		if group, is := value.(map[string]any); is && len(group) == 0 {
			delete(all, name)
		}
	}
	return all
}

// MarshalJSON leaves out what the variant does not say.
func (v Variant) MarshalJSON() ([]byte, error) {
	members := v.members()
	members["preset"] = v.Preset
	return json.Marshal(members)
}

// settings are the members on one line.
func (v *Variant) settings() string {
	text, err := json.Marshal(v.members()) // keys in alphabetical order
	if err != nil {
		return ""
	}
	return string(text)
}

// String tells the variant on one line.
func (v Variant) String() string {
	said := v.settings()
	if said == "{}" {
		return v.Preset
	}
	return v.Preset + " " + said
}

// Written is a preset as the configuration has it: a variant of a built-in one, and what a variant does not say.
type Written struct {
	Variant
	TopK      *int
	WeightsBy *search.WeightModel
}

// WritePreset gives a preset of the configuration, below lines that say where it comes from. What is written is Best;
// where that changes a preset of the configuration it is the built-in one with what both say.
func (r *Result) WritePreset(name string, written Written) (string, error) {
	var b bytes.Buffer
	for _, line := range r.provenance() {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	members := written.members()
	members["base"] = written.Preset
	if written.TopK != nil {
		members["top_k"] = *written.TopK
	}
	if by := written.WeightsBy; by != nil {
		members["weights_by"] = by
	}
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(map[string]any{"presets": map[string]any{name: members}}); err != nil {
		return "", fault.Wrap(fault.Internal, err, "write preset %s", name)
	}
	return b.String(), nil
}

// provenance says what a preset was made of.
func (r *Result) provenance() []string {
	var sets []string
	for i := range r.Sets {
		sets = append(sets, r.Sets[i].Set)
	}
	lines := []string{
		fmt.Sprintf("Tuned on %s from %s by %s of %d hits, %s, over %d questions of %s.",
			r.Date.Format("2006-01-02"), r.Preset, r.Metric, r.Hits, r.Method, r.Questions, strings.Join(sets, ", ")),
		fmt.Sprintf("On unseen questions: %.4f, was %.4f, %s, p %.4f, %d folds.",
			r.Unseen, r.Start, interval(&r.Gain), r.P, len(r.Folds)),
	}
	for i := range r.Sets {
		if s := &r.Sets[i]; s.Digest != "" {
			lines = append(lines, fmt.Sprintf("Questions and judgments of %s: sha256 %s", s.Set, s.Digest))
		}
	}
	return lines
}
