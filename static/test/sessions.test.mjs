// The list of sessions, and what can be done with them.

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import { choose, counts, pageTest, phone, prompt, says, see, shell, shellTest, start } from './harness.mjs';

/** A promise with its resolve. */
function gate() {
  let resolve;
  const promise = new Promise((r) => (resolve = r));
  return { promise, resolve };
}

pageTest('sessions that are started one after the other get the size of the window and every key', async ({ server, visitor }) => {
  const page = await visitor.open(server.login);
  for (let i = 0; i < 5; i++) {
    const id = await start(page, shell, prompt);
    const { cols, rows } = await server.get(id);
    assert.ok(cols > 90 && rows > 30, `${cols} x ${rows}`);
    await page.keyboard.type(`echo abcdefghijklmnopqrstuvwxyz-$((${i} + 1))\n`);
    await see(page, new RegExp(`^abcdefghijklmnopqrstuvwxyz-${i + 1}$`));
    const now = await server.get(id);
    assert.deepEqual([now.cols, now.rows], [cols, rows]);
  }
});

pageTest('a program that cannot start is explained where it was asked for', async ({ server, visitor }) => {
  const page = await visitor.open(server.login);
  await page.click('.top [data-do=new]');
  await page.fill('#command', 'no-such-program --flag');
  await page.click('#create .primary');
  await page.waitForSelector('#create .error:not([hidden])');
  await says(page, '#create .error', /^Command line "no-such-program": /);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'command');
  await page.fill('#command', 'true');
  await page.fill('#folder', '/no/such/folder');
  await page.click('#create .primary');
  await page.waitForSelector('#folder[aria-invalid=true]:focus');
  await says(page, '#create .error', /^Folder "\/no\/such\/folder": /);
  await counts(page, '[aria-invalid]', 1);
  await page.keyboard.press('Escape');
  await counts(page, '#side li', 0);
});

shellTest('a session can be stopped, resumed, renamed, forked and deleted', async ({ server, page, id }) => {
  await choose(page, 'rename');
  await page.fill('#answer', 'build box');
  await page.click('#ask .primary');
  await page.waitForFunction(() => document.querySelector('#name').textContent === 'build box');

  await choose(page, 'stop');
  await page.click('#ask .primary');
  await page.waitForSelector('#head [data-do=resume]:not([hidden])');
  assert.equal((await server.get(id)).state, 'stopped');
  await page.click('#pane');
  await page.keyboard.type('x');
  await says(page, '.notice p', /not running: resume it/);
  assert.deepEqual(await page.locator('.notice button').allTextContents(), ['Resume', 'Dismiss']);
  await choose(page, 'resume');
  await page.waitForFunction(() => window.holdfast?.session?.live && document.activeElement.closest('#pane'));
  await counts(page, '.notice', 0);
  await page.keyboard.type('echo again\n');
  await see(page, /^again$/);

  await choose(page, 'fork');
  await page.click('#turns .primary');
  await page.waitForFunction((parent) => window.holdfast?.session?.parent === parent, id);
  await see(page, /^again$/);
  await counts(page, '#side li', 2);

  await choose(page, 'delete');
  await page.click('#ask .primary');
  await page.waitForSelector('#empty:not([hidden])');
  await counts(page, '.notice', 0); // who deletes it knows that
  await page.click('#side a');
  await see(page, /^again$/);
  await counts(page, '#side li', 1);
});

pageTest('the list tells what each session is, and finds it by that', async ({ server, visitor }) => {
  const make = async (name, ...argv) => (await server.request('POST', 'sessions', { name, argv, cwd: '/srv', cols: 80, rows: 24 })).json();
  const { id } = await make('build box', 'cat', '-u');
  for (const text of ['one', 'two']) {
    await server.request('POST', `sessions/${id}/input`, { text, enter: true });
  }
  const other = await make('other', 'sh', '-c', 'kill -9 $$');
  while ((await server.get(other.id)).state !== 'ended');
  await server.end('SIGKILL');
  await server.again();
  const page = await visitor.open(server.login);
  const told = async (name) => page.locator('#side a', { hasText: name }).evaluate((item) => [...item.children].map((part) => part.textContent));
  assert.deepEqual((await told('build box')).filter((_, i) => i !== 2), ['', 'build box', 'cat -u', 'interrupted: what had it crashed · 2 turns', '']);
  assert.match((await told('build box'))[2], /^(now|\d+ (s|min))$/);
  assert.equal((await told('other'))[4], 'ended by SIGKILL');
  for (const [text, found] of [['BOX', 1], ['cat', 1], ['ended', 1], ['', 2], ['neither', 0]]) {
    await page.fill('#filter', text);
    await counts(page, '#side li', found);
  }
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
  await page.waitForFunction((want) => window.holdfast?.session?.id === want, id);
  await server.request('DELETE', `sessions/${id}`);
  await page.waitForSelector('#empty:not([hidden])');
  await counts(page, '#side li', 0);
});

pageTest('a session that cannot be read says why, and can be deleted', async ({ server, visitor }) => {
  const { id } = await server.session('true');
  await server.end('SIGTERM');
  await fs.writeFile(path.join(server.dir, 'store', 'sessions', id, 'session.json'), '{"version":');
  await server.again();
  const page = await visitor.open(server.login);
  await page.click('#side a');
  await says(page, '#side .state', /^unreadable: ./);
  await page.waitForFunction(() => window.holdfast?.screen?.text().join(' ').includes('this session cannot be read'));
  await page.click('#more');
  assert.deepEqual(await page.locator(':is(#head, #menu) [data-do]:visible').allTextContents(), ['Delete…']);
  await page.click('#more');
  await choose(page, 'delete');
  await page.click('#ask .primary');
  await page.waitForSelector('#empty:not([hidden])');
  await counts(page, '#side li', 0);
});

