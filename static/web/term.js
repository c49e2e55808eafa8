// The screen of a session, drawn by xterm.js. plain.js has the same interface.

import './styles.js';
import { correctInverse } from './contrast.js';
import { Leftovers } from './leftovers.js';
import { Terminal } from './vendor/xterm.mjs';
import { FitAddon } from './vendor/addon-fit.mjs';

const baseFont = 14; // px, when the session fits
const smallestFont = 2; // not to be read, but to see where what happens

const fontFamily = 'ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';

const dark = {
  background: '#111418', foreground: '#d6dae0', cursor: '#e6e9ee', cursorAccent: '#111418', selectionBackground: '#34507a',
  black: '#22272e', red: '#f0716b', green: '#7cc47f', yellow: '#d8b25c', blue: '#6ca4ee', magenta: '#c58be0', cyan: '#5bbcc4', white: '#c3c8d0',
  brightBlack: '#768190', brightRed: '#ff938d', brightGreen: '#9bdd9d', brightYellow: '#efcd7e', brightBlue: '#93bffb', brightMagenta: '#dcabf2',
  brightCyan: '#82d9e0', brightWhite: '#f3f5f8',
};

const light = {
  background: '#ffffff', foreground: '#1f242b', cursor: '#1f242b', cursorAccent: '#ffffff', selectionBackground: '#bcd3f5',
  black: '#1f242b', red: '#b3261e', green: '#1f7a34', yellow: '#8a6100', blue: '#1f5fc0', magenta: '#8a3fa8', cyan: '#0f7680', white: '#5d6672',
  brightBlack: '#6b7480', brightRed: '#cf3b33', brightGreen: '#2b9445', brightYellow: '#a67600', brightBlue: '#2f76e0', brightMagenta: '#a455c4',
  brightCyan: '#178f9b', brightWhite: '#3a424d',
};

/**
 * A Screen shows what is written to it in an element. It calls
 * input(bytes, person) with what the emulator wants to send; person tells
 * whether somebody typed it, or the emulator answered the program.
 */
export class Screen {
  #pane;
  #term;
  #fit = new FitAddon();
  #leftovers;
  #replaying = 0; // writes of replayed bytes that are not parsed yet
  #pending = 0; // bytes that are not parsed yet
  #key = null; // what the key that is being handled sends

  /** The session's size. */
  columns = 80;
  rows = 24;

  constructor(pane, input) {
    this.#pane = pane;
    const night = matchMedia('(prefers-color-scheme: dark)');
    const theme = () => (night.matches ? dark : light);
    this.#term = new Terminal({
      fontFamily, fontSize: baseFont, lineHeight: 1.15, theme: theme(), scrollback: 10_000, cursorBlink: true,
      cursorInactiveStyle: 'outline', macOptionIsMeta: true, minimumContrastRatio: 4.5,
    });
    night.addEventListener('change', () => (this.#term.options.theme = theme()));
    this.#term.loadAddon(this.#fit);
    this.#leftovers = new Leftovers(this.#term);
    this.#term.open(pane);
    correctInverse(this.#term);
    this.#term.textarea.setAttribute('aria-label', 'Terminal. Control Shift E leaves it.');
    this.#term.attachCustomKeyEventHandler((event) => this.#ours(event));
    this.#term.onKey(({ key }) => (this.#key = key));
    this.#term.onData((data) => this.#send(data, input));
    this.#term.onBinary((data) => input(Uint8Array.from(data, (c) => c.charCodeAt(0)), true));
  }

  /** Bytes that were written and are not parsed yet. */
  get pending() {
    return this.#pending;
  }

  /** The emulator, for what only it can do. */
  get terminal() {
    return this.#term;
  }

  /** Writes bytes of the session; replayed ones are not answered. */
  write(bytes, replayed, done) {
    this.#pending += bytes.length;
    this.#replaying += replayed ? 1 : 0;
    this.#term.write(bytes, () => {
      this.#pending -= bytes.length;
      this.#replaying -= replayed ? 1 : 0;
      done();
    });
  }

  /** Writes a line that is not from the session. CAN ends a sequence that was cut. */
  note(text) {
    this.#term.write(`\x18\x1b[0m\r\n\x1b[7m ${text} \x1b[0m\r\n`);
  }

  /** Another run of the program begins: nothing that the last one set is left. */
  restart() {
    this.#replaying++;
    this.#leftovers.remove();
    this.#term.write('', () => this.#replaying--);
  }

  /** Forgets everything that was written; nothing of it is answered any more. */
  clear() {
    this.#replaying++;
    this.#term.write('', () => {
      this.#term.reset();
      this.#replaying--;
    });
  }

  /** Shows what is written from now on in this size. */
  show(columns, rows) {
    this.#term.write('', () => {
      this.columns = columns;
      this.rows = rows;
      this.#term.resize(columns, rows);
      this.layout();
    });
  }

  /** Makes the letters smaller if the pane is too small for the session. */
  layout() {
    let room = this.room();
    let font = baseFont;
    while (room && font > smallestFont && (room.cols < this.columns || room.rows < this.rows)) {
      font -= 0.5;
      this.#term.options.fontSize = font;
      room = this.#fit.proposeDimensions();
    }
    this.#pane.classList.toggle('wide', Boolean(room) && (room.cols > this.columns || room.rows > this.rows));
  }

  /** The size of a session that fills the pane, or undefined while it is hidden. To be followed by layout(). */
  room() {
    this.#term.options.fontSize = baseFont;
    return this.#fit.proposeDimensions();
  }

  focus() {
    this.#term.focus();
  }

  /** The lines of the screen as text, from the top of the visible part. */
  text() {
    const buffer = this.#term.buffer.active;
    const lines = [];
    for (let y = 0; y < this.#term.rows; y++) {
      lines.push(buffer.getLine(buffer.baseY + y)?.translateToString(true) ?? '');
    }
    return lines;
  }

  // While replayed bytes are parsed, the emulator answers queries that
  // the program asked long ago. All that it makes up begins with ESC; of what
  // people send, only keys, which onKey announces, and bracketed pastes do.
  #send(data, input) {
    const key = this.#key === data;
    this.#key = null;
    const person = key || data[0] !== '\x1b' || data.startsWith('\x1b[200~');
    if (person || this.#replaying === 0) {
      input(new TextEncoder().encode(data), person);
    }
  }

  // Keys of the page. The emulator gets all others.
  #ours(event) {
    if (event.type !== 'keydown' || !event.ctrlKey || !event.shiftKey) {
      return true;
    }
    if (event.code === 'KeyE') {
      return false; // app.js moves the focus
    }
    if (event.code === 'KeyC' && this.#term.hasSelection()) {
      event.preventDefault();
      document.execCommand('copy'); // the clipboard object needs a secure context
      return false;
    }
    return true;
  }
}
