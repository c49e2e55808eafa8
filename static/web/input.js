// What a person types, on its way to the program: in order, one request in
// flight, what comes meanwhile batched into the next, nothing typed twice.

const batchSize = 32 * 1024; // bytes; keepalive requests may have 64 KiB
const firstDelay = 250; // ms before a request without an answer is repeated
const maxDelay = 5_000;

/** How many keys these bytes are: an escape sequence counts as one. */
const countKeys = (bytes) => new TextDecoder().decode(bytes).match(/\x1b[[O][^@-~]*[@-~]|./gsu)?.length ?? 0;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function newKey() {
  const words = crypto.getRandomValues(new Uint32Array(4)); // randomUUID needs a secure context
  return Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
}

/**
 * A Sender types into one session. It begins held: bytes wait until open().
 *
 * What is typed is meant for the run of the program that was known when it was
 * typed. It goes to no other: a request without an answer is not repeated, and
 * what waits is not sent, once run says that there is another, or none.
 *
 * post(bytes, key) sends a request; it rejects with an error that has `status`
 * (and `problem`) if the server refused, and with any other if there was no
 * answer. report(what) tells of trouble: {kind: 'waiting' (held bytes that
 * somebody typed) | 'retrying' | 'sent' | 'stuck' (the program took only
 * `written` bytes, `left` wait) | 'refused' (`error`; those bytes are dropped)
 * | 'outlived' (`keys` of a run that is over were dropped)}.
 */
export class Sender {
  #post;
  #report;
  #run = null;
  #queue = []; // of {bytes, run, person}, in order; the first may have the key and tries of a request without an answer
  #held = true;
  #stuck = false;
  #busy = false;
  #closed = false;

  constructor(post, report) {
    this.#post = post;
    this.#report = report;
  }

  /** Bytes that are not in a request. */
  get waiting() {
    return this.#queue.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** The run of the program that is typed to; null: there is none. */
  set run(run) {
    this.#run = run;
    this.#outlive();
  }

  /** Types bytes; person tells whether somebody typed them. */
  type(bytes, person = true) {
    this.#queue.push({ bytes, run: this.#run, person });
    if (this.#held && person) {
      this.#report({ kind: 'waiting' });
    }
    this.#drain();
  }

  /** Lets bytes go. */
  open() {
    this.#held = false;
    this.#drain();
  }

  /** Keeps bytes back; a request in flight goes on, but is not repeated meanwhile. */
  hold() {
    this.#held = true;
  }

  /** Goes on after 'stuck', with what is left. */
  resume() {
    this.#stuck = false;
    this.#drain();
  }

  /** Drops what waits, and goes on after 'stuck' with what is typed next. */
  discard() {
    this.#queue = [];
    this.#stuck = false;
  }

  /** Ends it. What may go still goes, but not after a request without an answer. */
  close() {
    this.#closed = true;
    if (this.#held || this.#stuck || this.#queue[0]?.key) {
      this.discard();
    }
  }

  async #drain() {
    if (this.#busy) {
      return;
    }
    this.#busy = true;
    while (this.#queue.length && !this.#held && !this.#stuck) {
      await this.#send(this.#batch());
    }
    this.#busy = false;
  }

  /** Drops what was typed for a run that is over. */
  #outlive() {
    const over = this.#queue.filter(({ run }) => run !== this.#run);
    this.#queue = this.#queue.filter(({ run }) => run === this.#run);
    const keys = over.filter(({ person }) => person).reduce((sum, { bytes }) => sum + countKeys(bytes), 0);
    if (over.length) {
      this.#stuck = false;
      this.#report({ kind: 'outlived', keys });
    }
  }

  /** What the next request types, under one key until the server has answered. */
  #batch() {
    if (this.#queue[0].key) {
      return this.#queue.shift();
    }
    const parts = [];
    let size = 0;
    let person = false;
    while (this.#queue.length && size < batchSize) {
      const item = this.#queue.shift();
      const part = item.bytes.subarray(0, batchSize - size);
      if (part.length < item.bytes.length) {
        this.#queue.unshift({ ...item, bytes: item.bytes.subarray(part.length) });
      }
      parts.push(part);
      size += part.length;
      person ||= item.person;
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { bytes, run: this.#run, person, key: newKey(), tries: 0 };
  }

  async #send(batch) {
    try {
      await this.#post(batch.bytes, batch.key);
    } catch (error) {
      await this.#failed(batch, error);
      return;
    }
    if (batch.tries > 0) {
      this.#report({ kind: 'sent' });
    }
  }

  async #failed(batch, error) {
    const { bytes, run, person, tries } = batch;
    if (error.status === 429) {
      const written = error.problem.written ?? 0;
      this.#stuck = true;
      this.#queue.unshift({ bytes: bytes.subarray(written), run, person });
      this.#report({ kind: 'stuck', written, left: this.waiting, error });
      this.#outlive();
    } else if (error.status && error.status < 500) {
      this.#report({ kind: 'refused', error });
    } else if (this.#closed) {
      this.discard();
    } else {
      this.#queue.unshift({ ...batch, tries: tries + 1 });
      this.#report({ kind: 'retrying' });
      this.#outlive();
      await pause(Math.min(maxDelay, firstDelay * 2 ** tries));
    }
  }
}