shellTest('a session that would be resumed by itself can be kept from it', async ({ server, page, id }) => {
  await server.end('SIGKILL');
  await server.again('--no-auto-resume');
  await page.waitForFunction(() => window.holdfast?.session?.state === 'interrupted');
  const stop = page.locator('#head [data-do=stop]');
  assert.equal(await stop.textContent(), 'Do not resume');
  await stop.click();
  await page.click('#ask .primary');
  await stop.waitFor({ state: 'hidden' });
  const { state, auto_resume: again } = await server.get(id);
  assert.deepEqual({ state, again }, { state: 'interrupted', again: false });
});

shellTest('everything can be done with the keyboard, and the help tells how', async ({ server, page, id }) => {
  await page.keyboard.type('echo nrsfbp/\n'); // in the terminal they are only letters
  await see(page, /^nrsfbp\/$/);
  const open = (dialog) => page.waitForSelector(`#${dialog}[open]`);
  const close = async () => {
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog[open]'));
  };
  await page.keyboard.press('Control+Shift+E');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-current')), 'true');
  for (const [key, dialog] of [['?', 'help'], ['n', 'create'], ['f', 'turns'], ['b', 'turns'], ['p', 'switch'], ['F2', 'ask'], ['Delete', 'ask'], ['s', 'ask']]) {
    await page.keyboard.press(key);
    await open(dialog);
    if (key === '?') {
      const told = await page.locator('#help dt').allTextContents();
      for (const name of ['/', 'n', 'r', 's', 'f', 'b', 'p', 'F2', 'Del', '?', 'Ctrl Shift E', 'Ctrl Shift F']) {
        assert.ok(told.includes(name), `the help does not tell of ${name}`);
      }
    }
    await close();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-current')), 'true', `after ${key} the focus is elsewhere`);
  }
  await page.keyboard.press('s');
  await open('ask');
  await page.keyboard.press('Tab'); // the first is Cancel
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !window.holdfast.session.live && !document.querySelector('dialog[open]'));
  await page.keyboard.press('r');
  await page.waitForFunction(() => window.holdfast.session.live && document.activeElement.closest('#pane'));
  assert.equal((await server.get(id)).runs, 2);

  await page.keyboard.press('Control+Shift+E');
  await page.keyboard.press('/');
  await page.keyboard.type('no such thing');
  await says(page, '#side .none', /No session matches/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.keyboard.type('echo keys\n');
  await see(page, /^keys$/);

  await page.keyboard.press('Control+Shift+E');
  while (!(await page.evaluate(() => document.activeElement.id === 'more'))) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.dataset.do === 'rename');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.do), 'delete');
  await page.keyboard.press('Enter');
  await open('ask');
  await close();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'more', 'after a dialog of the menu the focus is elsewhere');
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll('button, input, select, textarea, a')]
      .filter((element) => element.checkVisibility() && !(element.textContent.trim() || element.ariaLabel || element.labels?.length))
      .map((element) => element.outerHTML));
  assert.deepEqual(unnamed, []);
});

shellTest('what is printed is read out where that is asked for', async ({ page }) => {
  await page.click('#side [data-do=help]');
  await page.check('#spoken');
  await page.click('#help .primary');
  await page.click('#pane');
  await page.keyboard.type('echo "read this"\n');
  await page.waitForFunction(() => document.querySelector('.xterm-accessibility .live-region')?.textContent.includes('read this'));
  await page.reload();
  await see(page, prompt);
  await counts(page, '.xterm-accessibility', 1);
});

pageTest('a server that is not there yet is waited for, and one that fails says why', async ({ server, visitor }) => {
  const page = await visitor.tab();
  await page.route('**/sessions', (route) => route.abort());
  await page.goto(server.login);
  await page.waitForFunction(() => document.querySelector('#loading').textContent === 'The server is not reachable, trying again…');
  await page.unroute('**/sessions');
  await page.waitForSelector('#empty:not([hidden])');

  await page.route('**/profiles', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json',
    body: JSON.stringify({ type: 'tag:holdfast,2026:closing', status: 503, title: 'Server is ending', detail: 'the server is ending; try again in a moment' }) }));
  await page.click('.top [data-do=new]');
  await page.waitForSelector('.notice');
  await says(page, '.notice p', 'the server is ending; try again in a moment');
});

pageTest('on a phone the name can be read, and every button can be hit', async ({ server, visitor }) => {
  const { id } = await server.session('cat');
  await server.request('PATCH', `sessions/${id}`, { name: 'build of the release branch' });
  const page = await visitor.open(server.login);
  await page.waitForFunction(() => window.holdfast?.phase === 'live');
  const cut = await page.evaluate(() => {
    const name = document.querySelector('#name');
    return name.scrollWidth - name.clientWidth;
  });
  assert.equal(cut, 0);
  const small = await page.evaluate(() => [...document.querySelectorAll('button, a, #filter')]
    .filter((element) => element.checkVisibility())
    .map((element) => [element.textContent.trim(), element.getBoundingClientRect()])
    .filter(([, box]) => box.width < 40 || box.height < 40 || box.left < 0 || box.right > innerWidth));
  assert.deepEqual(small, []);
  await page.click('#more');
  const [above, danger] = await Promise.all(['earlier', 'delete'].map((name) => page.locator(`#menu [data-do=${name}]`).boundingBox()));
  assert.ok(danger.y >= above.y + above.height + 5, 'Delete is apart');
}, phone);
