// The log, followed over everything that cuts a connection.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { assertExact, choose, counts, hide, pageTest, prompt, says, screen, see, seeLines, shell, shellTest, start, titled } from './harness.mjs';

shellTest('a reload, and a new tab after the old one was closed, go on where it was', async ({ server, visitor, page, id }) => {
  await page.keyboard.type('x=kept; echo before\n');
  await see(page, /^before$/);
  const was = await screen(page);
  await page.reload();
  await see(page, prompt);
  assert.deepEqual(await screen(page), was);
  await page.keyboard.type('echo $x\n');
  await see(page, /^kept$/);
  await page.close({ runBeforeUnload: false });

  const later = await visitor.open(server.login);
  await see(later, /^kept$/);
  await later.keyboard.type('echo "still $x"\n');
  await see(later, /^still kept$/);
  await assertExact(later, server, id);
});

shellTest('keys that are typed while the page is loading are typed once it has caught up', async ({ server, page, id }) => {
  await page.keyboard.type('seq 20000\n');
  await see(page, /^20000$/);
  await page.addInitScript(() => {
    const { fetch } = window;
    window.fetch = (path, options) => {
      if (path.endsWith('/input')) {
        window.sentWhile ??= window.holdfast.phase;
      }
      return fetch(path, options);
    };
    document.addEventListener('holdfast:output', () => {
      window.phases = [...(window.phases ?? []), window.holdfast.phase];
      if (window.phases.length === 1) {
        window.holdfast.screen.terminal.input('echo held-$((1+1))\r');
      }
    });
  });
  await page.reload();
  await see(page, /^held-2$/);
  assert.equal(await page.evaluate(() => window.phases[0]), 'replaying');
  assert.equal(await page.evaluate(() => window.sentWhile), 'live');
  await assertExact(page, server, id);
});

shellTest('a server that is killed and started again goes on in an open page', async ({ server, page, id }) => {
  await page.keyboard.type('for ((i = 0; ; i++)); do echo "tick $i é"; sleep 0.01; done\n');
  await see(page, /^tick 50 é$/);
  await server.end('SIGKILL');
  await page.waitForFunction(() => document.querySelector('#link').textContent !== '');
  await says(page, '#link', /Reconnecting|not reachable/);
  await server.again();
  await page.waitForFunction(() => window.holdfast?.phase === 'live' && window.holdfast?.session?.live && window.holdfast?.session?.runs === 2);
  await see(page, prompt);
  await page.locator('#head [data-do=resume]').waitFor({ state: 'hidden' });
  await says(page, '.notice p', 'The program was started again: what it had not saved is gone.');
  await page.keyboard.type('echo back\n');
  await see(page, /^back$/);
  const { cursor } = await server.get(id);
  await page.waitForFunction((end) => window.holdfast?.cursor >= end, cursor);
  await assertExact(page, server, id);
});

shellTest('what is typed while the server is down is not typed to the run that it starts', async ({ server, page, id }) => {
  await server.end('SIGKILL');
  await page.waitForFunction(() => document.body.matches('.stale'));
  await titled(page, /^… bash: last seen running/);
  await page.keyboard.type('echo lost\n');
  await page.waitForFunction(() => document.querySelector('#link').textContent.endsWith('typing is held'));
  await server.again();
  await page.waitForSelector('.notice[data-key=outlived]');
  await says(page, '.notice[data-key=outlived] p', '10 keys were typed for a program that has ended; they were not sent.');
  await page.waitForFunction(() => window.holdfast?.phase === 'live' && window.holdfast?.session?.runs === 2 && window.holdfast?.session?.live);
  await page.keyboard.type('echo kept\n');
  await see(page, /^kept$/);
  await counts(page, 'body.stale', 0);
  assert.ok(!(await server.output(id, 0, (await server.get(id)).cursor)).includes('lost'));
});

pageTest('of what is typed while the server is killed and started again no key comes twice, and none is lost without a word', async ({ server, visitor }) => {
  const argv = ['bash', '-c', 'stty raw -echo; echo ready; exec cat >> keys'];
  const { id } = await (await server.request('POST', 'new', { argv, auto_resume: true, cols: 80, rows: 24 })).json();
  const page = await visitor.open(server.login);
  await see(page, /^ready/);
  await page.click('#pane');
  const words = Array.from({ length: 120 }, (_, i) => `${i};`);
  const typed = (async () => {
    for (const word of words.slice(0, 100)) {
      await page.keyboard.type(word);
    }
  })();
  const keys = path.join(server.dir, 'keys');
  while (!(await fs.readFile(keys, 'utf8').catch(() => '')).includes('40;')) {
    await page.waitForTimeout(5);
  }
  await server.end('SIGKILL');
  await typed;
  await page.waitForFunction(() => document.body.matches('.stale'));
  await server.again();
  await page.waitForSelector('.notice[data-key=outlived]');
  const reported = Number(/^\d+/.exec(await page.locator('.notice[data-key=outlived] p').textContent()));
  await page.waitForFunction(() => window.holdfast.phase === 'live' && window.holdfast.session.live && window.holdfast.session.runs === 2);
  for (const word of words.slice(100)) {
    await page.keyboard.type(word);
  }
  let taken = '';
  while (!taken.endsWith('119;')) {
    taken = await fs.readFile(keys, 'utf8');
    await page.waitForTimeout(20);
  }
  const whole = words.join('');
  const before = [...whole].findIndex((char, i) => taken[i] !== char);
  const after = taken.length - before;
  assert.equal(taken, whole.slice(0, before) + whole.slice(whole.length - after), 'keys came twice, or in another order');
  const lost = whole.length - taken.length;
  const dying = lost - reported; // were on their way to the program when it died
  assert.ok(reported > 0 && dying >= 0 && dying < 20, `${lost} keys were lost, ${reported} of them were told of`);
  assert.equal((await server.get(id)).runs, 2);
});

