// The page in a real browser, against a real server.

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { assertExact, browse, screen, see, seeLines, Server, start, Visitor } from './harness.mjs';

const shell = 'bash --norc --noprofile';
const prompt = /^\$ $/;

let browser;
before(async () => (browser = await browse()));
after(() => browser.close());

/** A test of the page with a server and somebody who visits it. */
const pageTest = (name, body) =>
  test(name, async (t) => {
    const server = await Server.start(t);
    const visitor = await Visitor.come(t, browser, server);
    await body({ server, visitor });
    visitor.check();
  });

/** A test that begins in a tab with a shell. */
const shellTest = (name, body) =>
  pageTest(name, async ({ server, visitor }) => {
    const page = await visitor.open(server.login);
    const id = await start(page, shell, prompt);
    await body({ server, visitor, page, id });
  });

/** A promise with its resolve. */
function gate() {
  let resolve;
  const promise = new Promise((r) => (resolve = r));
  return { promise, resolve };
}

const typed = (page) => page.requests.filter((request) => request.url().endsWith('/input')).length;

pageTest('the token of the address logs in and is gone from it and from the history', async ({ server, visitor }) => {
  const page = await visitor.open(server.login);
  const places = await page.evaluate(() => [location.href, document.referrer, ...navigation.entries().map(({ url }) => url)]);
  assert.ok(!places.some((place) => place.includes(server.token)), places.join(' '));
  assert.equal(await page.locator('#empty h2').textContent(), 'No sessions yet');
  for (const request of page.requests) {
    assert.ok(!request.url().includes(server.token), request.url());
  }
  await page.goto('about:blank');
  await page.goto(server.url); // without a token
  await page.waitForSelector('body[data-view=main]');
});

pageTest('without a login the page asks for the token, and says when it is wrong', async ({ server, visitor }) => {
  const page = await visitor.tab();
  await page.goto(server.url);
  await page.fill('#token', 'guess');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#login .error:not([hidden])');
  assert.equal(await page.locator('#login .error').textContent(), 'This token is not the server’s.');
  await page.fill('#token', server.token);
  await page.keyboard.press('Enter');
  await page.waitForSelector('body[data-view=main]');
});

shellTest('a shell runs what is typed and shows what it prints', async ({ server, page, id }) => {
  await page.keyboard.type('echo "sum: $((6 * 7))  漢字 é"\n');
  await see(page, /^sum: 42  漢字 é$/);
  assert.match(await page.title(), /^● bash: running/);
  await assertExact(page, server, id);
});

pageTest('a program that cannot start is explained where it was asked for', async ({ server, visitor }) => {
  const page = await visitor.open(server.login);
  await page.click('.top [data-do=new]');
  await page.fill('#command', 'no-such-program --flag');
  await page.click('#create .primary');
  await page.waitForSelector('#create .error:not([hidden])');
  assert.match(await page.locator('#create .error').textContent(), /no-such-program/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#side li').count(), 0);
});

shellTest('vim and less are drawn as their files are, and follow the size of the window', async ({ server, page, id }) => {
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i + 1} ${'·'.repeat(i % 50)} end`);
  await fs.writeFile(path.join(server.dir, 'lines.txt'), lines.join('\n') + '\n');

  await page.keyboard.type('vim -u NONE -n lines.txt\n');
  await see(page, /^line 1 {2}end$/);
  const seeFile = async (first) => {
    await page.waitForFunction(() => window.holdfast.session.rows === window.holdfast.screen.text().length);
    const rows = (await server.get(id)).rows;
    await seeLines(page, lines.slice(first - 1, first + rows - 2)); // all but the last row
    return rows;
  };
  await page.keyboard.type('150Gzt');
  const rows = await seeFile(150);

  await page.setViewportSize({ width: 900, height: 500 });
  await page.waitForFunction((before) => window.holdfast.session.rows < before, rows);
  await page.keyboard.type('200Gzt');
  await seeFile(200);
  await page.keyboard.type(':q\n');
  await see(page, prompt);

  await page.keyboard.type('less lines.txt\n');
  await see(page, /^lines.txt/);
  await page.keyboard.type('100g');
  await seeFile(100);
  await page.keyboard.type('q');
  await see(page, prompt);
});

shellTest('htop is drawn whole', async ({ page }) => {
  await page.keyboard.type('htop\n');
  await see(page, /PID.*USER.*Command/);
  await see(page, /F1Help *F2Setup *F3Search.*F10Quit/);
  const drawn = await screen(page);
  assert.match(drawn.at(-1), /F10Quit/);
  assert.ok(drawn.some((line) => /holdfast serve/.test(line) || /htop/.test(line)), drawn.join('\n'));
  assert.ok(!drawn.join('').includes('\x1b'));
  await page.keyboard.type('q');
  await see(page, prompt);
});

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

shellTest('queries in replayed output are not answered, those in live output are, by one of two tabs', async ({ server, visitor, page, id }) => {
  const other = await visitor.open(`${server.url}#${id}`);
  await see(other, prompt);
  await page.bringToFront();
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));

  // Device attributes and cursor position; the answer ends with R.
  const ask = String.raw`printf 'asked\e[c\e[6n'; IFS= read -rsd R -t 10 answer; printf '\r\n%q\r\n' "$answer"; IFS= read -rsn1 -t 1 more; echo "more=$more."`;
  await page.keyboard.type(`${ask}\n`);
  await see(page, /^\$'\\E\[\?1;2c\\E\[\d+;\d+'$/);
  await see(page, /^more=\.$/);

  const { cursor } = await server.get(id);
  for (const one of [page, other]) {
    const before = typed(one);
    await one.reload();
    await see(one, /^more=\.$/);
    await one.waitForFunction(() => window.holdfast.screen.pending === 0);
    assert.equal(typed(one), before, 'requests to type after a reload');
  }
  assert.equal((await server.get(id)).cursor, cursor, 'the log grew by a reload');
});

