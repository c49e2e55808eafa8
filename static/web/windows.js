// Which windows of a browser have a stream. A browser opens six connections to
// a server, and a seventh stream would wait for ever, with all that its window
// asks for. So the windows tell each other when they were used last, and those
// have one.

import { newKey } from './bytes.js';

const most = 4; // leaves two connections for requests

/**
 * Windows knows whether this window may have a stream: `turn`. changed() is
 * called when that may have changed.
 */
export class Windows {
  #id = newKey();
  #used = Date.now();
  #others = new Map(); // of windows that are seen, when they were used last
  #channel = new BroadcastChannel('holdfast-windows');
  #limited = !performance.getEntries().some(({ nextHopProtocol }) => /^h[23]/.test(nextHopProtocol)); // those need one connection
  #changed;
  turn = true;

  constructor(changed) {
    this.#changed = changed;
    this.#channel.onmessage = ({ data }) => this.#heard(data);
    for (const name of ['focus', 'pointerdown', 'keydown', 'pageshow']) {
      addEventListener(name, () => this.#use(), true);
    }
    addEventListener('pagehide', () => this.#tell({ seen: false }));
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#tell() : this.#use()));
    this.#tell({ ask: true });
  }

  #use() {
    const before = this.#used;
    this.#used = Date.now();
    if (!this.turn || [...this.#others.values()].some((used) => used >= before)) {
      this.#tell();
    }
    this.#count();
  }

  #tell(more) {
    this.#channel.postMessage({ id: this.#id, used: this.#used, seen: !document.hidden, ...more });
  }

  #heard({ id, used, seen, ask }) {
    if (seen) {
      this.#others.set(id, used);
    } else {
      this.#others.delete(id);
    }
    if (ask) {
      this.#tell();
    }
    this.#count();
  }

  #count() {
    const later = [...this.#others].filter(([id, used]) => used > this.#used || (used === this.#used && id > this.#id));
    this.turn = !this.#limited || later.length < most;
    this.#changed();
  }
}