pageTest('a program that is not started again by itself is resumed where it was', async ({ server, visitor }) => {
  const { id } = await server.session('cat');
  const page = await visitor.open(server.login);
  await page.waitForFunction(() => window.holdfast?.phase === 'live');
  await page.click('#pane');
  await page.keyboard.type('before\n');
  await seeLines(page, ['before', 'before']);
  await server.end('SIGKILL');
  await server.again();
  await page.waitForSelector('#head [data-do=resume]:not([hidden])');
  await page.locator('#head [data-do=stop]').waitFor({ state: 'hidden' });
  await choose(page, 'resume');
  await page.waitForFunction(() => window.holdfast?.phase === 'live' && window.holdfast?.session?.live && document.activeElement.closest('#pane'));
  await page.keyboard.type('after\n');
  await seeLines(page, ['before', 'before', 'after', 'after']);
  await counts(page, '.notice', 0); // who resumes it knows that
  await assertExact(page, server, id);
});

shellTest('an error answer does not end the stream: it is begun again at the cursor', async ({ server, page, id }) => {
  await page.keyboard.type('echo first\n');
  await see(page, /^first$/);
  let refused = 0;
  await page.route('**/events?*', (route) => (refused++ < 2 ? route.fulfill({ status: 503, body: 'busy' }) : route.fallback()));
  await page.evaluate(() => window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })));
  await page.waitForFunction(() => window.holdfast?.phase === 'waiting');
  await server.request('POST', `sessions/${id}/input`, { text: 'echo second', enter: true });
  await see(page, /^second$/);
  const last = page.requests.filter((request) => request.url().includes('/events')).at(-1);
  assert.match(last.url(), /from=\d+/);
  await assertExact(page, server, id);
});

shellTest('a hidden tab has no stream, and goes on when it is seen again', async ({ server, page, id }) => {
  await hide(page, true);
  assert.equal(await page.evaluate(() => window.holdfast.phase), 'waiting');
  await server.request('POST', `sessions/${id}/input`, { text: 'echo unseen', enter: true });
  await hide(page, false);
  await see(page, /^unseen$/);
  await assertExact(page, server, id);
});

pageTest('a stream that says nothing for too long is begun again', async ({ server, visitor }) => {
  await visitor.context.addInitScript(() => {
    const now = Date.now;
    window.skip = 0;
    Date.now = () => now() + window.skip;
  });
  const page = await visitor.open(server.login);
  await start(page, shell, prompt);
  const streams = () => page.requests.filter((request) => request.url().includes('/events')).length;
  const before = streams();
  const again = page.waitForRequest(/events/);
  await page.evaluate(() => (window.skip = 20_000));
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  assert.equal(streams(), before);
  await page.evaluate(() => (window.skip = 60_000));
  await again;
  await see(page, prompt);
});

shellTest('a program that prints faster than the page draws is shown to the last byte', async ({ server, page, id }) => {
  await page.keyboard.type('seq 900000; echo done\n');
  await page.waitForFunction(() => window.holdfast?.screen?.text().includes('done'), null, { timeout: 60_000 });
  const size = await assertExact(page, server, id);
  assert.ok(size > 6_000_000, `${size} bytes`);
  const pauses = page.requests.filter((request) => request.url().includes('from=')).length;
  assert.ok(pauses > 0, 'the stream was never paused for the page to catch up');
});

pageTest('what the documents say of EventSource is so, from the same origin and from another', async ({ t, server, visitor }) => {
  const [, code] = /```js\n(const stream[^]*?)```/.exec(await fs.readFile(new URL('../../docs/events.md', import.meta.url), 'utf8'));
  const run = async (page, ...want) => {
    const lines = [];
    page.on('console', (message) => message.type() === 'log' && lines.push(message.text()));
    await page.evaluate(code); // as a console does
    while (!lines.at(-1)?.includes(want.at(-1))) {
      await page.waitForTimeout(20);
    }
    for (const line of want) {
      assert.ok(lines.some((text) => text.includes(line)), `no ${JSON.stringify(line)} in ${JSON.stringify(lines)}`);
    }
    return lines;
  };
  await server.session('sh', '-c', 'echo first; read line; printf "\\377"; echo $line');
  const page = await visitor.open(server.login);
  await see(page, /^first$/);
  const lines = run(page, 'first', 'ÿ', 'last', 'end ended', 'it is over');
  await server.request('POST', 'input', { text: 'last', enter: true });
  await lines;

  const other = http.createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<title>other</title>')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const elsewhere = await visitor.context.newPage();
  await elsewhere.goto(`http://127.0.0.1:${other.address().port}/`);
  await elsewhere.evaluate((url) => {
    const Here = window.EventSource;
    window.EventSource = class extends Here {
      constructor(path) {
        super(new URL(path, url), { withCredentials: true });
      }
    };
  }, server.url);
  assert.deepEqual(await run(elsewhere, 'it is over, or was refused'), ['it is over, or was refused']);
});
