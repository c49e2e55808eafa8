// The session that the page is attached to: its stream on the screen, what is
// typed on its way back, and its size.

import * as api from './api.js';
import { Sender } from './input.js';
import { dismiss, notify } from './notices.js';
import { Stream } from './stream.js';
import { holderLine, title } from './view.js';

const most = 4 << 20; // bytes written to the screen and not drawn, before the stream pauses
const least = 256 << 10; // and when it goes on
const settle = 150; // ms after the last change of the window's size

const runOf = (session) => (session.live ? session.runs : null);
const key = ({ cols, rows }) => `${cols}x${rows}`;

/**
 * Attached owns the tab's only stream. Its size is the session's, until its
 * person types or asks: then the session gets the window's, and follows it
 * until somebody elsewhere does the same.
 *
 * Handlers: session(view), sessions(change), phase(name), check() as of
 * Stream, held() when something was typed that has to wait, and login() when
 * the server wants a new login.
 */
export class Attached {
  #screen;
  #stream;
  #sender = null;
  #session = null;
  #claimed = false; // the session's size follows this window
  #asked = []; // the last sizes that this page asked for
  #behind = false; // the stream was paused for the screen, and has not caught up
  #held = false; // something that was typed waits for the stream
  #answering = true; // this tab answers for the emulator; of several, the last one looked at
  #tabs = new BroadcastChannel('holdfast');
  #handlers;

  constructor(pane, Screen, handlers) {
    this.#handlers = handlers;
    this.#screen = new Screen(pane, (bytes, person) => this.#input(bytes, person));
    this.#stream = new Stream(api.eventsURL, {
      ...handlers,
      bytes: (bytes, cursor) => this.#write(bytes, cursor),
      gap: (from, to) => this.#screen.note(`bytes ${from} to ${to} of the output no longer exist`),
      run: () => this.#screen.restart(),
      resize: (cols, rows) => this.#resized({ cols, rows }),
      end: () => {},
      lost: () => this.#lost(),
      phase: (name) => this.#phase(name),
    });
    this.#tabs.onmessage = ({ data }) => {
      if (data === this.#session?.id) {
        this.#answering = false;
      }
    };
    addEventListener('focus', () => this.#answer());
    let timer = 0;
    new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#windowChanged(), settle);
    }).observe(pane);
  }

  get screen() {
    return this.#screen;
  }

  get stream() {
    return this.#stream;
  }

  /** The stream's phase; 'replaying' while it is paused for the screen. */
  get phase() {
    return this.#behind ? 'replaying' : this.#stream.phase;
  }

  /** Tells whether something that was typed waits for the stream. */
  get held() {
    return this.#held;
  }

  /** Attaches to a session; null: to none, which still hears of changes. */
  attach(session) {
    this.#sender?.close();
    this.#sender = null;
    this.#session = session;
    this.#claimed = false;
    this.#behind = false;
    this.#held = false;
    this.#screen.clear();
    if (session?.state === 'unreadable') {
      this.#screen.note(`this session cannot be read: ${session.reason}`);
      session = null; // nothing to follow
    }
    if (session) {
      const sender = new Sender((bytes, id) => api.input(session.id, bytes, id), (what) => sender === this.#sender && this.#sent(what));
      sender.run = runOf(session);
      this.#sender = sender;
      this.#screen.show(session.cols, session.rows);
      this.#answer();
    }
    this.#stream.follow(session?.id ?? null);
  }

  /** Takes in what has changed about the session. */
  update(session) {
    if (session.live && !this.#session?.live) {
      dismiss('input');
    }
    this.#session = session;
    if (this.#sender) {
      this.#sender.run = runOf(session);
    }
  }

  /** Makes the session as large as the window. */
  fit() {
    this.#claimed = true;
    this.#claim();
  }

  /** The size of a session that fills the window; {} if that is not known. */
  room() {
    const size = this.#screen.room() ?? {};
    this.#screen.layout();
    return size;
  }

  focus() {
    this.#screen.focus();
  }

  #phase(name) {
    if (name === 'live') {
      this.#behind = false;
      this.#held = false;
      this.#sender?.open();
    } else if (!this.#behind) {
      this.#sender?.hold();
    }
    this.#handlers.phase(name);
  }

  /** Until the stream is back it is not known which run would get what is typed. */
  #lost() {
    this.#behind = false;
    this.#sender?.hold();
  }

  #write(bytes, cursor) {
    this.#screen.write(bytes, this.#stream.phase !== 'live', () => {
      if (this.#screen.pending < least) {
        this.#stream.full = false;
      }
    });
    if (this.#screen.pending > most) {
      this.#behind = true;
      this.#stream.full = true;
    }
    document.dispatchEvent(new CustomEvent('holdfast:output', { detail: { session: this.#session.id, bytes, cursor } }));
  }

  #input(bytes, person) {
    const session = this.#session;
    if (!session || (!person && !this.#answering)) {
      return;
    }
    if (!session.live) {
      if (person) {
        const reason = session.holder ? `is ${holderLine(session)}: it can only be read here` : 'is not running: resume it to type';
        notify('input', `${title(session)} ${reason}.`);
      }
      return;
    }
    if (person && !this.#claimed && this.#stream.phase === 'live') {
      this.fit();
    }
    this.#sender.type(bytes, person);
  }

  #sent({ kind, written, left, error, keys }) {
    const sender = this.#sender;
    switch (kind) {
      case 'waiting':
        this.#held = true;
        this.#handlers.held();
        break;
      case 'retrying':
        notify('sending', 'No answer from the server: what you typed waits and is sent again.');
        this.#stream.reopen(); // it may be dead too, and tells then which run there is
        break;
      case 'sent':
        dismiss('sending');
        break;
      case 'stuck':
        notify('input', `${error.message} Typed: ${written} bytes; waiting: ${left}.`, {
          actions: [['Send the rest', () => sender.resume()], ['Drop the rest', () => sender.discard()]],
        });
        break;
      case 'outlived':
        dismiss('sending');
        if (keys) {
          const were = keys === 1 ? '1 key was' : `${keys} keys were`;
          notify('outlived', `${were} typed for a program that has ended; ${keys === 1 ? 'it was' : 'they were'} not sent.`);
        }
        break;
      case 'refused':
        if (error.status === 401) {
          this.#handlers.login();
        } else {
          notify('input', `Not typed: ${error.message}`, { tone: 'failed' });
        }
    }
  }

  #answer() {
    if (this.#session) {
      this.#answering = true;
      this.#tabs.postMessage(this.#session.id);
    }
  }

  #resized(size) {
    if (this.#stream.phase === 'live' && !this.#asked.includes(key(size))) {
      this.#claimed = false; // somebody elsewhere claimed it
    }
    this.#screen.show(size.cols, size.rows);
  }

  #windowChanged() {
    this.#screen.layout();
    if (this.#claimed) {
      this.#claim();
    }
  }

  async #claim() {
    const room = this.room();
    const session = this.#session;
    if (!room.cols || !session?.live || (room.cols === this.#screen.columns && room.rows === this.#screen.rows)) {
      return;
    }
    this.#asked = [...this.#asked.slice(-7), key(room)];
    try {
      await api.resize(session.id, room.cols, room.rows);
    } catch (error) {
      notify('size', `The size was not changed: ${error.message}`);
    }
  }
}
