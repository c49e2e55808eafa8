// Whose window a session is as large as.

import * as api from './api.js';
import { notify } from './notices.js';

const key = ({ cols, rows }) => `${cols}x${rows}`;

/** A screen that is small on one side, whichever is up; style.css has the same. */
const small = '(pointer: coarse) and (max-device-width: 500px), (pointer: coarse) and (max-device-height: 500px)';

/** Where the list covers the terminal. */
export const narrow = matchMedia(`(max-width: 720px), ${small}`);

/** A device that is held in a hand: what fits it is too small for a desk. */
const hand = matchMedia(`(max-width: 720px) and (pointer: coarse), ${small}`);

/**
 * A Claim makes a session as large as this window, from when its person types
 * or asks until somebody elsewhere does. On a phone its person has to ask.
 *
 * Two windows of one browser tell each other; others see that the size is no
 * more what they asked for.
 */
export class Claim {
  #screen;
  #session = null;
  #held = false;
  #asked = []; // sizes that this page asked for, from the one that it was told last
  #asking = 0; // requests that are not answered
  #tabs = new BroadcastChannel('holdfast');

  constructor(screen) {
    this.#screen = screen;
    this.#tabs.onmessage = ({ data }) => {
      if (this.#held && data === this.#session?.id) {
        this.#held = false;
      }
    };
  }

  /** Goes to a session; mine tells that it was made for this window. */
  begin(session, mine) {
    this.#session = session;
    this.#asked = mine ? [key(session)] : [];
    this.#held = mine;
    if (mine) {
      this.#tabs.postMessage(session.id);
    }
  }

  /** Takes in what has changed about the session. */
  update(session) {
    this.#session = session;
  }

  /** Somebody types, which takes the claim. */
  typed() {
    if (!this.#held && !hand.matches && !this.#asking) {
      this.take();
    }
  }

  /** Makes the session as large as the window, and keeps it so. */
  async take() {
    this.#tabs.postMessage(this.#session.id);
    this.#held = (await this.#ask()) || this.#held;
  }

  /** The session has a size. live tells that it has it now. */
  told(size, live) {
    const at = this.#asked.indexOf(key(size));
    if (at >= 0) {
      this.#asked.splice(0, at);
    } else if (live && this.#held && !this.#asking) {
      this.#held = false; // somebody elsewhere asked for it
    }
  }

  /** The window has changed. */
  follow() {
    if (this.#held) {
      this.#ask();
    }
  }

  /** Asks for the window's size, and returns whether the session is to have it. */
  async #ask() {
    const room = this.#screen.room();
    this.#screen.layout();
    const session = this.#session;
    if (!room || !session.live) {
      return false;
    }
    this.#asked.push(key(room));
    if (room.cols === this.#screen.columns && room.rows === this.#screen.rows) {
      return true;
    }
    this.#asking++;
    try {
      await api.resize(session.id, room.cols, room.rows);
      return session.id === this.#session?.id;
    } catch (error) {
      notify('size', `The size was not changed: ${error.message}`);
      return false;
    } finally {
      this.#asking--;
    }
  }
}
