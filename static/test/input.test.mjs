// The sender against a server of its own, over real connections.

import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { ApiError } from '../web/api.js';
import { Sender } from '../web/input.js';

/**
 * A server that types into an array, once for each key. `respond` may change
 * what becomes of a request: 'lose' types it and cuts the connection, {status,
 * written} types that much of it and refuses the rest.
 */
async function start(t, respond = () => 'type') {
  const keys = new Set();
  const server = { typed: '', posts: [], most: 0 };
  let open = 0;
  const http1 = http.createServer(async (request, response) => {
    server.most = Math.max(server.most, ++open);
    let body = '';
    for await (const chunk of request) {
      body += chunk;
    }
    await new Promise((resolve) => setImmediate(resolve));
    open--;
    const key = request.headers['idempotency-key'];
    server.posts.push({ key, size: body.length });
    const what = respond(server.posts.length, body);
    if (typeof what === 'object') {
      server.typed += body.slice(0, what.written);
      response.writeHead(what.status, { 'Content-Type': 'application/problem+json' });
      response.end(JSON.stringify({ detail: 'refused', written: what.written }));
      return;
    }
    if (!keys.has(key)) {
      keys.add(key);
      server.typed += body;
    }
    if (what === 'lose') {
      request.socket.destroy();
      return;
    }
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ written: body.length, cursor: 0 }));
  });
  await new Promise((resolve) => http1.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    http1.closeAllConnections();
    http1.close();
  });
  server.url = `http://127.0.0.1:${http1.address().port}/`;
  return server;
}

/** A sender to that server, and a promise of the next report of each kind. */
function sender(server) {
  const reports = [];
  let changed = () => {};
  const post = async (body, key) => {
    try {
      const response = await fetch(server.url, { method: 'POST', body, headers: { 'Idempotency-Key': key } });
      const problem = await response.json();
      if (!response.ok) {
        throw new ApiError(response.status, problem);
      }
    } finally {
      changed();
    }
  };
  const it = new Sender(post, (what) => {
    reports.push(what);
    changed();
  });
  const until = async (condition) => {
    while (!condition()) {
      await new Promise((resolve) => (changed = resolve));
    }
  };
  it.run = 1;
  return { it, reports, until };
}

const bytes = (text) => new TextEncoder().encode(text);

