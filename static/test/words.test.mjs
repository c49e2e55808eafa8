import assert from 'node:assert/strict';
import test from 'node:test';
import { words } from '../web/words.js';

test('a command line is split as a shell splits plain words', () => {
  for (const [line, want] of [
    ['', []],
    ['  ls   -l\t/tmp ', ['ls', '-l', '/tmp']],
    [`sh -c 'echo "a  b"; exit 3'`, ['sh', '-c', 'echo "a  b"; exit 3']],
    ['echo "a \\"b\\" \\n" c', ['echo', 'a "b" \\n', 'c']],
    ['a\\ b  c', ['a b', 'c']],
    [`x'y'"z" ''`, ['xyz', '']],
    ['echo $HOME *', ['echo', '$HOME', '*']],
  ]) {
    assert.deepEqual(words(line), want, line);
  }
});

test('an open quote is an error', () => {
  for (const line of [`it's`, 'say "hi']) {
    assert.throws(() => words(line), /a quote is not closed/, line);
  }
});
