//go:build !unix

package cli

func (f *front) watchSignals() (stop func()) { return func() {} }

func (f *front) suspend() {}

func signalNumber(string) int { return 0 }

// GuardWord is no command here.
const GuardWord = ""

// Guard does nothing.
func Guard() {}

type guard struct{}

func startGuard(*tty) *guard { return nil }

func (*guard) arm() {}

func (*guard) dismiss() {}

// unstopped changes the mode of the terminal. Nobody is stopped for that here.
func unstopped(change func()) { change() }
