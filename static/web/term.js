// The screen of a session, drawn by xterm.js. plain.js has the same interface.

import './styles.js';
import { addLinks, addSearch, addUnicode, addWebgl } from './addons.js';
import { correctInverse, forgetSelection } from './corrections.js';
import { Leftovers } from './leftovers.js';
import { baseFont, fontFamily, onTheme, theme } from './theme.js';
import { addTouch } from './touch.js';
import { Terminal } from './vendor/xterm.mjs';
import { FitAddon } from './vendor/addon-fit.mjs';

const copied = 2000; // lines that can be copied as text
const smallestFont = 2; // px; not to be read, but to see where what happens

// What the emulator tells a program by itself: attributes, status, position,
// modes, sizes, colours, and whether it has the focus.
const answers = /^\x1b(?:\[[?>]?[\d;]*(?:\$y|[cnRtIO])$|[\]P])/;

/**
 * A Screen shows what is written to it in an element. Handlers:
 * input(bytes, person, typed) has what the emulator wants to send; person
 * tells whether it comes from somebody, or the emulator answered the program;
 * typed whether that was a key, and not the mouse.
 * paste(bytes, end) has a paste; end are the bytes that end one which is cut
 * short. scrolled() is called when atTop may have changed,
 * found(index, count) when a search has, and scaled(scale) when the letters
 * were laid out; 1 is their own size. clipboardKey(code) is called for a key
 * that the program gets, and that copies or pastes elsewhere in a browser.
 */
export class Screen {
  #pane;
  #term;
  #on;
  #fit = new FitAddon();
  #leftovers;
  #search;
  #answering = false; // what is parsed is for this page to answer
  #muted = 0; // things to come in what is written; nothing before them is answered any more
  #pending = 0; // bytes that are not parsed yet
  #key = null; // what the key that is being handled sends

  /** The session's size. */
  columns = 80;
  rows = 24;

