package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"

	"holdfast/session"
)

// serveFloor is a server in a process of its own that does what ours must do
// at least. It prints its URL.
//
//	POST /key           reads the body, answers a receipt
//	GET /file?path=P    a file as an event stream, encoded as ours
//	GET /page?size=N    N bytes from memory
//
// What comes by the socket goes back as it is.
func serveFloor(socket string) {
	echo, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 1024)
				for {
					n, err := conn.Read(buf)
					if err != nil {
						return
					}
					conn.Write(buf[:n])
				}
			}()
		}
	}()
	pages := make(map[string][]byte) // one request at a time
	mux := http.NewServeMux()
	mux.HandleFunc("POST /key", func(w http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"written":1,"cursor":12345}`+"\n")
	})
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) { floorEvents(w, r.FormValue("path")) })
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, r *http.Request) {
		size := r.FormValue("size")
		if pages[size] == nil {
			n, _ := strconv.Atoi(size)
			pages[size] = make([]byte, n)
		}
		w.Write(pages[size])
	})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", tcp.Addr())
	http.Serve(tcp, mux)
}

// floorEvents sends a file as a session's stream would be sent.
func floorEvents(w http.ResponseWriter, path string) {
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	ctl := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	ev := session.Event{Kind: session.KindOutput, ID: "00000000-0000-4000-8000-000000000000"}
	var frame []byte
	for {
		n, err := f.Read(buf)
		if err != nil {
			return
		}
		ev.Data, ev.Cursor = buf[:n], ev.Cursor+int64(n)
		frame, _ = appendFrame(frame[:0], &ev)
		w.Write(frame)
		ctl.Flush()
	}
}
