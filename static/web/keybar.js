// Keys that an on-screen keyboard does not have.

import { askPaste } from './dialogs.js';

const arrows = { ArrowUp: 'A', ArrowDown: 'B', ArrowRight: 'C', ArrowLeft: 'D' };
const delay = 400; // ms until an arrow that is held down repeats
const pace = 60; // ms between repeats

/** What an arrow sends; application tells which of its two forms the program wants. */
export function arrow(key, { control = false, application = false } = {}) {
  if (control) return `\x1b[1;5${arrows[key]}`;
  return `\x1b${application ? 'O' : '['}${arrows[key]}`;
}

/** What a character is together with Control, or itself if that is nothing. */
export function withControl(text) {
  if (text === ' ') return '\0';
  if (text === '?') return '\x7f';
  return /^[@-_a-z]$/.test(text) ? String.fromCharCode(text.toUpperCase().charCodeAt(0) & 0x1f) : text;
}

/**
 * A KeyBar is for devices without a keyboard of their own. type(text) types,
 * screen() is the Screen that is shown. Its buttons leave the focus where it
 * is, so that the on-screen keyboard stays as it was.
 */
export class KeyBar {
  #bar;
  #screen;
  #type;
  #control = 'off'; // 'once' for the next key, 'on' until it is pressed again
  #repeat = 0; // timer

  constructor(bar, screen, type) {
    this.#bar = bar;
    this.#screen = screen;
    this.#type = type;
    const touch = matchMedia('(pointer: coarse)');
    const show = () => (bar.hidden = !touch.matches);
    touch.addEventListener('change', show);
    show();
    bar.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      this.#down(event.target.closest('button')?.dataset.key);
    });
    for (const end of ['pointerup', 'pointercancel', 'pointerleave']) {
      bar.addEventListener(end, () => clearTimeout(this.#repeat));
    }
    bar.addEventListener('mousedown', (event) => event.preventDefault()); // it would move the focus
    bar.addEventListener('click', (event) => {
      if (event.detail === 0 || event.target.dataset.key === 'Paste') { // pressed by a keyboard; or the clipboard, which needs a click
        this.#press(event.target.closest('button')?.dataset.key);
      }
    });
  }

  /** What somebody typed, with Control if that is on. */
  modify(bytes) {
    if (this.#control === 'off') {
      return bytes;
    }
    this.#used();
    return new TextEncoder().encode(withControl(new TextDecoder().decode(bytes)));
  }

  #down(key) {
    if (!key || key === 'Paste') {
      return;
    }
    this.#press(key);
    if (key in arrows) {
      const again = () => {
        this.#press(key);
        this.#repeat = setTimeout(again, pace);
      };
      this.#repeat = setTimeout(again, delay);
    }
  }

  #press(key) {
    if (key === 'Control') {
      this.#set({ off: 'once', once: 'on', on: 'off' }[this.#control]);
    } else if (key === 'Escape' || key === 'Tab') {
      this.#type({ Escape: '\x1b', Tab: '\t' }[key]);
      this.#used();
    } else if (key in arrows) {
      this.#type(arrow(key, { control: this.#control !== 'off', application: this.#screen().applicationKeys }));
      this.#used();
    } else if (key === 'Paste') {
      this.#paste();
    }
  }

  #used() {
    if (this.#control === 'once') {
      this.#set('off');
    }
  }

  #set(control) {
    this.#control = control;
    const button = this.#bar.querySelector('[data-key=Control]');
    button.setAttribute('aria-pressed', control !== 'off');
    button.classList.toggle('locked', control === 'on');
  }

  async #paste() {
    let text;
    try {
      text = await navigator.clipboard.readText();
    } catch { // not a secure context, or not allowed
      await askPaste((value) => this.#screen().paste(value));
      return;
    }
    this.#screen().paste(text);
  }
}
