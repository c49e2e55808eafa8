// What programs print and sessions are called does nothing to the page.

import assert from 'node:assert/strict';
import { counts, pageTest, says, see, titled } from './harness.mjs';

const markup = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>';
const invisible = '\u001b[2J\u009b2J\u202egpj.exe\u200b\u2066\u0007';

pageTest('hostile names, command lines and titles are text', async ({ server, visitor }) => {
  const print = String.raw`printf '\033]0;owned\a\033]2;owned\a\033]8;;javascript:window.owned=1\033\\link\033]8;;\033\\ ${markup}\n'; exec cat`;
  const { id } = await (await server.request('POST', 'sessions', { argv: ['sh', '-c', print, markup, invisible], name: markup })).json();
  const page = await visitor.open(`${server.login}`);
  await page.click('#side li a');
  await see(page, /link <img src=x/);
  await says(page, '#name', markup);
  await says(page, '#side .title', markup);
  await titled(page, /^. <img src=x .*running · holdfast$/);
  await page.locator('#pane').getByText('link').first().click({ force: true });
  const shown = await page.evaluate(() => [document.body.innerText, document.title, ...[...document.querySelectorAll('[title]')].map((e) => e.title)].join('\n'));
  const raw = shown.match(/[^\P{C}\n\t]/u); // controls, and characters that only turn others round or hide them
  assert.equal(raw, null, `U+${raw?.[0].codePointAt(0).toString(16)} in ${JSON.stringify(shown)}`);
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await counts(page, 'img[src=x]', 0);
  assert.equal(visitor.context.pages().length, 1, 'no tab was opened');
  assert.equal((await server.get(id)).state, 'running');
});
