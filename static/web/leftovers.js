// What a program that is dead has left set in the emulator, and the next run of
// it does not expect.

const reset = [
  '\x18', // ends a sequence that was cut
  '\x1b[?1049l', // leaves the alternate screen
  '\x1b[!p', // modes of keys, paste, focus, cursor, wrap and origin, scroll region, character set, attributes
  '\x1b[?9;1000;1002;1003;1005;1006;1015;1016l', // no reports of the mouse
  '\x1b[0 q', // the cursor's shape
  '\x1bE', // a new line
].join('');

/**
 * Leftovers takes them back in a Terminal, in their place among what is
 * written to it. What was printed stays, on both sides of the screen's top.
 */
export class Leftovers {
  #term;
  #removing = false; // the sequence above is being parsed

  constructor(term) {
    this.#term = term;
    // On the main screen, to leave the other moves the cursor to where it was saved once.
    term.parser.registerCsiHandler({ prefix: '?', final: 'l' },
      ([mode]) => this.#removing && mode === 1049 && term.buffer.active.type === 'normal');
    term.parser.registerEscHandler({ final: 'E' }, () => this.#removing && term.buffer.active.cursorX === 0);
  }

  remove() {
    this.#term.write('', () => (this.#removing = true));
    this.#term.write(reset);
    this.#term.write('', () => (this.#removing = false));
  }
}