shellTest('a server that is killed and started again goes on in an open page', async ({ server, page, id }) => {
  await page.keyboard.type('for ((i = 0; ; i++)); do echo "tick $i é"; sleep 0.01; done\n');
  await see(page, /^tick 50 é$/);
  await server.end('SIGKILL');
  await page.waitForFunction(() => document.querySelector('#link').textContent !== '');
  assert.match(await page.locator('#link').textContent(), /Reconnecting|not reachable/);
  await server.again();
  await page.waitForFunction(() => window.holdfast.phase === 'live');
  await page.click('#head [data-do=resume]');
  await see(page, prompt);
  await page.keyboard.type('echo back\n');
  await see(page, /^back$/);
  const { cursor } = await server.get(id);
  await page.waitForFunction((end) => window.holdfast.cursor >= end, cursor);
  await assertExact(page, server, id);
});

shellTest('two tabs show the same session, and a key typed in one is seen in both', async ({ server, visitor, page, id }) => {
  const other = await visitor.open(`${server.url}#${id}`);
  await other.setViewportSize({ width: 700, height: 400 }); // it only looks: the size stays
  await see(other, prompt);
  await page.bringToFront();
  await page.keyboard.type('echo one\n');
  await see(other, /^one$/);
  await see(page, /^one$/);
  assert.deepEqual(await screen(other), await screen(page));
  const { cols } = await server.get(id);

  await other.bringToFront();
  await other.keyboard.type('echo two\n'); // who types claims the size
  await see(page, /^two$/);
  await page.waitForFunction((was) => window.holdfast.screen.columns < was, cols);
  for (const one of [page, other]) {
    await assertExact(one, server, id);
  }
});

shellTest('an error answer does not end the stream: it is begun again at the cursor', async ({ server, page, id }) => {
  await page.keyboard.type('echo first\n');
  await see(page, /^first$/);
  let refused = 0;
  await page.route('**/events?*', (route) => (refused++ < 2 ? route.fulfill({ status: 503, body: 'busy' }) : route.fallback()));
  await page.evaluate(() => window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })));
  await page.waitForFunction(() => window.holdfast.phase === 'waiting');
  await server.request('POST', `sessions/${id}/input`, { text: 'echo second', enter: true });
  await see(page, /^second$/);
  const last = page.requests.filter((request) => request.url().includes('/events')).at(-1);
  assert.match(last.url(), /from=\d+/);
  await assertExact(page, server, id);
});

