// Output before what is shown. The log on the server has all of it; a page
// begins with its last 256 KiB, and gets more when its person asks.

import { outputURL } from './api.js';
import { notify } from './notices.js';
import { size } from './view.js';

const growth = 4; // times as much with each step
const most = 64 << 20; // bytes that a page takes
const lineBytes = 16; // that a line has at least, mostly
const leastLines = 10_000;
const mostLines = 100_000; // a line takes about a kilobyte of memory

/**
 * A History shows at the top of the screen that there is more, and gets it.
 * load(bytes) begins the session's stream anew with that many of the last
 * bytes.
 */
export class History {
  #bar;
  #screen;
  #stream;
  #load;
  #session = null;
  #place = null; // while loading: lines below what was seen at the top, to be found again

  constructor(bar, screen, stream, load) {
    this.#bar = bar;
    this.#screen = screen;
    this.#stream = stream;
    this.#load = load;
    bar.querySelector('button').addEventListener('click', () => this.earlier());
  }

  /** Begins with a session; null: none. */
  begin(session) {
    this.#session = session;
    this.#place = null;
    this.#screen.depth = leastLines;
    this.draw();
  }

  /** Takes in what has changed about the session. */
  update(session) {
    this.#session = session;
  }

  /** Bytes that are shown. */
  get #shown() {
    return this.#stream.cursor - this.#stream.first;
  }

  get #more() {
    return this.#stream.first > this.#session.oldest && this.#shown < most;
  }

  /** Gets earlier output, and keeps the place. */
  earlier() {
    if (this.#stream.phase !== 'live') {
      return;
    }
    if (!this.#more) {
      notify('earlier', this.#stream.first > this.#session.oldest ? 'The page takes no more of the output. Download, above it, has all.' : 'There is no earlier output.');
      return;
    }
    const bytes = Math.min(this.#shown * growth, most);
    this.#place = this.#screen.lines;
    this.#screen.depth = Math.min(mostLines, Math.max(leastLines, Math.ceil(bytes / lineBytes)));
    this.#load(bytes);
    this.draw();
  }

  /** All that was asked for has come. */
  arrived() {
    this.#screen.whenDrawn(() => {
      if (this.#place !== null) {
        this.#screen.scrollTo(this.#screen.lines - this.#place);
        this.#place = null;
        this.#screen.focus();
      }
      this.draw();
    });
  }

  draw() {
    const session = this.#session;
    const loading = this.#place !== null;
    this.#bar.hidden = !session || !loading && (!this.#stream.first || !this.#screen.atTop);
    if (this.#bar.hidden) {
      return;
    }
    const [button, text, link] = this.#bar.children;
    button.hidden = !loading && !this.#more;
    button.disabled = loading;
    button.textContent = loading ? 'Loading…' : 'Load earlier output';
    text.textContent = loading ? '' : this.#text(session);
    link.href = outputURL(session.id);
    link.download = `${session.id.slice(0, 8)}.log`;
  }

  #text({ cursor, oldest }) {
    if (this.#stream.first > oldest) {
      return `${size(this.#shown)} of ${size(Math.max(cursor, this.#stream.cursor) - oldest)}`;
    }
    return `${size(oldest)} of older output were removed`;
  }
}
