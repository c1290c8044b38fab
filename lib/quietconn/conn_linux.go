package quietconn

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// Wrap gives the connection with reads and writes of its own. It is safe for concurrent
// use, as the connection is.
func Wrap(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c // it is closed, and says so itself
	}
	q := &conn{TCPConn: tcp}
	q.in.be("read", raw.Read, read)
	q.out.be("write", raw.Write, write)
	return q
}

type conn struct {
	*net.TCPConn
	in, out direction
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	n, err := c.in.move(b)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (written int, err error) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	for written < len(b) && err == nil {
		var n int
		n, err = c.out.move(b[written:])
		written += n
	}
	return written, err
}

// direction is one of the two that bytes move in.
type direction struct {
	name string
	wait func(try func(fd uintptr) (done bool)) error // of the standard library, until it may go on
	call func(fd uintptr, bytes []byte) (n int, errno syscall.Errno)
	once func(fd uintptr) (done bool) // try, made once: it would be garbage of every call

	mu    sync.Mutex // of the following
	bytes []byte
	moved int
	errno syscall.Errno
}

func (d *direction) be(
	name string, wait func(func(uintptr) bool) error, call func(uintptr, []byte) (int, syscall.Errno),
) {
	d.name, d.wait, d.call, d.once = name, wait, call, d.try
}

// move reads into the bytes or writes some of them; there is at least one.
func (d *direction) move(bytes []byte) (int, error) {
	d.bytes, d.moved, d.errno = bytes, 0, 0
	err := d.wait(d.once)
	d.bytes = nil
	if err == nil && d.errno != 0 {
		err = &net.OpError{Op: d.name, Net: "tcp", Err: os.NewSyscallError(d.name, d.errno)}
	}
	return d.moved, err
}

// try makes the system call; it is not done when that would have to wait.
func (d *direction) try(fd uintptr) (done bool) {
	d.errno = syscall.EINTR
	for d.errno == syscall.EINTR {
		d.moved, d.errno = d.call(fd, d.bytes)
	}
	return d.errno != syscall.EAGAIN
}

func read(fd uintptr, into []byte) (int, syscall.Errno) {
	n, errno := transfer(syscall.SYS_READ, fd, into)
	if errno == 0 {
		afterReading(fd)
	}
	return n, errno
}

func write(fd uintptr, bytes []byte) (int, syscall.Errno) {
	beforeWriting(fd)
	return transfer(syscall.SYS_WRITE, fd, bytes)
}

// transfer makes a system call that moves bytes.
func transfer(call, fd uintptr, bytes []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&bytes[0])), uintptr(len(bytes)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