shellTest('a hidden tab has no stream, and goes on when it is seen again', async ({ server, page, id }) => {
  const hide = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  assert.equal(await page.evaluate(() => window.holdfast.phase), 'waiting');
  await server.request('POST', `sessions/${id}/input`, { text: 'echo unseen', enter: true });
  await hide(false);
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

shellTest('what is typed while there is no network is typed once when it is back', async ({ server, visitor, page, id }) => {
  await visitor.context.setOffline(true);
  await page.keyboard.type('echo "once $((40 + 2))"\n');
  await page.waitForFunction(() => window.holdfast.phase !== 'live' || document.querySelector('[data-key=sending]'));
  await visitor.context.setOffline(false);
  await see(page, /^once 42$/);
  await page.waitForFunction(() => !document.querySelector('[data-key=sending]'));
  assert.equal((await screen(page)).filter((line) => line === 'once 42').length, 1);
  await assertExact(page, server, id);
});

shellTest('a program that prints faster than the page draws is shown to the last byte', async ({ server, page, id }) => {
  await page.keyboard.type('seq 1500000; echo done\n');
  await page.waitForFunction(() => window.holdfast.screen.text().includes('done'), null, { timeout: 60_000 });
  const size = await assertExact(page, server, id);
  assert.ok(size > 11_000_000, `${size} bytes`);
  const pauses = page.requests.filter((request) => request.url().includes('from=')).length;
  assert.ok(pauses > 0, 'the stream was never paused for the page to catch up');
});

shellTest('a session can be stopped, resumed, renamed, forked and deleted', async ({ server, page, id }) => {
  await page.click('#head [data-do=rename]');
  await page.fill('#answer', 'build box');
  await page.click('#ask .primary');
  await page.waitForFunction(() => document.querySelector('#name').textContent === 'build box');

  await page.click('#head [data-do=stop]');
  await page.click('#ask .primary');
  await page.waitForSelector('#head [data-do=resume]:not([hidden])');
  assert.equal((await server.get(id)).state, 'stopped');
  await page.click('#pane');
  await page.keyboard.type('x');
  assert.match(await page.locator('.notice p').textContent(), /not running: resume it/);
  await page.click('#head [data-do=resume]');
  await page.waitForFunction(() => window.holdfast.session.live);
  assert.equal(await page.locator('.notice').count(), 0);
  await page.keyboard.type('echo again\n');
  await see(page, /^again$/);

  await page.click('#head [data-do=fork]');
  await page.click('#ask .primary');
  await page.waitForFunction((parent) => window.holdfast.session?.parent === parent, id);
  await see(page, /^again$/);
  assert.equal(await page.locator('#side li').count(), 2);

  await page.click('#head [data-do=delete]');
  await page.click('#ask .primary');
  await page.waitForSelector('#empty:not([hidden])');
  await page.click('#side a');
  await see(page, /^again$/);
  assert.equal(await page.locator('#side li').count(), 1);
});

pageTest('a list that was asked for before a session was made does not take it away', async ({ server, visitor }) => {
  const page = await visitor.open(server.login);
  const asked = gate();
  const made = gate();
  await page.route('**/sessions', async (route) => {
    const response = await route.fetch();
    asked.resolve();
    await made.promise;
    await route.fulfill({ response });
  }, { times: 1 });
  await page.evaluate(() => window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })));
  await asked.promise;
  const id = await start(page, shell, prompt);
  const answered = page.waitForResponse('**/sessions');
  made.resolve();
  await answered;
  await page.keyboard.type('echo here\n');
  await see(page, /^here$/);
  assert.equal(await page.evaluate(() => window.holdfast.session.id), id);
});

pageTest('a session that is deleted or created elsewhere shows at once', async ({ server, visitor }) => {
  const page = await visitor.open(server.login);
  const { id } = await server.session('sleep', '1000');
  await page.click(`#side a[href="#${id}"]`);
  await page.waitForFunction((want) => window.holdfast.session?.id === want, id);
  await server.request('DELETE', `sessions/${id}`);
  await page.waitForSelector('#empty:not([hidden])');
  assert.equal(await page.locator('#side li').count(), 0);
});

shellTest('everything can be reached with the keyboard', async ({ page }) => {
  await page.keyboard.press('Control+Shift+E');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-current')), 'true');
  await page.keyboard.press('Enter');
  await page.keyboard.type('echo keys\n');
  await see(page, /^keys$/);
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll('button, input, select, textarea, a')]
      .filter((element) => element.checkVisibility() && !(element.textContent.trim() || element.ariaLabel || element.labels?.length))
      .map((element) => element.outerHTML));
  assert.deepEqual(unnamed, []);
});
