// Package config holds every setting in one typed struct. Values come from the
// defaults, a YAML file, the environment (HYBRIDGE_…) and the command line, the
// later ones over the earlier. A key or variable that does not exist and a value
// that is not accepted are errors that name it and say what is.
//
// The tags of the struct are the one source of the variables' names, the flags,
// the error messages and docs/configuration.md.
package config
