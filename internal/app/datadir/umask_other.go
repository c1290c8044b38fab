//go:build !unix

package datadir

// KeepPrivate has nothing to do where files have no mode.
func KeepPrivate() {}
