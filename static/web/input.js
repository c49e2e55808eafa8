// What a person types, on its way to the program: in order, one request in
// flight, what comes meanwhile batched into the next, nothing typed twice.

import { countKeys, cutAt, newKey } from './bytes.js';

const batchSize = 32 * 1024; // bytes; keepalive requests may have 64 KiB
const firstDelay = 250; // ms before a request without an answer is repeated
const maxDelay = 5_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

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
 * | 'outlived' (`keys` of a run that is over were dropped)}; and of pastes
 * that take more than one request: {kind: 'pasting' (`sent` bytes of `total`)
 * | 'pasted' (it is over, also if the rest was dropped)}.
 */
export class Sender {
  #post;
  #report;
  #run = null;
  #queue = []; // of {bytes, run, person, paste}, in order; the first may have the key and tries of a request without an answer
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

  /**
   * Types bytes; person tells whether somebody typed them. Others answer the
   * program: late answers are dropped, they would be typed text.
   */
  type(bytes, person = true) {
    if (this.#held && !person) {
      return;
    }
    this.#queue.push({ bytes, run: this.#run, person, answer: !person });
    if (this.#held && person) {
      this.#report({ kind: 'waiting' });
    }
    this.#drain();
  }

  /**
   * Types what somebody pasted, in pieces. If the rest of it is dropped, end
   * is typed in its place.
   */
  paste(bytes, end) {
    if (bytes.length <= batchSize) {
      this.type(bytes);
      return;
    }
    const paste = { total: bytes.length, sent: 0, begun: false, end };
    this.#queue.push({ bytes, run: this.#run, person: true, paste });
    this.#report({ kind: this.#held ? 'waiting' : 'pasting', sent: 0, total: paste.total });
    this.#drain();
  }

  /** Drops what was not sent of a paste; what was typed after it goes on. */
  cancel() {
    for (const paste of new Set(this.#queue.map((item) => item.paste).filter(Boolean))) {
      this.#cut(paste);
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
    const begun = this.#queue.find(({ paste }) => paste?.begun)?.paste;
    this.#queue = this.#queue.filter(({ paste }) => paste && paste === begun);
    if (begun) {
      this.#cut(begun);
    }
    this.#stuck = false;
    this.#drain();
  }

  /** Ends it. What may go still goes, but not after a request without an answer. */
  close() {
    this.#closed = true;
    if (this.#held || this.#stuck || this.#queue[0]?.key) {
      this.#queue = [];
    }
    this.cancel();
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

  /** Drops what waits of a paste. */
  #cut(paste) {
    const at = this.#queue.findIndex((item) => item.paste === paste);
    this.#queue = this.#queue.filter((item) => item.paste !== paste);
    if (paste.begun && paste.end.length) {
      this.#queue.splice(Math.max(at, 0), 0, { bytes: paste.end, run: this.#run, person: false });
    }
    this.#report({ kind: 'pasted' });
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
    if (over.some(({ paste }) => paste)) {
      this.#report({ kind: 'pasted' });
    }
  }

  /** What the next request types, under one key until the server has answered. */
  #batch() {
    if (this.#queue[0].key) {
      return this.#queue.shift();
    }
    const { paste } = this.#queue[0]; // goes alone
    const parts = [];
    let size = 0;
    let person = false;
    let answer = true;
    while (this.#queue.length && size < batchSize && this.#queue[0].paste === paste) {
      const item = this.#queue.shift();
      const part = item.bytes.subarray(0, cutAt(item.bytes, batchSize - size));
      if (part.length < item.bytes.length) {
        this.#queue.unshift({ ...item, bytes: item.bytes.subarray(part.length) });
        if (part.length === 0) {
          break; // the next character does not fit
        }
      }
      parts.push(part);
      size += part.length;
      person ||= item.person;
      answer &&= item.answer === true;
    }
    if (paste) {
      paste.begun = true;
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { bytes, run: this.#run, person, answer, paste, key: newKey(), tries: 0 };
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
    this.#pasted(batch.paste, batch.bytes.length);
  }

  #pasted(paste, bytes) {
    if (paste) {
      paste.sent += bytes;
      const more = this.#queue.some((item) => item.paste === paste);
      this.#report(more ? { kind: 'pasting', sent: paste.sent, total: paste.total } : { kind: 'pasted' });
    }
  }

  async #failed(batch, error) {
    const { bytes, run, person, answer, paste, tries } = batch;
    if (answer) {
      return;
    }
    if (error.status === 429) {
      const written = error.problem.written ?? 0;
      this.#stuck = true;
      this.#queue.unshift({ bytes: bytes.subarray(written), run, person, paste });
      this.#pasted(paste, written);
      this.#report({ kind: 'stuck', written, left: this.waiting, error });
      this.#outlive();
    } else if (error.status && error.status < 500) {
      if (paste) {
        this.#cut(paste); // the rest of it alone would be another text
      }
      this.#report({ kind: 'refused', error });
    } else if (this.#closed) {
      this.#queue = [];
    } else {
      this.#queue.unshift({ ...batch, tries: tries + 1 });
      this.#report({ kind: 'retrying' });
      this.#outlive();
      await pause(Math.min(maxDelay, firstDelay * 2 ** tries));
    }
  }
}
