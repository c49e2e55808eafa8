// Several tabs, windows, devices and programs at once.

import assert from 'node:assert/strict';
import { assertExact, counts, hide, holdElsewhere, pageTest, phone, prompt, says, screen, see, shell, shellTest, start } from './harness.mjs';

shellTest('tabs that are not seen have no stream, and show the session when they are seen again', async ({ server, visitor, page, id }) => {
  const tabs = [page];
  while (tabs.length < 3) {
    await hide(tabs.at(-1), true);
    tabs.push(await visitor.open(`${server.url}#${id}`));
    await see(tabs.at(-1), prompt);
  }
  for (const [i, tab] of tabs.entries()) {
    await hide(tabs.at(i - 1), true);
    await hide(tab, false);
    await tab.bringToFront();
    await tab.keyboard.type(`echo tab-${i}-$((1 + 1))\n`);
    await see(tab, new RegExp(`^tab-${i}-2$`));
  }
  assert.equal((await (await server.request('GET', 'status')).json()).streams, 1);
  for (const tab of tabs) {
    await hide(tab, false);
    await see(tab, /^tab-2-2$/);
    await hide(tab, true);
    await assertExact(tab, server, id);
  }
});

shellTest('of eight windows that are all seen those that were used last are live, and none hangs', async ({ server, visitor, page, id }) => {
  const windows = [page];
  while (windows.length < 8) {
    windows.push(await visitor.open(`${server.url}#${id}`));
    await see(windows.at(-1), prompt);
  }
  const link = (one) => one.locator('#link');
  for (const [i, one] of windows.entries()) {
    if (i < 4) {
      await link(one).filter({ hasText: 'Paused while other windows are used' }).waitFor();
    }
    await one.bringToFront();
    await one.click('#pane');
    await one.keyboard.type(`echo window-${i}-$((1 + 1))\n`);
    await see(one, new RegExp(`^window-${i}-2$`));
  }
  assert.equal((await (await server.request('GET', 'status')).json()).streams, 4);
  await windows[7].close();
  await see(windows[3], /^window-7-2$/); // its turn again
  for (const one of windows.slice(0, 7)) {
    await assertExact(one, server, id);
  }
});

pageTest('a session that another process holds is live, can only be read, and can be forked', async ({ t, server, visitor }) => {
  const holder = await holdElsewhere(t, server);
  const page = await visitor.open(server.login);
  await page.click(`#side a[href="#${holder.id}"]`);
  await page.waitForFunction(() => window.holdfast.phase === 'live');
  holder.line('from the other process');
  await see(page, /^from the other process$/);
  const line = new RegExp(`in use by pid ${holder.pid} on \\S+ since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d`);
  await says(page, '#holder p', line);
  await says(page, '#side [aria-current] .holder', line);
  assert.deepEqual(await page.locator('#head [data-do]:visible').allTextContents(), ['Find', 'Fork']);

  await page.click('#pane');
  await page.keyboard.type('x');
  await says(page, '.notice p', /^deploy can only be read here/);
  await page.click('.notice button:has-text("Fork")');
  await page.click('#turns .primary');
  await page.waitForFunction((id) => window.holdfast.session?.parent === id, holder.id);
  await page.locator('#holder').waitFor({ state: 'hidden' });
  await see(page, /^from the other process$/);
  await page.keyboard.type('mine\n');
  await see(page, /^mine$/);

  await page.goBack();
  await page.waitForFunction((id) => window.holdfast.session?.id === id, holder.id);
  holder.end();
  await page.waitForSelector('#head [data-do=resume]:not([hidden])');
  await page.locator('#holder').waitFor({ state: 'hidden' });
});

