// One event stream, followed with a cursor: every byte of a session's log is
// handed on exactly once, in order, over any number of connections.
//
// An EventSource repeats a connection that was cut by itself, with the last id
// that it saw. Any other failure closes it for good: then, and after a silence,
// a hidden tab or a full terminal, this module makes a new one and says itself
// where to go on.

const silence = 25_000; // ms; the server sends a ping every 10 s
const firstDelay = 500; // ms before the first new try, doubled up to maxDelay
const maxDelay = 10_000;

const encoder = new TextEncoder();

function decodeBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

/**
 * A Stream follows one session, or only the store's changes. Its phase is
 * 'closed', 'waiting' (for the next try, or while asleep or full),
 * 'connecting', 'replaying' (what was there when it connected), or 'live'.
 *
 * Handlers: bytes(bytes, cursor), gap(from, to), resize(cols, rows), run()
 * where another run of the program begins, perhaps told again, session(view), sessions(change), end(state), phase(name), lost() when a
 * connection failed or is given up, other than for a full terminal, and
 * check(): a promise that must be kept before a failed stream is tried again;
 * it is rejected to try later, and kept with false to give up.
 */
export class Stream {
  #on;
  #url;
  #source = null;
  #id = null;
  #from = null; // where it was told to begin, until there is a cursor
  #first = null; // the first byte that was handed on; null: nothing yet
  #cursor = null; // every byte from there to here was handed on; null: nothing yet
  #end = null; // the log's end when this connection was made; null: not known
  #phase = 'closed';
  #failures = 0;
  #heard = 0; // ms, when the last event came
  #retry = 0; // timer
  #asleep = false; // no connection wanted: hidden
  #full = false; // no connection wanted: the reader is behind

  constructor(url, handlers) {
    this.#url = url;
    this.#on = handlers;
    setInterval(() => this.#watch(), 1000);
  }

  get phase() {
    return this.#phase;
  }

  get cursor() {
    return this.#cursor;
  }

  /** The cursor of the first byte that was handed on; null: nothing yet. */
  get first() {
    return this.#first;
  }

  /**
   * Follows a session; null: none. It begins as from says, in the words of the
   * server, or else with the server's choice of a tail.
   */
  follow(id, from = null) {
    this.#id = id;
    this.#from = from;
    this.#first = this.#cursor = null;
    this.#failures = 0;
    this.#full = false;
    this.#open();
  }

  /** Closes the stream until the next follow. */
  close() {
    this.#drop('closed');
  }

  /** While asleep there is no connection; the cursor stays. */
  set asleep(asleep) {
    this.#asleep = asleep;
    if (asleep) {
      this.#on.lost();
    }
    this.#want();
  }

  /** While full there is no connection: the log on the server is the buffer. */
  set full(full) {
    if (full !== this.#full) {
      this.#full = full;
      this.#want();
    }
  }

  /** Tries at once, whatever the backoff says, unless a stream is open. */
  hurry() {
    if (this.#phase === 'waiting') {
      this.#failures = 0;
      this.#open();
    }
  }

  /** Makes a new connection now: the old one may be dead without saying so. */
  reopen() {
    if (this.#phase !== 'closed') {
      this.#on.lost();
      this.#open();
    }
  }

  #want() {
    const wanted = !this.#asleep && !this.#full;
    if (!wanted && this.#phase !== 'closed') {
      this.#drop('waiting');
    } else if (wanted && this.#phase === 'waiting') {
      this.#open();
    }
  }

  #drop(phase) {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
    this.#setPhase(phase);
  }

  #setPhase(phase) {
    if (phase !== this.#phase) {
      this.#phase = phase;
      this.#on.phase(phase);
    }
  }

  #open() {
    this.#drop('waiting');
    if (this.#asleep || this.#full) {
      return;
    }
    const source = new EventSource(this.#url(this.#id, this.#cursor ?? this.#from));
    this.#source = source;
    this.#heard = Date.now();
    this.#end = null;
    this.#setPhase('connecting');
    const listen = (name, handle) =>
      source.addEventListener(name, (event) => {
        if (this.#source === source) {
          this.#heard = Date.now();
          handle(event);
        }
      });
    // Without a session the server follows the binding, which nobody asked for here.
    const ofSession = (name, handle) => listen(name, (event) => this.#id && handle(JSON.parse(event.data), event));

    listen('open', () => this.#opened());
    listen('error', () => this.#failed());
    listen('ping', () => {});
    listen('sessions', (event) => this.#on.sessions(JSON.parse(event.data)));
    ofSession('output', (text, event) => this.#take(encoder.encode(text), event.lastEventId));
    ofSession('bytes', (text, event) => this.#take(decodeBase64(text), event.lastEventId));
    ofSession('gap', ({ from, to }) => this.#skip(from, to));
    ofSession('run', () => this.#on.run());
    ofSession('live', ({ cursor }) => this.#caughtUp(cursor));
    ofSession('resize', ({ cols, rows }) => this.#on.resize(cols, rows));
    ofSession('session', (view) => this.#session(view));
    ofSession('end', (end) => this.#on.end(end));
  }

  #opened() {
    this.#failures = 0;
    this.#setPhase('replaying');
    if (!this.#id) {
      this.#setPhase('live'); // there is nothing to replay
    }
  }

  #failed() {
    this.#end = null;
    this.#on.lost();
    if (this.#source.readyState !== EventSource.CLOSED) {
      this.#setPhase('connecting'); // the browser tries again, with its last id
      return;
    }
    this.#drop('waiting');
    const delay = Math.min(maxDelay, firstDelay * 2 ** this.#failures++);
    this.#retry = setTimeout(() => this.#again(), delay * (0.75 + Math.random() / 2));
  }

  async #again() {
    const id = this.#id;
    let goOn = true;
    try {
      goOn = await this.#on.check();
    } catch {
      // Not reachable: the EventSource will fail too, and back off further.
    }
    if (this.#phase !== 'waiting' || this.#id !== id) {
      return;
    }
    if (goOn) {
      this.#open();
    } else {
      this.#drop('closed');
    }
  }

  #watch() {
    if (this.#source && Date.now() - this.#heard > silence) {
      this.reopen();
    }
  }

  #session(view) {
    if (view.live || view.holder) {
      this.#end ??= view.cursor;
    }
    this.#on.session(view);
  }

  #take(bytes, eventId) {
    const end = Number(eventId.slice(eventId.lastIndexOf('/') + 1));
    const start = end - bytes.length;
    if (this.#cursor === null) {
      this.#first = this.#cursor = start;
    }
    if (start > this.#cursor) {
      this.#skip(this.#cursor, start);
    }
    const known = this.#cursor - start; // bytes of this chunk that came before
    if (known < bytes.length) {
      this.#cursor = end;
      this.#on.bytes(known > 0 ? bytes.subarray(known) : bytes, end);
    }
    // A program that prints faster than this page reads never lets it reach
    // the end, but has no more to replay.
    if (this.#phase === 'replaying' && this.#end !== null && this.#cursor >= this.#end) {
      this.#setPhase('live');
    }
  }

  #skip(from, to) {
    if (this.#cursor === null || to > this.#cursor) {
      this.#first ??= to;
      this.#cursor = to;
      this.#on.gap(from, to);
    }
  }

  #caughtUp(cursor) {
    this.#cursor ??= cursor;
    this.#first ??= cursor;
    this.#setPhase('live');
  }
}
