// Package compose has the test of docker-compose.yml, which no engine of this
// project's tests runs.
package compose
