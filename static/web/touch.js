// Fingers on the terminal. The emulator knows the mouse and its wheel only.

/**
 * Makes drags of one finger scroll what was printed, or, in a program that has
 * the whole screen or takes the mouse, what that program scrolls with a wheel.
 */
export function addTouch(term) {
  const screen = term.element.querySelector('.xterm-screen');
  let last = null; // where the finger was
  let line = 0; // at the top
  let rest = 0; // px that made no line yet
  const finger = ({ touches }) => (touches.length === 1 ? touches[0] : null); // two zoom the page
  const begin = (event) => {
    last = finger(event);
    line = term.buffer.active.viewportY;
    rest = 0;
  };
  const move = (event) => {
    const now = finger(event);
    if (now && last) {
      event.preventDefault(); // the page itself does not scroll
      const height = screen.clientHeight / term.rows;
      rest += last.clientY - now.clientY;
      const lines = Math.trunc(rest / height);
      rest -= lines * height;
      line = Math.max(0, Math.min(term.buffer.active.baseY, line + lines));
      scroll(term, line, lines, now);
    }
    last = now;
  };
  term.element.addEventListener('touchstart', begin, { passive: true });
  term.element.addEventListener('touchend', begin, { passive: true });
  term.element.addEventListener('touchmove', move, { passive: false });
}

function scroll(term, line, lines, { clientX, clientY }) {
  if (term.buffer.active.type === 'normal' && term.modes.mouseTrackingMode === 'none') {
    term.scrollToLine(line); // by lines, those of one frame would count once
    return;
  }
  for (let i = 0; i < Math.abs(lines); i++) { // the emulator sends one key for each, however far it turns
    const turn = { deltaY: Math.sign(lines), deltaMode: WheelEvent.DOM_DELTA_LINE, clientX, clientY, bubbles: true, cancelable: true };
    term.element.dispatchEvent(new WheelEvent('wheel', turn));
  }
}
