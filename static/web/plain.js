// The screen of a session without an emulator: output as plain text, and a
// line to type. For a server that was built without xterm.js.

/**
 * A Text makes lines of terminal output. It leaves out escape and control
 * sequences (ECMA-48: CSI, OSC, DCS and the like, two-character escapes), and
 * obeys CR, LF, BS and tabs. It moves no cursor: programs that draw on the
 * whole screen come out as the text they drew, in the order they drew it.
 */
export class Text {
  #done = []; // lines that ended
  #line = []; // characters of the last one
  #column = 0;
  #state = 'text';
  #decoder = new TextDecoder();

  /** How many lines that ended are kept. */
  depth = 5000;

  get lines() {
    return [...this.#done, this.#line.join('')];
  }

  write(bytes) {
    for (const char of this.#decoder.decode(bytes, { stream: true })) {
      this.#take(char);
    }
    this.#done = this.#done.slice(-this.depth);
  }

  /** Ends a sequence and a line that were cut. */
  restart() {
    this.#state = 'text';
    if (this.#line.length) {
      this.#put('\n');
    }
  }

  #take(char) {
    if (char === '\x18' || char === '\x1a') { // CAN and SUB end any sequence
      this.#state = 'text';
    } else if (char === '\x1b') {
      this.#state = this.#state === 'string' ? 'string escape' : 'escape';
    } else if (this.#state === 'text') {
      this.#put(char);
    } else {
      this.#state = this.#after(char);
    }
  }

  /** The state after a character inside a sequence. */
  #after(char) {
    switch (this.#state) {
      case 'escape':
        if (char === '[') return 'control';
        if ('PX]^_'.includes(char)) return 'string';
        return char >= ' ' && char <= '/' ? 'escape' : 'text';
      case 'control':
        return char >= '@' && char <= '~' ? 'text' : 'control';
      case 'string escape':
        return char === '\\' ? 'text' : 'string';
      default: // string
        return char === '\x07' ? 'text' : 'string';
    }
  }

  #put(char) {
    if (char === '\n') {
      this.#done.push(this.#line.join(''));
      this.#line = [];
      this.#column = 0;
    } else if (char === '\r') {
      this.#column = 0;
    } else if (char === '\b') {
      this.#column = Math.max(0, this.#column - 1);
    } else if (char === '\t') {
      do {
        this.#put(' ');
      } while (this.#column % 8);
    } else if (char >= ' ' && char !== '\x7f') {
      this.#line[this.#column++] = char;
    }
  }
}

/** A Screen as term.js has it. Nothing here answers a program. */
export class Screen {
  #text = new Text();
  #pre = document.createElement('pre');
  #line = document.createElement('input');
  #drawing = false;

  columns = 80;
  rows = 24;
  applicationKeys = false;

  constructor(pane, handlers) {
    pane.classList.add('plain');
    const why = document.createElement('p');
    why.textContent = 'This server was built without the terminal emulator: output is shown as plain text, and full-screen programs cannot be drawn.';
    this.#pre.tabIndex = 0;
    this.#pre.setAttribute('role', 'log');
    this.#pre.setAttribute('aria-label', 'Output');
    this.#line.setAttribute('aria-label', 'A line to type, Enter sends it');
    this.#line.placeholder = 'type a line, Enter sends it';
    this.#line.autocapitalize = 'off';
    this.#line.autocomplete = 'off';
    this.#line.spellcheck = false;
    this.#line.addEventListener('keydown', (event) => this.#keydown(event, handlers.input));
    this.#pre.addEventListener('scroll', handlers.scrolled);
    pane.append(why, this.#pre, this.#line);
  }

  get pending() {
    return 0;
  }

  get atTop() {
    return this.#pre.scrollTop === 0;
  }

  get lines() {
    return this.#text.lines.length;
  }

  set depth(lines) {
    this.#text.depth = lines;
  }

  set spoken(on) {
    this.#pre.setAttribute('aria-live', on ? 'polite' : 'off');
  }

  get isTerminal() {
    return false;
  }

  answer() {}

  write(bytes, done) {
    this.#text.write(bytes);
    this.#draw();
    done();
  }

  restart() {
    this.#text.restart();
    this.#draw();
  }

  note(text) {
    this.#text.write(new TextEncoder().encode(`\x18\n[ ${text} ]\n`));
    this.#draw();
  }

  clear() {
    const { depth } = this.#text;
    this.#text = new Text();
    this.#text.depth = depth;
    this.#draw();
  }

  /** The browser's own search finds what there is. */
  find() {}

  paste(text) {
    this.#line.setRangeText(text.replace(/[\r\n]+/g, ' '), this.#line.selectionStart, this.#line.selectionEnd, 'end');
  }

  whenDrawn(done) {
    requestAnimationFrame(done);
  }

  scrollTo(line) {
    this.#pre.scrollTop = (this.#pre.scrollHeight * line) / this.lines;
  }

  show() {}

  layout() {}

  room() {
    return undefined; // it has no size of its own to offer
  }

  focus() {
    this.#line.focus();
  }

  text() {
    return this.#text.lines;
  }

  all() {
    return this.#text.lines.join('\n').trimEnd();
  }

  #draw() {
    if (this.#drawing) {
      return;
    }
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.#pre.textContent = this.#text.lines.join('\n');
      this.#pre.scrollTop = this.#pre.scrollHeight;
    });
  }

  #keydown(event, input) {
    let keys = null;
    if (event.key === 'Enter' && !event.isComposing) {
      keys = `${this.#line.value}\r`;
    } else if (event.ctrlKey && !event.shiftKey && /^[cdz]$/.test(event.key) && this.#line.selectionStart === this.#line.selectionEnd) {
      keys = this.#line.value + String.fromCharCode(event.key.charCodeAt(0) & 0x1f);
    }
    if (keys !== null) {
      event.preventDefault();
      this.#line.value = '';
      input(new TextEncoder().encode(keys), true, true);
    }
  }
}