test('keys arrive in order, one request at a time, the rest batched', async (t) => {
  const server = await start(t);
  const { it, until } = sender(server);
  it.open();
  const text = Array.from({ length: 500 }, (_, i) => `${i} `).join('');
  for (const char of text) {
    it.type(bytes(char));
    if (char === ' ') {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await until(() => server.typed.length === text.length);
  assert.equal(server.typed, text);
  assert.equal(server.most, 1, 'requests at once');
  assert.ok(server.posts.length < 500, `${server.posts.length} requests`);
});

test('keys typed before the screen is current wait for it', async (t) => {
  const server = await start(t);
  const { it, until } = sender(server);
  it.type(bytes('a'));
  it.type(bytes('b'));
  assert.equal(it.waiting, 2);
  assert.equal(server.posts.length, 0);
  it.open();
  await until(() => server.typed === 'ab');
  assert.equal(server.posts.length, 1);
});

test('a lost answer is asked for again with the same key and types once', async (t) => {
  const server = await start(t, (n) => (n <= 2 ? 'lose' : 'type'));
  const { it, reports, until } = sender(server);
  it.open();
  it.type(bytes('rm -r build\r'));
  it.type(bytes('ls\r'));
  await until(() => server.typed.endsWith('ls\r'));
  assert.equal(server.typed, 'rm -r build\rls\r');
  const [first, second, third, fourth] = server.posts.map(({ key }) => key);
  assert.equal(first, second);
  assert.equal(first, third);
  assert.notEqual(first, fourth);
  assert.deepEqual(reports.map(({ kind }) => kind), ['retrying', 'retrying', 'sent']);
});

test('what a stuck program did not take is kept, and sent or dropped as its user says', async (t) => {
  const server = await start(t, (n) => (n === 1 || n === 3 ? { status: 429, written: 3 } : 'type'));
  const { it, reports, until } = sender(server);
  it.open();
  it.type(bytes('abcdef'));
  await until(() => reports.length === 1);
  const { kind, written, left } = reports[0];
  assert.deepEqual({ kind, written, left }, { kind: 'stuck', written: 3, left: 3 });
  it.type(bytes('g')); // waits behind
  assert.equal(server.posts.length, 1);
  it.resume();
  await until(() => server.typed === 'abcdefg');
  assert.notEqual(server.posts[0].key, server.posts[1].key, 'the rest is another request');

  it.type(bytes('uvwxyz'));
  await until(() => reports.length === 2);
  it.discard();
  it.type(bytes('!'));
  await until(() => server.typed === 'abcdefguvw!');
});

test('a refused line is dropped, and what follows goes on', async (t) => {
  const server = await start(t, (n) => (n === 1 ? { status: 422, written: 0 } : 'type'));
  const { it, reports, until } = sender(server);
  it.open();
  it.type(bytes('too long'));
  await until(() => reports.length === 1);
  assert.equal(reports[0].kind, 'refused');
  assert.ok(reports[0].error instanceof ApiError);
  assert.equal(reports[0].error.message, 'refused');
  it.type(bytes('next'));
  await until(() => server.typed === 'next');
});

test('a large paste goes in pieces that a request may have', async (t) => {
  const server = await start(t);
  const { it, until } = sender(server);
  it.open();
  const text = 'x'.repeat(99_999) + 'y';
  it.type(bytes(text));
  await until(() => server.typed.length === text.length);
  assert.equal(server.typed, text);
  assert.ok(server.posts.every(({ size }) => size <= 32 * 1024));
});

test('what was typed before the page went to another session still arrives', async (t) => {
  const server = await start(t);
  const { it, until } = sender(server);
  it.open();
  it.type(bytes('a'));
  it.type(bytes('b'));
  it.close();
  await until(() => server.typed === 'ab');

  const held = sender(server);
  held.it.type(bytes('never seen'));
  held.it.close();
  assert.equal(held.it.waiting, 0);
});

test('keys are not typed to another run of the program than they were meant for', async (t) => {
  const server = await start(t);
  const { it, reports, until } = sender(server);
  it.type(bytes('rm é\x1b[A\x1bOB\r'));
  it.type(bytes('\x1b[?1;2c'), false);
  assert.deepEqual(reports, [{ kind: 'waiting' }]);
  it.run = 2;
  it.type(bytes('ls'));
  it.open();
  await until(() => server.typed === 'ls');
  assert.deepEqual(reports, [{ kind: 'waiting' }, { kind: 'outlived', keys: 7 }, { kind: 'waiting' }]);
});

test('a request without an answer is not repeated to another run', async (t) => {
  const server = await start(t, (n) => (n === 1 ? 'lose' : 'type'));
  const { it, reports, until } = sender(server);
  it.open();
  it.type(bytes('a'));
  it.type(bytes('bc'));
  await until(() => reports.length === 1);
  it.run = null;
  it.run = 2;
  it.type(bytes('d'));
  await until(() => server.typed === 'ad');
  assert.deepEqual(reports, [{ kind: 'retrying' }, { kind: 'outlived', keys: 3 }]);
});

test('a request without an answer is not repeated while keys are held', async (t) => {
  const server = await start(t, (n) => (n === 1 ? 'lose' : 'type'));
  const { it, reports, until } = sender(server);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  it.open();
  it.type(bytes('a'));
  it.hold();
  await until(() => reports.length === 1);
  it.type(bytes('b'));
  t.mock.timers.tick(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(server.posts.length, 1);
  it.open();
  await until(() => server.typed === 'ab');
  assert.equal(server.posts[0].key, server.posts[1].key);
});

test('an answer to the program is not typed late, and nobody is told of one that is lost', async (t) => {
  const server = await start(t, (n) => ['lose', { status: 429, written: 0 }, { status: 409, written: 0 }][n - 1] ?? 'type');
  const { it, reports, until } = sender(server);
  it.type(bytes('held'), false);
  it.open();
  for (const [i, answer] of ['a', 'b', 'c'].entries()) {
    it.type(bytes(answer), false);
    await until(() => server.posts.length === i + 1);
  }
  it.type(bytes('typed'));
  await until(() => server.typed === 'atyped'); // the connection broke after a
  assert.deepEqual(reports, []);
});
