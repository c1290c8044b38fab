package endpoint

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// Spool stores an uploaded file, or the results of a bulk request, until the body has been
// read: first in memory, then in a file without a name.
//
// Results cannot be sent while chunks come in. Most HTTP clients send the whole body before
// they read, so both sides would wait for each other once the socket buffers are full. And
// fasthttp writes a streamed answer after the handler has returned, when the body must no
// longer be read. The results of 100,000 chunks are about 6 MB, so storing them is cheap.
type Spool struct {
	Limit  int
	memory bytes.Buffer
	file   *os.File
	writer *bufio.Writer // over file
	Size   int
}

// Write implements io.Writer.
func (s *Spool) Write(p []byte) (int, error) {
	s.Size += len(p)
	if s.file == nil && s.Size <= s.Limit {
		return s.memory.Write(p)
	}
	if s.file == nil {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	return s.writer.Write(p)
}

func (s *Spool) spill() error {
	file, err := os.CreateTemp("", "hybridge-spool-*")
	if err != nil {
		return err
	}
	s.file, s.writer = file, bufio.NewWriter(file)
	// A file without a name disappears with the process, however that ends.
	if err := os.Remove(file.Name()); err != nil {
		return errors.Join(err, s.Close())
	}
	_, err = s.memory.WriteTo(s.writer)
	return err
}

// Reader returns everything that was written. Closing it closes the spool.
func (s *Spool) Reader() (io.ReadCloser, error) {
	if s.file == nil {
		return io.NopCloser(&s.memory), nil
	}
	if err := s.writer.Flush(); err != nil {
		return nil, err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return s.file, nil
}

// Close discards what was written.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
