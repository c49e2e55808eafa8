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

/** The place in the output after an event. */
const place = ({ lastEventId }) => Number(lastEventId.slice(lastEventId.lastIndexOf('/') + 1));

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
 * Handlers: modes(bytes) has what stands in front of a tail, bytes(bytes,
 * cursor) what is in the log; gap(from, to), resize(cols, rows), run()
 * where another run of the program begins, perhaps told again, answers(on)
 * where what is asked in the output is for this page to answer or no more,
 * session(view), sessions(change), phase(name), lost() when a connection
 * failed or is given up, other than for a full terminal, and check(): a
 * promise that must be kept before a failed stream is tried again; it is
 * rejected to try later, and kept with false to give up.
 */
export class Stream {
  #on;
  #url;
  #source = null;
  #id = null;
  #tail = null; // bytes to begin with, until there is a cursor; null: the server's choice
  #cut = false; // the first output is awaited, behind what brings a fresh terminal to its modes
  #first = null; // the first byte that was handed on; null: nothing yet
  #cursor = null; // every byte from there to here was handed on; null: nothing yet
  #answers = false; // what is asked from the cursor on is for this page to answer
  #displaced = false; // another terminal took that over
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

  /** Whether what is asked in the output from the cursor on is for this page to answer. */
  get answers() {
    return this.#answers;
  }

  /** Whether another terminal took over what is asked; reopen() takes it back. */
  get displaced() {
    return this.#displaced;
  }

  /**
   * Follows a session; null: none. It begins with that many of the last bytes,
   * or with the server's choice of a tail.
   */
  follow(id, tail = null) {
    this.#id = id;
    this.#tail = tail;
    this.#first = this.#cursor = null;
    this.#cut = false;
    this.#failures = 0;
    this.#full = false;
    this.#open();
  }

  /** Closes the stream until the next follow. */
  close() {
    this.#drop('closed');
  }

  /** While asleep there is no connection; the cursor stays. */
  get asleep() {
    return this.#asleep;
  }

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
    this.#displaced = false;
    this.#setAnswers(false);
    this.#setPhase(phase);
  }

  #setPhase(phase) {
    if (phase !== this.#phase) {
      this.#phase = phase;
      this.#on.phase(phase);
    }
  }

  #setAnswers(answers) {
    if (answers !== this.#answers) {
      this.#answers = answers;
      this.#on.answers(answers);
    }
  }

  #open() {
    this.#drop('waiting');
    if (this.#asleep || this.#full) {
      return;
    }
    if (this.#cut) {
      this.#first = this.#cursor = null; // the modes have not come, and do not come for a cursor
    }
    const source = new EventSource(this.#url(this.#id, { from: this.#cursor, tail: this.#tail }));
    this.#cut = this.#id !== null && this.#cursor === null;
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
    ofSession('output', (text, event) => this.#take(encoder.encode(text), place(event)));
    ofSession('bytes', (text, event) => this.#take(decodeBase64(text), place(event)));
    ofSession('gap', ({ from, to }) => this.#skip(from, to));
    ofSession('run', () => this.#on.run());
    ofSession('live', ({ cursor }) => this.#caughtUp(cursor));
    ofSession('resize', ({ cols, rows }, event) => this.#resized(cols, rows, place(event)));
    ofSession('terminal', ({ answers }) => this.#turn(answers));
    ofSession('session', (view) => this.#session(view));
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
    this.#setAnswers(false);
    this.#on.lost();
    if (this.#source.readyState !== EventSource.CLOSED && !this.#cut) {
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

  #turn(answers) {
    this.#displaced = this.#answers && !answers;
    this.#setAnswers(answers);
  }

  /** A size, of which the first tells where the output begins. */
  #resized(cols, rows, at) {
    this.#cursor ??= at;
    this.#first ??= at;
    this.#on.resize(cols, rows);
  }

  #take(bytes, end) {
    if (this.#cut && this.#cursor !== null) {
      this.#cut = false;
      const modes = bytes.length - (end - this.#cursor);
      if (modes > 0) {
        this.#on.modes(bytes.subarray(0, modes));
        bytes = bytes.subarray(modes);
      }
    }
    const start = end - bytes.length;
    this.#cursor ??= start;
    this.#first ??= start;
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
    this.#cut = false;
    this.#setPhase('live');
  }
}