  constructor(pane, handlers) {
    this.#pane = pane;
    this.#on = handlers;
    this.#term = new Terminal({
      fontFamily, fontSize: baseFont, lineHeight: 1.15, theme: theme(), cursorBlink: true, allowProposedApi: true,
      cursorInactiveStyle: 'outline', macOptionIsMeta: true, minimumContrastRatio: 4.5,
    });
    onTheme(() => (this.#term.options.theme = theme()));
    this.#term.loadAddon(this.#fit);
    addUnicode(this.#term);
    addLinks(this.#term);
    this.#search = addSearch(this.#term, handlers.found);
    this.#leftovers = new Leftovers(this.#term);
    this.#term.open(pane);
    correctInverse(this.#term);
    forgetSelection(this.#term);
    addWebgl(this.#term);
    addTouch(this.#term);
    this.#term.textarea.setAttribute('aria-label', 'Terminal. Control Shift E leaves it.');
    this.#listen();
  }

  #listen() {
    this.#term.attachCustomKeyEventHandler((event) => this.#ours(event));
    this.#term.onKey(({ key }) => (this.#key = key));
    this.#term.onData((data) => this.#send(data));
    this.#term.onBinary((data) => this.#on.input(Uint8Array.from(data, (c) => c.charCodeAt(0)), true, false));
    this.#term.onScroll(() => this.#on.scrolled());
    this.#term.onWriteParsed(() => this.#on.scrolled());
    this.#term.buffer.onBufferChange(() => this.#on.scrolled());
    this.#pane.addEventListener('paste', (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.paste(event.clipboardData.getData('text/plain'));
    }, true);
  }

  /** Bytes that were written and are not parsed yet. */
  get pending() {
    return this.#pending;
  }

  /** The emulator, for what only it can do. */
  get terminal() {
    return this.#term;
  }

  /** Tells whether the first line that there is can be seen. */
  get atTop() {
    const buffer = this.#term.buffer.active;
    return buffer.type === 'normal' && buffer.viewportY === 0;
  }

  /** Lines that there are, above the window and in it. */
  get lines() {
    return this.#term.buffer.normal.length;
  }

  /** How many lines are kept above the window. */
  set depth(lines) {
    this.#term.options.scrollback = lines;
  }

  /** Whether the program wants the arrow keys in their other form. */
  get applicationKeys() {
    return this.#term.modes.applicationCursorKeysMode;
  }

  /** Whether what is printed is read out by screen readers. */
  set spoken(on) {
    this.#term.options.screenReaderMode = on;
  }

  /** Whether it answers what programs ask. */
  get isTerminal() {
    return true;
  }

  /** Whether the queries in what is written from now on are answered. */
  answer(on) {
    this.#term.write('', () => (this.#answering = on));
  }

  /** Writes bytes of the session. */
  write(bytes, done) {
    this.#pending += bytes.length;
    this.#term.write(bytes, () => {
      this.#pending -= bytes.length;
      done();
    });
  }

  /** Writes a line that is not from the session. CAN ends a sequence that was cut. */
  note(text) {
    this.#term.write(`\x18\x1b[0m\r\n\x1b[7m ${text} \x1b[0m\r\n`);
  }

  /** Another run of the program begins: nothing that the last one set is left. */
  restart() {
    this.#muted++;
    this.#leftovers.remove();
    this.#term.write('', () => this.#muted--);
  }

  /** Forgets everything that was written; nothing of it is answered any more. */
  clear() {
    this.#muted++;
    this.#term.write('', () => {
      this.#term.reset();
      this.#term.clearSelection();
      this.#search.end();
      this.#muted--;
    });
  }

  /** Calls done() when what was written up to now is on the screen. */
  whenDrawn(done) {
    this.#term.write('', done);
  }

  scrollTo(line) {
    this.#term.scrollToLine(line);
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
    this.#on.scaled(font / baseFont);
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

  /** The last lines that were printed, as text: those that fit no line of the screen are one. */
  all() {
    const buffer = this.#term.buffer.active;
    let text = '';
    for (let y = Math.max(0, buffer.length - copied); y < buffer.length; y++) {
      const goesOn = buffer.getLine(y + 1)?.isWrapped;
      text += buffer.getLine(y).translateToString(!goesOn) + (goesOn ? '' : '\n');
    }
    return text.trimEnd();
  }

  /** Looks for text, as addSearch() says; '': no more. */
  find(text, how) {
    if (text) {
      this.#search.find(text, how);
    } else {
      this.#search.end();
    }
  }

  /**
   * Pastes text, in brackets where the program asked for them. Control
   * characters are left out: one could end the brackets, and type a command.
   */
  paste(text) {
    const plain = text.replace(/\r?\n/g, '\r').replace(/[^\P{Cc}\t\r]/gu, '');
    const brackets = this.#term.modes.bracketedPasteMode;
    const end = brackets ? '\x1b[201~' : '';
    const encode = (part) => new TextEncoder().encode(part);
    this.#on.paste(encode(brackets ? `\x1b[200~${plain}${end}` : plain), encode(end));
  }

  // The emulator answers all queries, also those that the program asked long
  // ago or that another terminal answers. Some keys look like answers; onKey
  // announces them.
  #send(data) {
    const key = this.#key === data;
    this.#key = null;
    const person = key || !answers.test(data);
    if (person || (this.#answering && !this.#muted)) {
      this.#on.input(new TextEncoder().encode(data), person, key || !data.startsWith('\x1b'));
    }
  }

  // Keys of the page. The emulator gets all others.
  #ours(event) {
    if (event.type !== 'keydown' || !event.ctrlKey) {
      return true;
    }
    if (!event.shiftKey) {
      if (event.code === 'KeyV' || (event.code === 'KeyC' && this.#term.hasSelection())) {
        this.#on.clipboardKey(event.code);
      }
      return true;
    }
    if (event.code === 'KeyC' && this.#term.hasSelection()) {
      event.preventDefault();
      document.execCommand('copy'); // the clipboard object needs a secure context
      return false;
    }
    return !['KeyE', 'KeyF', 'KeyV'].includes(event.code); // keys.js has the first two, the browser pastes by the third
  }
}
