// The session that the page is attached to: its stream on the screen, what is
// typed on its way back, its size, and its history.

import * as api from './api.js';
import { History } from './history.js';
import { Sender } from './input.js';
import { dismiss, notify } from './notices.js';
import { Claim } from './size.js';
import { Stream } from './stream.js';
import { cannotType, tell, tellOfClipboardKeys } from './typing.js';

const most = 4 << 20; // bytes written to the screen and not drawn, before the stream pauses
const least = 256 << 10; // and when it goes on
const readable = 0.6; // of the size of letters, below which one is told of Fit
const settle = 150; // ms after the last change of the window's size

const runOf = (session) => (session.live ? session.runs : null);

/**
 * Attached owns the tab's only stream.
 *
 * Handlers: session(view), sessions(change), phase(name), check() as of
 * Stream, held() when something was typed that has to wait, login() when the
 * server wants a new login, act(name) to do what a button of that name does,
 * modify(bytes) for what becomes of something that was typed, and found(index,
 * count) as of Screen.
 */
export class Attached {
  #screen;
  #stream;
  #claim;
  #history = null; // set after the screen, which may call before that
  #sender = null;
  #session = null;
  #behind = false; // the stream was paused for the screen, and has not caught up
  #held = false; // something that was typed waits for the stream
  #scale = 1; // of the letters
  #small = false; // and that was told
  #handlers;

  constructor(pane, bar, Screen, handlers) {
    this.#handlers = handlers;
    this.#screen = new Screen(pane, {
      input: (bytes, person, typed) => this.#input(typed ? handlers.modify(bytes) : bytes, person, typed),
      paste: (bytes, end) => this.#mayType(true) && this.#sender.paste(bytes, end),
      scrolled: () => this.#history?.draw(),
      found: handlers.found,
      scaled: (scale) => this.#scaled(scale),
      clipboardKey: tellOfClipboardKeys,
    });
    this.#claim = new Claim(this.#screen);
    this.#stream = new Stream((id, where) => api.eventsURL(id, { ...where, terminal: this.#screen.isTerminal }), {
      ...handlers,
      modes: (bytes) => this.#screen.write(bytes, () => {}),
      bytes: (bytes, cursor) => this.#write(bytes, cursor),
      gap: (from, to) => this.#screen.note(`bytes ${from} to ${to} of the output no longer exist`),
      run: () => this.#screen.restart(),
      resize: (cols, rows) => this.#resized({ cols, rows }),
      answers: (on) => this.#screen.answer(on),
      lost: () => this.#lost(),
      phase: (name) => this.#phase(name),
    });
    this.#history = new History(bar, this.#screen, this.#stream, (bytes) => this.#reload(bytes));
    this.#watch(pane);
  }

  #watch(pane) {
    let timer = 0;
    new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        this.#screen.layout();
        this.#claim.follow();
      }, settle);
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

  /**
   * Attaches to a session; null: to none, which still hears of changes. mine
   * tells that it was made for this window.
   */
  attach(session, mine = false) {
    this.#sender?.close();
    this.#sender = null;
    this.#session = session;
    this.#behind = false;
    this.#held = false;
    this.#small = false;
    this.#screen.clear();
    this.#claim.begin(session, mine);
    if (session?.state === 'unreadable') {
      this.#screen.note(`this session cannot be read: ${session.reason}`);
      session = null; // nothing to follow
    }
    if (session) {
      const sender = new Sender((bytes, key) => api.input(session.id, bytes, key), (what) => sender === this.#sender && this.#sent(what));
      sender.run = runOf(session);
      this.#sender = sender;
      this.#screen.show(session.cols, session.rows);
    }
    this.#stream.follow(session?.id ?? null);
    this.#history.begin(session);
  }

  /** Takes in what has changed about the session. */
  update(session) {
    if (session.live && !this.#session?.live) {
      dismiss('input');
    }
    if (session.live && this.#session?.live && session.runs > this.#session.runs) {
      notify('again', 'The program was started again: what it had not saved is gone.'); // nobody here asked for it
    }
    this.#session = session;
    this.#claim.update(session);
    this.#scaled(this.#scale);
    if (this.#sender) {
      this.#sender.run = runOf(session);
      this.#history.update(session);
    }
  }

  /** Makes the session as large as the window. */
  fit() {
    this.#claim.take();
  }

  /** Shows output from before what is shown. */
  earlier() {
    this.#history.earlier();
  }

  /** Types what a key or a button stands for. */
  type(text) {
    this.#input(new TextEncoder().encode(text), true, true);
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
      this.#screen.whenDrawn(() => {
        this.#claim.told({ cols: this.#screen.columns, rows: this.#screen.rows }, this.#stream.phase === 'live');
        this.#scaled(this.#scale);
      });
      this.#sender?.open();
      this.#history.arrived();
    } else if (!this.#behind) {
      this.#sender?.hold();
    }
    this.#handlers.phase(name);
  }

  /** Names the button that makes letters readable. What is replayed passes. */
  #scaled(scale) {
    this.#scale = scale;
    const small = Boolean(this.#session?.live) && scale < readable;
    if (small === this.#small || this.#stream.phase !== 'live') {
      return;
    }
    this.#small = small;
    if (small) {
      notify('small', 'The letters are small, for the session is larger than this window. Fit gives it the size of the window.');
    } else {
      dismiss('small');
    }
  }

  /** Until the stream is back it is not known which run would get what is typed. */
  #lost() {
    this.#behind = false;
    this.#sender?.hold();
  }

  #write(bytes, cursor) {
    this.#screen.write(bytes, () => {
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

  /** Begins anew, with the last bytes. */
  #reload(bytes) {
    this.#screen.clear();
    this.#stream.follow(this.#session.id, bytes);
  }

  /** Tells whether a person may type, and says why not if that was tried. */
  #mayType(typed) {
    if (!this.#session?.live) {
      if (this.#session && typed) {
        cannotType(this.#session, this.#handlers.act);
      }
      return false;
    }
    if (this.#stream.phase === 'live' && typed) {
      this.#claim.typed();
    }
    if (this.#stream.displaced) {
      this.#stream.reopen(); // from here on this terminal answers the program
    }
    return true;
  }

  #input(bytes, person, typed) {
    if (person ? this.#mayType(typed) : this.#session?.live) {
      this.#sender.type(bytes, person);
    }
  }

  #sent(what) {
    const { kind, error } = what;
    if (kind === 'waiting') {
      this.#held = true;
      this.#handlers.held();
    } else if (kind === 'refused' && error.status === 401) {
      this.#handlers.login();
    } else {
      tell(what, this.#sender, this.#handlers.act);
    }
    if (kind === 'retrying') {
      this.#stream.reopen(); // it may be dead too, and tells then which run there is
    }
  }

  #resized(size) {
    this.#claim.told(size, this.#stream.phase === 'live');
    this.#screen.show(size.cols, size.rows);
  }
}
