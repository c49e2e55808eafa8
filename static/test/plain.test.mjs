import assert from 'node:assert/strict';
import test from 'node:test';
import { Text } from '../web/plain.js';

function lines(output) {
  const bytes = new TextEncoder().encode(output);
  const whole = new Text();
  whole.write(bytes);
  const pieces = new Text();
  for (const byte of bytes) {
    pieces.write(Uint8Array.of(byte));
  }
  assert.deepEqual(pieces.lines, whole.lines, 'the cuts between writes show');
  return whole.lines;
}

test('escape sequences are left out of plain text', () => {
  for (const [output, want] of [
    ['a\x1b[1;31mb\x1b[0mc', ['abc']],
    ['\x1b]0;title\x07x\x1b]8;;http://h/\x1b\\y', ['xy']],
    ['\x1bP1$r0m\x1b\\x\x1b(By\x1b7z', ['xyz']],
    ['\x1b[38:2::1:2:3m\x1b[?2004hok', ['ok']],
    ['\x1b[12\x18cut', ['cut']],
    ['\x1b[1\x1b[2mtwice', ['twice']],
    ['one\r\ntwo\r\n', ['one', 'two', '']],
    ['50%\r100%', ['100%']],
    ['abc\b\bX', ['aXc']],
    ['a\tb', ['a       b']],
    ['bell\x07 nul\x00 é 漢 😀', ['bell nul é 漢 😀']],
  ]) {
    assert.deepEqual(lines(output), want, JSON.stringify(output));
  }
});

test('plain text keeps a bounded number of lines', () => {
  const text = new Text();
  text.write(new TextEncoder().encode('line\n'.repeat(6000)));
  assert.equal(text.lines.length, 5001);
});

test('another run begins on a line of its own', () => {
  const text = new Text();
  for (const output of ['whole\r\n', 'cut\x1b]0;ti', 'next']) {
    text.restart();
    text.write(new TextEncoder().encode(output));
  }
  assert.deepEqual(text.lines, ['whole', 'cut', 'next']);
});
