// Package config holds every setting in one typed struct. Values come from the defaults, a
// YAML file, the environment (HYBRIDGE_…) and the command line; later ones override earlier
// ones. An unknown key or variable, or an invalid value, is an error that names
// it and the accepted values.
//
// The tags of the struct are the single source of the variables' names, the flags, the
// error messages and docs/configuration.md.
package config
