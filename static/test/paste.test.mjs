// Large pastes, and programs that do not take what is typed.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { assertExact, counts, pageTest, says, see, shellTest } from './harness.mjs';

/** Pastes as a person does who has copied text elsewhere. */
const paste = (page, text) => page.evaluate((value) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', value);
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
}, text);

shellTest('a paste of 200 KB arrives whole and in order', async ({ page, server, id }) => {
  const text = Array.from({ length: 24_000 }, (_, i) => `${i} é `).join('');
  const bytes = Buffer.from(text);
  assert.ok(bytes.length > 200_000);
  await page.keyboard.type(`stty raw -echo; echo ready; head -c ${bytes.length} | sha256sum; stty sane\n`);
  await see(page, /^ready/);
  await paste(page, text);
  await see(page, new RegExp(`${createHash('sha256').update(bytes).digest('hex')} {2}-`));
  await counts(page, '.notice', 0);
  await assertExact(page, server, id);
});

shellTest('a large paste shows how far it is, and can be cancelled without its brackets left open', async ({ page, server, id }) => {
  await page.keyboard.type('stty raw -echo; printf "\\e[?2004hready"; cat > pasted\n');
  await see(page, /ready$/);
  const answered = [];
  const gates = [];
  await page.route('**/input', async (route) => {
    answered.push(route.request().postDataBuffer());
    await new Promise((resolve) => gates.push(resolve));
    await route.fallback();
  });
  await paste(page, 'é\n'.repeat(40_000) + 'the end');
  const bar = page.locator('.notice[data-key=paste] progress');
  await bar.waitFor();
  await says(page, '.notice p', 'Pasting 117 KB');
  const until = async (n) => {
    while (answered.length < n) {
      await page.waitForTimeout(20);
    }
  };
  await until(1);
  gates[0]();
  await until(2);
  await page.waitForFunction(() => Math.abs(document.querySelector('.notice[data-key=paste] progress').value - 0.27) < 0.02);
  await page.keyboard.type('after');
  await page.click('.notice button:has-text("Cancel")');
  await page.waitForSelector('.notice', { state: 'detached' });
  gates[1]();
  await page.unroute('**/input');
  gates[2]?.();
  const file = path.join(server.dir, 'pasted');
  let pasted = '';
  while (!pasted.endsWith('after')) {
    pasted = await fs.readFile(file, 'utf8').catch(() => ''); // the shell makes it
    await page.waitForTimeout(20);
  }
  assert.match(pasted, /^\x1b\[200~(é\r)+\x1b\[201~after$/);
  assert.ok(pasted.length < 45_000, `${pasted.length}`);
  await assertExact(page, server, id);
});

shellTest('who copies or pastes as elsewhere in a browser is told once of the keys of a terminal', async ({ page }) => {
  await page.keyboard.type('echo ready; cat -v\n');
  await see(page, /^ready$/); // and the shell reads no more
  await page.keyboard.press('Control+v');
  await says(page, '.notice p', 'Ctrl V went to the program. Ctrl Shift V pastes.');
  await page.keyboard.press('Control+c'); // taken as it is
  await page.keyboard.press('Enter');
  await see(page, /^\^C$/);
  await page.reload();
  await see(page, /^\^C$/);
  await page.click('#pane');
  await page.keyboard.press('Control+v');
  await page.keyboard.type('xyz\n');
  await see(page, /^xyz$/);
  await counts(page, '.notice', 0);
});

shellTest('a paste cannot end its own brackets', async ({ page, server }) => {
  await page.keyboard.type('stty raw -echo; printf "\\e[?2004hready"; cat > pasted\n');
  await see(page, /ready$/);
  await paste(page, 'one\x1b[201~\ntwo\x03\tthree');
  const file = path.join(server.dir, 'pasted');
  let pasted = '';
  while (!pasted.endsWith('\x1b[201~')) {
    pasted = await fs.readFile(file, 'utf8').catch(() => ''); // the shell makes it
    await page.waitForTimeout(20);
  }
  assert.equal(pasted, '\x1b[200~one[201~\rtwo\tthree\x1b[201~');
});

pageTest('a program that does not read is told of, and what it did not take is sent when asked', async ({ server, visitor }) => {
  await server.session('bash', '-c', 'stty raw -echo; echo ready; until [ -e go ]; do sleep 0.05; done; exec cat > taken');
  const page = await visitor.open(server.login);
  await see(page, /^ready/);
  await page.click('#pane');
  const text = 'x'.repeat(30_000);
  await paste(page, text); // more than a terminal holds
  const notice = page.locator('.notice[data-key=input]');
  await notice.waitFor();
  assert.match(await notice.locator('p').textContent(), /^The program does not read what is typed\. It may be busy, or stopped\. Typed: \d+ (bytes|KB); waiting: \d+ KB\.$/);
  await fs.writeFile(path.join(server.dir, 'go'), '');
  await notice.locator('button:has-text("Send the rest")').click();
  let taken = '';
  while (taken.length < text.length) {
    taken = await fs.readFile(path.join(server.dir, 'taken'), 'utf8').catch(() => '');
    await page.waitForTimeout(20);
  }
  assert.equal(taken, text);
});
