// The page under a thumb.

import assert from 'node:assert/strict';
import { choose, pageTest, phone, prompt, says, see, seeLines, shell, start } from './harness.mjs';
import { arrow, withControl } from '../web/keybar.js';
import test from 'node:test';

test('Control makes of a character what a terminal does', () => {
  for (const [text, want] of [['c', '\x03'], ['C', '\x03'], ['[', '\x1b'], [' ', '\0'], ['?', '\x7f'], ['é', 'é'], ['ab', 'ab'], ['1', '1']]) {
    assert.equal(withControl(text), want, text);
  }
  assert.equal(arrow('ArrowUp'), '\x1b[A');
  assert.equal(arrow('ArrowLeft', { application: true }), '\x1bOD');
  assert.equal(arrow('ArrowRight', { control: true, application: true }), '\x1b[1;5C');
});

const phoneTest = (name, body, device = {}) =>
  pageTest(name, async ({ server, visitor }) => {
    const page = await visitor.open(server.login);
    const id = await start(page, shell, prompt);
    await body({ server, visitor, page, id });
  }, { ...phone, ...device });

phoneTest('the key bar has what an on-screen keyboard has not, and leaves that open', async ({ page }) => {
  const focused = () => page.evaluate(() => document.activeElement.className);
  await page.tap('#pane');
  assert.match(await focused(), /xterm-helper-textarea/);
  await page.keyboard.type('echo ready; cat -v\n');
  await see(page, /^ready$/); // and the shell reads no more
  for (const key of ['Escape', 'Tab', 'ArrowUp', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'Control']) {
    await page.tap(`#keys [data-key=${key}]`);
    assert.match(await focused(), /xterm-helper-textarea/, key);
  }
  await page.keyboard.type('v'); // ^V, for the next to be taken as it is
  await page.tap('#keys [data-key=Control]');
  await page.tap('#keys [data-key=ArrowLeft]');
  await page.keyboard.type('x\n');
  await see(page, /^\^\[ {6}\^\[\[A\^\[\[B\^\[\[C\^\[\[D\^\[\[1;5Dx$/);

  await page.tap('#keys [data-key=Control]');
  await page.tap('#keys [data-key=Control]'); // stays
  assert.equal(await page.getAttribute('#keys [data-key=Control]', 'aria-pressed'), 'true');
  await page.keyboard.type('cl');
  await page.tap('#keys [data-key=Control]');
  assert.equal(await page.getAttribute('#keys [data-key=Control]', 'aria-pressed'), 'false');
  await page.keyboard.type('echo free\n');
  await seeLines(page, ['$ echo free', 'free']);
});

phoneTest('text can be pasted, also where the clipboard cannot be read', async ({ visitor, page }) => {
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() => navigator.clipboard.writeText('echo from-the-clipboard'));
  await page.tap('#keys [data-key=Paste]');
  await see(page, /^\$ echo from-the-clipboard$/);
  await page.keyboard.type('\n');
  await see(page, /^from-the-clipboard$/);
  await visitor.context.clearPermissions();
  await page.evaluate(() => (navigator.clipboard.readText = () => Promise.reject(new Error('no'))));
  await page.tap('#keys [data-key=Paste]');
  await page.fill('#paste textarea', 'echo from-the-dialog');
  await page.tap('#paste .primary');
  await see(page, /^\$ echo from-the-dialog$/);
  await page.tap('#pane');
  await page.keyboard.type('\n');
  await see(page, /^from-the-dialog$/);
});

phoneTest('what was printed can be copied, all of it or a part', async ({ visitor, page }) => {
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const url = `https://build.example/${'0123456789'.repeat(12)}`; // longer than a line
  await page.keyboard.type(`clear; seq 3; echo ${url.replace('https', 'ht"tps"')}\n`);
  await see(page, /^https:/);
  await see(page, prompt);
  await choose(page, 'copy');
  assert.equal(await page.inputValue('#copy textarea'), `1\n2\n3\n${url}\n$`);
  await page.tap('#copy .primary');
  await page.waitForFunction(() => !document.querySelector('dialog[open]'));
  assert.equal(await copied(), `1\n2\n3\n${url}\n$`);
  await choose(page, 'copy');
  await page.evaluate(() => document.querySelector('#copy textarea').setSelectionRange(6, 11));
  await page.tap('#copy .primary');
  await page.waitForFunction(() => !document.querySelector('dialog[open]'));
  assert.equal(await copied(), 'https');
});

phoneTest('the on-screen keyboard covers nothing, and nothing makes the page zoom by itself', async ({ page }) => {
  const small = () => page.evaluate(() => [...document.querySelectorAll('input:not([type=checkbox], [type=radio]), select, textarea')]
    .filter((element) => parseFloat(getComputedStyle(element).fontSize) < 16).map((element) => element.outerHTML));
  assert.deepEqual(await small(), []);
  assert.ok(!/user-scalable|maximum-scale/.test(await page.getAttribute('meta[name=viewport]', 'content')));

  // What a browser does that covers the window instead of making it smaller.
  await page.evaluate(() => {
    const { visualViewport } = window;
    Object.defineProperties(visualViewport, { height: { value: 380 }, offsetTop: { value: 60 }, scale: { value: 1 } });
    visualViewport.dispatchEvent(new Event('resize'));
  });
  const box = async (part) => page.locator(part).boundingBox();
  const bottom = async () => {
    const { y, height } = await box('#keys');
    return y + height;
  };
  assert.ok(Math.abs((await bottom()) - 440) < 1, `the key bar ends at ${await bottom()}`);
  assert.equal((await box('.top')).y, 60);
  await page.waitForFunction(() => document.querySelector('.xterm-screen').getBoundingClientRect().bottom <= document.querySelector('#keys').getBoundingClientRect().top);
});

phoneTest('a finger scrolls what was printed, and wheels in a program that takes the mouse', async ({ visitor, page }) => {
  await page.keyboard.type('seq 200\n');
  await see(page, /^200$/);
  const cdp = await visitor.context.newCDPSession(page);
  const drag = async (distance) => {
    const touch = (type, ...touchPoints) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints });
    await touch('touchStart', { x: 150, y: 350 });
    for (let i = 1; i <= 10; i++) {
      await touch('touchMove', { x: 150, y: 350 + (distance * i) / 10 });
    }
    await touch('touchEnd');
  };
  const line = () => page.evaluate(() => window.holdfast.screen.terminal.buffer.active.viewportY);
  await page.waitForFunction(() => window.holdfast.screen.terminal.buffer.active.viewportY === 202 - window.holdfast.session.rows);
  const bottom = await line();
  await drag(250);
  assert.ok((await line()) < bottom - 5, `${await line()} of ${bottom}`);
  await drag(-300);
  await page.waitForFunction((want) => window.holdfast.screen.terminal.buffer.active.viewportY === want, bottom);

  await page.keyboard.type('seq 200 | less\n');
  await see(page, /^:/);
  await seeLines(page, ['1']);
  await drag(-200);
  await page.waitForFunction(() => Number(window.holdfast.screen.text()[0]) > 3);
  await page.keyboard.type('q');
  await see(page, prompt);
});

phoneTest('a long name is cut on its line, and takes nothing from the terminal', async ({ server, page, id }) => {
  for (const width of [390, 360, 320]) {
    await page.setViewportSize({ width, height: 700 });
    const heights = [];
    for (const name of ['cat', 'the rewound conversation about the empty cart in the shop (copy 2)']) {
      await server.request('PATCH', `sessions/${id}`, { name });
      await says(page, '#name', name);
      heights.push(await page.evaluate(() => document.querySelector('#head').offsetHeight));
    }
    assert.equal(heights[1], heights[0], `${width} pixels`);
    assert.ok(await page.evaluate(() => document.querySelector('#name').scrollWidth > document.querySelector('#name').clientWidth), `${width} pixels`);
  }
});

phoneTest('the smallest phone shows all keys, and one on its side a terminal beside its keyboard', async ({ page }) => {
  const inside = (part) => page.waitForFunction((part) => {
    const box = document.querySelector(part).getBoundingClientRect();
    return box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight && document.documentElement.scrollWidth <= innerWidth;
  }, part);
  const lines = (n) => page.waitForFunction((n) => window.holdfast.screen.room().rows >= n, n);
  await page.setViewportSize({ width: 320, height: 500 });
  await inside('#keys [data-key=Paste]');
  for (const height of [360, 150]) {
    await page.setViewportSize({ width: 740, height });
    await lines(4);
  }
  await page.setViewportSize({ width: 740, height: 270 });
  await page.tap('#more');
  await page.locator('#menu [data-do=delete]').scrollIntoViewIfNeeded();
  await inside('#menu [data-do=delete]');
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 844, height: 390 });
  await page.tap('.top [data-do=new]');
  await page.locator('#create .primary').scrollIntoViewIfNeeded();
  await inside('#create .primary');
});
