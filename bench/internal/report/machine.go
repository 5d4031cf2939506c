package report

import (
	"bufio"
	"os"
	"runtime"
	"strings"
)

// Machine is where a run was made.
type Machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	OS    string `json:"os"`
}

// ThisMachine describes the machine of this process.
func ThisMachine() Machine {
	return Machine{CPU: cpuModel("/proc/cpuinfo"), Cores: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH}
}

// cpuModel reads the model's name. Only Linux has the file.
func cpuModel(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return "unknown processor"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
