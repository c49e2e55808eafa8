// Going back to what was typed, and on with another program.

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import { choose, counts, pageTest, prompt, says, screen, see, seeLines, shellTest } from './harness.mjs';

const hash = (page) => page.evaluate(() => location.hash.slice(1));
const moved = (page, from) => page.waitForFunction((id) => window.holdfast.session && window.holdfast.session.id !== id, from);

/** Types three commands into a shell, each a turn. */
async function takeTurns(page) {
  for (const name of ['one', 'two', 'three']) {
    await page.keyboard.type(`echo "${name}-$((1 + 1))"\n`);
    await see(page, new RegExp(`^${name}-2$`));
  }
  await page.waitForFunction(() => window.holdfast.session.turns === 3);
}

shellTest('a fork at a turn has what was printed before it, and the parent goes on', async ({ server, page, id }) => {
  await takeTurns(page);
  await choose(page, 'fork');
  await page.waitForSelector('#turns[open]');
  const choices = page.locator('#turns .choices label');
  assert.deepEqual(await choices.locator('span').allTextContents(),
    ['the end, as it is now', 'echo "three-$((1 + 1))"', 'echo "two-$((1 + 1))"', 'echo "one-$((1 + 1))"']);
  await choices.nth(2).click();
  await page.fill('#turns-name', 'second thoughts');
  await page.keyboard.press('Enter');
  await moved(page, id);
  await see(page, prompt);
  const lines = await screen(page);
  assert.ok(lines.includes('one-2'), lines.join('\n'));
  assert.ok(!lines.join('\n').match(/two|three/), lines.join('\n'));
  const fork = await server.get(await hash(page));
  assert.deepEqual([fork.parent, fork.name, fork.live], [id, 'second thoughts', true]);
  assert.equal((await server.get(id)).live, true);
});

shellTest('a rewind goes on before a turn, and ends what came after it', async ({ server, page, id }) => {
  await server.request('PATCH', `sessions/${id}`, { name: 'it (copy)' });
  await takeTurns(page);
  await choose(page, 'rewind');
  await page.waitForSelector('#turns[open]');
  await counts(page, '#turns .choices label', 3);
  await page.click('#turns .choices label:nth-child(1)');
  await page.click('#turns .primary');
  await moved(page, id);
  await see(page, /^two-2$/);
  assert.ok(!(await screen(page)).join('\n').includes('three'));
  await page.waitForFunction((parent) => !document.querySelector(`#side a[href="#${parent}"]`).textContent.includes('running'), id);
  assert.equal((await server.get(id)).state, 'stopped');
  assert.equal((await server.get(await hash(page))).name, 'it (copy 2)');
});

shellTest('a switch goes on below the output with another program', async ({ server, visitor, page, id }) => {
  await page.keyboard.type('echo before\n');
  await see(page, /^before$/);
  await choose(page, 'switch');
  await page.fill('#switch-command', 'no-such-program');
  await page.click('#switch .primary');
  await page.waitForSelector('#switch-command[aria-invalid=true]:focus');
  await says(page, '#switch .error', /^Command line "no-such-program": /);
  assert.equal((await server.get(id)).live, true, 'it was stopped for nothing');
  await page.fill('#switch-command', 'cat');
  await page.click('#switch .primary');
  await moved(page, id);
  await see(page, /^before$/);
  await page.click('#pane');
  await page.keyboard.type('to the cat\n');
  await see(page, /^to the cat$/);
  const old = await server.get(id);
  assert.deepEqual([old.state, old.argv[0]], ['stopped', 'bash']);
  assert.deepEqual((await server.get(await hash(page))).argv, ['cat']);
  await see(await visitor.open(server.url), /^to the cat$/); // not the dead one, which is still bound
});

pageTest('a session can be started by a profile', async ({ server, visitor }) => {
  const page = await visitor.open(server.login);
  await page.click('.top [data-do=new]');
  await page.waitForSelector('#create[open]');
  await page.selectOption('#profile', 'shell');
  assert.equal(await page.locator('#command').isDisabled(), true);
  await page.fill('#folder', '/');
  await page.fill('#called', 'root shell');
  await page.click('#create .primary');
  await page.waitForFunction(() => window.holdfast?.session?.live);
  const { profile, cwd, name } = await server.get(await hash(page));
  assert.deepEqual([profile, cwd, name], ['shell', '/', 'root shell']);

  await fs.writeFile(path.join(server.dir, 'store', 'profiles.json'), '{"notes": {"begin": ["vim"]}}');
  await page.click('.top [data-do=new]');
  await says(page, '#create .error', /^profiles\.json, line 1: /);
  await page.fill('#command', 'cat'); // which needs no profile
  await page.click('#create .primary');
  await page.waitForFunction(() => window.holdfast?.session?.argv[0] === 'cat');
});

shellTest('a dead program’s output is kept where it was when it is resumed', async ({ page }) => {
  await page.keyboard.type('clear; echo kept; exit\n');
  await page.waitForSelector('#head [data-do=resume]:not([hidden])');
  await choose(page, 'resume');
  await page.waitForFunction(() => window.holdfast.session.live);
  await see(page, prompt);
  await seeLines(page, ['kept']);
});
