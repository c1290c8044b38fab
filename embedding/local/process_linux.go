package local

import (
	"os"
	"syscall"
)

// endsWithParent has the kernel kill the process when this one ends, however it ends.
// The group of its own keeps a Ctrl-C on the terminal from ending it before its time.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

func askToEnd(process *os.Process) error { return syscall.Kill(-process.Pid, syscall.SIGTERM) }

// endGroup kills what an ended process leaves behind of its own children.
func endGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
