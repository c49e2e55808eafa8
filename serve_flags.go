package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"holdfast/cli"
)

// serveFlags is the command line of serve.
type serveFlags struct {
	store    string
	listen   *net.TCPAddr
	chosen   bool     // listen was given
	insecure bool     // whoever reaches it need not encrypt
	hosts    []string // lower-case
	cert     string   // file names, both or neither
	key      string
	keep     byteSize
	idle     time.Duration
	level    slog.Level
	resume   string
	latest   bool // resume the newest session
	most     int  // interrupted sessions to resume at the start
	argv     []string
}

func parseServe(args []string, stdout io.Writer) (*serveFlags, error) {
	f := &serveFlags{keep: cli.KeepDefault}
	var listen string
	var alone bool
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	fs.StringVar(&f.store, "store", "", "the `folder` of the sessions; "+cli.StoreDefault)
	fs.StringVar(&listen, "listen", "127.0.0.1:7070", "`address` and port to listen on; port 0 takes a free one")
	fs.Func("allow-host", "another host `name` that clients use; may be given more than once", func(v string) error {
		f.hosts = append(f.hosts, hostName(v))
		return nil
	})
	fs.BoolVar(&f.insecure, "insecure-http", false, "listen beyond this machine without encryption")
	fs.StringVar(&f.cert, "tls-cert", "", "PEM `file` with the certificate chain")
	fs.StringVar(&f.key, "tls-key", "", "PEM `file` with the certificate's key")
	fs.Var(&f.keep, "keep-output", "output to keep of a session, a `size` such as 1GiB; 0 keeps all")
	fs.DurationVar(&f.idle, "idle-after", 30*time.Second, "quiet `time` after which a session counts as idle")
	logLevel(fs, &f.level)
	fs.StringVar(&f.resume, "resume", "", "a `session` to resume and bind at the start")
	fs.BoolVar(&f.latest, "continue", false, "resume and bind the newest session that nobody has at the start: of this folder, or else of all")
	fs.BoolVar(&alone, "no-auto-resume", false, "leave sessions that the last end of the server interrupted as they are")
	fs.IntVar(&f.most, "auto-resume-max", 100, "the `number` of interrupted sessions to resume at most, the newest first")
	argv, err := cli.ParseFlags(fs, args, "holdfast serve [flags] [-- program arguments...]", stdout)
	if err != nil {
		return nil, err
	}
	fs.Visit(func(given *flag.Flag) { f.chosen = f.chosen || given.Name == "listen" })
	f.argv = argv
	if alone {
		f.most = 0
	}
	if f.store, err = cli.StoreDir(f.store); err != nil {
		return nil, err
	}
	if listen != "" && strings.Trim(listen, "0123456789") == "" {
		return nil, cli.Usage(fmt.Sprintf("--listen %.64q has no address", listen), fmt.Sprintf("did you mean 127.0.0.1:%.64s?", listen))
	}
	f.listen, err = net.ResolveTCPAddr("tcp", listen)
	if err != nil {
		return nil, cli.Usage(fmt.Sprintf("--listen %q: %v", listen, err), "it must be like 127.0.0.1:7070")
	}
	name, _, _ := net.SplitHostPort(listen)
	if _, err := netip.ParseAddr(name); err != nil && name != "" {
		f.hosts = append(f.hosts, hostName(name)) // who listens by a name uses it
	}
	return f, f.check()
}

// check refuses what contradicts itself, and an open door.
func (f *serveFlags) check() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return cli.Usage("--tls-cert and --tls-key belong together", "give both")
	case f.resume != "" && len(f.argv) > 0:
		return cli.Usage("--resume and a program exclude each other", "give one of them")
	case f.latest && len(f.argv) > 0:
		return cli.Usage("--continue and a program exclude each other", "give one of them")
	case f.latest && f.resume != "":
		return cli.Usage("--continue and --resume exclude each other", "give one of them")
	case f.idle <= 0:
		return cli.Usage(fmt.Sprintf("--idle-after %s is not a time to wait", f.idle), "give one such as 30s")
	case f.most < 0:
		return cli.Usage(fmt.Sprintf("--auto-resume-max %d is no number of sessions", f.most), "give 0 or more, or --no-auto-resume")
	case f.listen.IP.IsLoopback() || f.cert != "" || f.insecure:
		return nil
	}
	return cli.Usage(
		fmt.Sprintf("--listen %s can be reached from other machines, and anyone who reads the traffic can run programs", f.listen),
		"give --tls-cert and --tls-key, or --insecure-http if something else encrypts it",
	)
}

// logLevel adds the flag of commands that log.
func logLevel(fs *flag.FlagSet, level *slog.Level) {
	fs.TextVar(level, "log-level", slog.LevelInfo, "how much to log, a `level`: debug, info, warn or error")
	fs.Lookup("log-level").DefValue = "info" // as it is given
}
