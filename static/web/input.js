// What a person types, on its way to the program: in order, one request in
// flight, what comes meanwhile batched into the next, nothing typed twice.

const batchSize = 32 * 1024; // bytes; keepalive requests may have 64 KiB
const firstDelay = 250; // ms before a request without an answer is repeated
const maxDelay = 5_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function newKey() {
  const words = crypto.getRandomValues(new Uint32Array(4)); // randomUUID needs a secure context
  return Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
}

/**
 * A Sender types into one session. It begins held: bytes wait until open().
 *
 * post(bytes, key) sends a request; it rejects with an error that has `status`
 * (and `problem`) if the server refused, and with any other if there was no
 * answer. report(what) tells of trouble: {kind: 'retrying' | 'sent' |
 * 'stuck' (the program took only `written` bytes, `left` wait) | 'refused'
 * (`error`; those bytes are dropped)}.
 */
export class Sender {
  #post;
  #report;
  #queue = []; // of Uint8Array, in order
  #held = true;
  #stuck = false;
  #busy = false;
  #closed = false;

  constructor(post, report) {
    this.#post = post;
    this.#report = report;
  }

  /** Bytes that are not in a request yet. */
  get waiting() {
    return this.#queue.reduce((sum, bytes) => sum + bytes.length, 0);
  }

  type(bytes) {
    this.#queue.push(bytes);
    this.#drain();
  }

  /** Lets bytes go. */
  open() {
    this.#held = false;
    this.#drain();
  }

  /** Keeps bytes back; a request in flight goes on. */
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

  /** Ends it. What may go still goes, but a request without an answer is not repeated. */
  close() {
    this.#closed = true;
    if (this.#held || this.#stuck) {
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

  #batch() {
    const parts = [];
    let size = 0;
    while (this.#queue.length && size < batchSize) {
      let part = this.#queue.shift();
      if (part.length > batchSize - size) {
        this.#queue.unshift(part.subarray(batchSize - size));
        part = part.subarray(0, batchSize - size);
      }
      parts.push(part);
      size += part.length;
    }
    const batch = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      batch.set(part, at);
      at += part.length;
    }
    return batch;
  }

  /** Sends a batch, under one key until the server has answered. */
  async #send(batch) {
    const key = newKey();
    for (let tries = 0; tries === 0 || !this.#closed; tries++) {
      try {
        await this.#post(batch, key);
        if (tries > 0) {
          this.#report({ kind: 'sent' });
        }
        return;
      } catch (error) {
        if (error.status && error.status < 500) {
          this.#refused(batch, error);
          return;
        }
        this.#report({ kind: 'retrying' });
        await pause(Math.min(maxDelay, firstDelay * 2 ** tries));
      }
    }
  }

  #refused(batch, error) {
    if (error.status === 429) {
      const written = error.problem.written ?? 0;
      this.#queue.unshift(batch.subarray(written));
      this.#stuck = true;
      this.#report({ kind: 'stuck', written, left: this.waiting, error });
      return;
    }
    this.#report({ kind: 'refused', error });
  }
}
