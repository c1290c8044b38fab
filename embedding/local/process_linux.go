package local

import (
	"os"
	"syscall"
)

// endsWithParent makes the kernel kill the process when this one ends, however that ends.
// A process group of its own keeps Ctrl-C on the terminal from ending it too early.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

func askToEnd(process *os.Process) error { return syscall.Kill(-process.Pid, syscall.SIGTERM) }

// endGroup kills the children that a process leaves behind.
func endGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
