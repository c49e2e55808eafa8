// Output that is no more on the screen: earlier output, and search.

import assert from 'node:assert/strict';
import { assertExact, choose, pageTest, says, see, shellTest } from './harness.mjs';

const top = (page) => page.evaluate(() => {
  const buffer = window.holdfast.screen.terminal.buffer.active;
  return buffer.getLine(buffer.viewportY).translateToString(true);
});

shellTest('earlier output is loaded when asked for, and the place is kept', async ({ server, page, id }) => {
  await page.keyboard.type('seq 100000 160000\n');
  await see(page, /^160000$/);
  await page.reload();
  await see(page, /^160000$/);
  const bar = page.locator('#earlier');
  assert.equal(await bar.isVisible(), false);

  await page.evaluate(() => window.holdfast.screen.terminal.scrollToTop());
  await bar.waitFor();
  assert.match(await bar.textContent(), /^Load earlier output256 KB of 4\d\d KB/);
  const was = Number(await top(page));
  assert.ok(was > 110_000, `${was}`);
  await page.evaluate(() => (window.given = []));
  await bar.locator('button').click();
  await page.waitForFunction(() => window.holdfast.phase === 'live' && window.holdfast.screen.lines > 60_000);
  await page.waitForFunction((line) => {
    const buffer = window.holdfast.screen.terminal.buffer.active;
    return Number(buffer.getLine(buffer.viewportY).translateToString(true)) === line;
  }, was);
  await assertExact(page, server, id);

  await page.evaluate(() => window.holdfast.screen.terminal.scrollToTop());
  assert.equal(await bar.isVisible(), false, 'there is no more');
  await page.evaluate(() => window.holdfast.screen.terminal.scrollToBottom());
  await page.keyboard.type('echo on it goes\n');
  await see(page, /^on it goes$/);
});

shellTest('earlier output can be loaded with the keyboard, and all of it downloaded', async ({ server, page, id }) => {
  await choose(page, 'earlier');
  await says(page, '.notice p', 'There is no earlier output.');
  await page.click('.notice button');
  await page.click('#pane');
  await page.keyboard.type('seq 100000 160000\n');
  await see(page, /^160000$/);
  await page.reload();
  await see(page, /^160000$/);
  await page.evaluate(() => window.holdfast.screen.terminal.scrollToTop());
  const download = page.waitForEvent('download');
  await page.click('#earlier a');
  const file = await (await download).createReadStream();
  let bytes = 0;
  for await (const part of file) {
    bytes += part.length;
  }
  assert.equal(bytes, (await server.get(id)).cursor);
  await choose(page, 'earlier');
  await page.waitForFunction(() => window.holdfast.phase === 'live' && window.holdfast.screen.lines > 60_000);
});

shellTest('what was printed can be searched, forth and back', async ({ page }) => {
  await page.keyboard.type('for i in {1..200}; do echo "line $i"; done\n');
  await see(page, /^line 200$/);
  await page.keyboard.press('Control+Shift+F');
  await page.keyboard.type('line 12');
  const count = page.locator('#search output');
  const at = async (text) => {
    await page.waitForFunction((want) => document.querySelector('#search output').textContent === want, text);
    return page.evaluate(() => {
      const { terminal } = window.holdfast.screen;
      return terminal.buffer.active.getLine(terminal.getSelectionPosition().start.y).translateToString(true);
    });
  };
  const first = await at('1 of 11');
  await page.keyboard.press('Enter');
  const second = await at('2 of 11');
  assert.notEqual(first, second);
  await page.keyboard.press('Shift+Enter');
  assert.equal(await at('1 of 11'), first);
  await page.keyboard.type('9');
  await at('1 of 1');
  await page.keyboard.type(' no more');
  await page.waitForFunction(() => document.querySelector('#search output').textContent === 'none');
  await page.keyboard.press('Escape');
  assert.equal(await count.isVisible(), false);
  await page.keyboard.type('echo typed again\n');
  await see(page, /^typed again$/);
});

pageTest('an address that was printed opens in a tab of its own', async ({ server, visitor }) => {
  await server.session('sh', '-c', `printf 'see ${server.url}healthz for more'; exec cat`);
  const page = await visitor.open(server.login);
  await see(page, /^see http/);
  const box = await page.locator('.xterm-screen').boundingBox();
  const cell = box.width / 80;
  const opened = visitor.context.waitForEvent('page');
  await page.mouse.move(box.x + cell * 10, box.y + 8, { steps: 3 });
  await page.mouse.click(box.x + cell * 10, box.y + 8);
  const tab = await opened;
  await tab.waitForURL(`${server.url}healthz`);
  assert.equal(await tab.evaluate(() => window.opener), null);
});
