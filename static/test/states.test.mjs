// The page in its main states: an accessibility check of each, in light and in
// dark, and a picture of some, written where HOLDFAST_SCREENSHOTS says.

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import axe from 'axe-core';
import { choose, counts, holdElsewhere, pageTest, phone, see } from './harness.mjs';

const pictures = process.env.HOLDFAST_SCREENSHOTS;

/** Checks the page as it is, in light and in dark, and takes a picture if it has a name. */
async function state(page, name, { picture = false, scheme = 'light' } = {}) {
  await page.evaluate(() => document.fonts.ready);
  for (const colorScheme of scheme === 'light' ? ['dark', 'light'] : ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    const found = violations
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => `${html}: ${failureSummary}`)]);
    assert.deepEqual(found, [], `${name}, ${colorScheme}`);
  }
  if (picture && pictures) {
    const file = path.join(pictures, `${name}.png`);
    await page.screenshot({ path: file });
    assert.ok((await fs.stat(file)).size < 150_000, `${file} is too large`);
  }
}

/** A tab with the checker. */
async function open(visitor, address) {
  await visitor.context.addInitScript(axe.source);
  const page = await visitor.tab();
  await page.goto(address);
  return page;
}

const make = String.raw`#!/bin/bash
printf '$ make\r\n\e[36mcompile\e[0m session/controller.go\r\n\e[36mcompile\e[0m store/log.go\r\n\e[33mwarning\e[0m: store/log.go:41: unused result\r\n\e[36mlink\e[0m    holdfast\r\n\e[1;32mok\e[0m      214 tests, 0 failures, see https://build.example/214\r\n$ '
exec cat`;
const agent = String.raw`#!/bin/bash
printf 'agent 1.0, in /srv/shop\n> '
while read -r line; do
  printf '\e[2mthinking\e[0m\r\e[32mdone\e[0m    %s\n> ' "$line"
done`;

/** A store with sessions in most states. */
async function fill(server) {
  await fs.mkdir(path.join(server.dir, 'bin'));
  for (const [name, script] of Object.entries({ make, agent, 'nightly-import': '#!/bin/sh\nexit 3' })) {
    await fs.writeFile(path.join(server.dir, 'bin', name), script, { mode: 0o755 });
  }
  const start = async (name, ...argv) => (await server.request('POST', 'sessions', { name, argv, cwd: '/srv', cols: 100, rows: 30 })).json();
  await start('nightly import', 'nightly-import', '--all');
  const old = await start('old notes', 'cat');
  await server.request('POST', `sessions/${old.id}/stop`);
  const live = await start('shop', 'agent', '--model', 'local');
  for (const text of ['find out why the cart is empty after a login', 'write a test for it', 'now mend it']) {
    await server.request('POST', `sessions/${live.id}/input`, { text, enter: true });
  }
  return start('build', 'make', '-j2');
}

pageTest('nothing that is shown before the first session bars anybody', async ({ server, visitor }) => {
  const page = await open(visitor, server.url);
  await page.waitForSelector('#token:focus');
  await page.fill('#token', 'guess');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#login .error:not([hidden])');
  await state(page, 'login');
  await page.fill('#token', server.token);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#empty:not([hidden])');
  await state(page, 'empty', { picture: true });
  await page.click('#empty [data-do=new]');
  await page.fill('#command', 'no-such-program');
  await page.click('#create .primary');
  await page.waitForSelector('#create .error:not([hidden])');
  await state(page, 'new');
});

pageTest('no dialog, notice or menu bars anybody', async ({ server, visitor }) => {
  const { id } = await fill(server);
  const page = await open(visitor, server.login);
  await page.click(`#side a[href="#${id}"]`);
  await see(page, /214 tests/);
  await choose(page, 'fit');
  await page.waitForFunction(() => window.holdfast.screen.rows > 30);
  await state(page, 'session', { picture: true });
  await state(page, 'session-dark', { picture: true, scheme: 'dark' });

  await page.click('#more');
  await state(page, 'menu');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Shift+F');
  await page.keyboard.type('compile');
  await page.waitForFunction(() => document.querySelector('#search output').textContent === '1 of 2');
  await state(page, 'search');
  await page.keyboard.press('Escape');

  await page.click('#side a:has-text("shop")');
  await page.waitForFunction(() => window.holdfast.session.name === 'shop');
  await choose(page, 'fork');
  await page.waitForSelector('#turns[open]');
  await state(page, 'fork', { picture: true });
  await counts(page, '.xterm-selection > *', 0);
  await page.keyboard.press('Escape');
  await choose(page, 'switch');
  await page.waitForSelector('#switch[open]');
  await state(page, 'switch');
  await page.keyboard.press('Escape');
  await choose(page, 'copy');
  await page.waitForSelector('#copy[open]');
  await state(page, 'copy');
  await page.keyboard.press('Escape');
  await page.click('#side [data-do=help]');
  await state(page, 'help');
  await page.keyboard.press('Escape');

  await page.click('#side a:has-text("nightly import")');
  await page.click('#pane');
  await page.keyboard.type('x');
  await page.waitForSelector('.notice');
  await state(page, 'ended');
  await page.fill('#filter', 'nothing like it');
  await state(page, 'filtered');
});

pageTest('a session that is held elsewhere, and a server that is gone, bar nobody', async ({ t, server, visitor }) => {
  await fill(server);
  const holder = await holdElsewhere(t, server);
  holder.line('deploying to build7');
  const page = await open(visitor, server.login);
  await page.click(`#side a[href="#${holder.id}"]`);
  await see(page, /deploying/);
  await state(page, 'held', { picture: true });
  await page.click('#side a:has-text("build")');
  await see(page, /214 tests/);
  await server.end('SIGKILL');
  await page.waitForSelector('body.stale');
  await state(page, 'offline', { picture: true });
});

pageTest('nothing on a phone bars anybody', async ({ server, visitor }) => {
  const { id } = await fill(server);
  const page = await open(visitor, server.login);
  await page.waitForSelector('body[data-view=main]');
  await page.evaluate((hash) => (location.hash = hash), id);
  await see(page, /214 tests/);
  await page.tap('[data-do=fit]');
  await page.waitForFunction(() => window.holdfast.screen.columns < 60);
  await page.tap('[data-key=Control]');
  await state(page, 'phone', { picture: true, scheme: 'dark' });
  await page.tap('#toggle');
  await state(page, 'phone-list', { picture: true });
}, phone);