shellTest('a binding that moves elsewhere is told, and followed only where that is asked', async ({ server, page, id }) => {
  const other = await server.session('cat');
  await page.waitForSelector('.notice[data-key=binding]');
  await says(page, '.notice p', new RegExp(`went to cat \\(${other.id.slice(0, 8)}\\)\\.$`));
  assert.equal(await page.evaluate(() => window.holdfast.session.id), id);
  await page.click('.notice button:has-text("Show it")');
  await page.waitForFunction((want) => window.holdfast.session.id === want, other.id);
  await counts(page, '.notice', 0);

  await page.check('#follow');
  await server.request('POST', 'resume', { id });
  await page.waitForFunction((want) => window.holdfast.session.id === want, id);
  await page.uncheck('#follow');
  await start(page, shell, prompt); // the page's own doing
  await counts(page, '.notice', 0);
});

pageTest('who moves the mouse does not change the size, nor is told that a program is over', async ({ server, visitor }) => {
  const { id } = await server.session('bash', '-c', String.raw`stty raw -echo; printf '\e[?1003h\e[?1006hready'; head -c 4 | cat -v; exec sleep 1000`);
  const page = await visitor.open(server.login);
  await see(page, /^ready/);
  await page.mouse.move(500, 300);
  await page.mouse.move(600, 300);
  await see(page, /^ready\^\[\[<3/);
  const { cols, rows } = await server.get(id);
  assert.deepEqual([cols, rows], [80, 24]);
  await server.request('POST', `sessions/${id}/stop`);
  await page.waitForFunction(() => !window.holdfast.session.live);
  await page.mouse.move(500, 350);
  await page.click('#pane');
  await page.mouse.move(600, 350);
  await counts(page, '.notice', 0);
  await page.keyboard.type('x');
  await says(page, '.notice p', /is not running: resume it to type/);
});

shellTest('who only looks does not change the size, and a phone has to ask for it', async ({ server, visitor, page, id }) => {
  const { cols, rows } = await server.get(id);
  const size = async () => {
    const now = await server.get(id);
    return [now.cols, now.rows];
  };
  const context = await visitor.on(phone);
  const hand = await context.open(`${server.url}${new URL(server.login).hash}`);
  await hand.evaluate((hash) => (location.hash = hash), id);
  await see(hand, prompt);
  await hand.tap('#pane');
  await hand.keyboard.type('echo from-the-phone\n');
  await see(hand, /^from-the-phone$/);
  await see(page, /^from-the-phone$/);
  await hand.setViewportSize({ width: 844, height: 390 }); // on its side
  await hand.waitForFunction(() => !document.querySelector('#side').checkVisibility());
  await hand.keyboard.type('echo on-its-side\n');
  await see(page, /^on-its-side$/);
  await hand.setViewportSize(phone.viewport);
  assert.deepEqual(await size(), [cols, rows]);
  const [whole, pane] = await hand.evaluate(() => ['.xterm-screen', '#pane'].map((part) => document.querySelector(part).getBoundingClientRect().right));
  assert.ok(whole <= pane, `the screen ends at ${whole}, the pane at ${pane}`);

  await says(hand, '.notice[data-key=small] p', /Fit gives it the size of the window/);
  assert.equal(await page.locator('.notice').count(), 0); // where the session can be read

  await hand.tap('#head [data-do=fit]');
  await hand.waitForSelector('.notice[data-key=small]', { state: 'detached' });
  await page.waitForFunction((was) => window.holdfast.screen.columns < was, cols);
  assert.ok((await size())[0] < 60, `${await size()}`);
  await page.bringToFront();
  await page.click('#pane');
  await page.keyboard.type('echo from-the-desk\n');
  await see(hand, /^from-the-desk$/);
  await hand.waitForFunction((want) => window.holdfast.screen.columns === want, cols);
  assert.deepEqual(await size(), [cols, rows]);
  assert.deepEqual(await screen(hand), await screen(page));
  await hand.tap('.notice[data-key=small] button'); // small again
  await hand.tap('#pane');
  await hand.keyboard.type('echo read\n');
  await see(hand, /^read$/);
  assert.equal(await hand.locator('.notice').count(), 0); // told once
});
