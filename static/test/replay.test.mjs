// What a page shows of output that was printed before it came, and who answers
// what a program asks meanwhile.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { assertExact, choose, hide, pageTest, prompt, screen, see, seeLines, shellTest } from './harness.mjs';

const run = promisify(execFile);
const typed = (page) => page.requests.filter((request) => request.url().endsWith('/input')).length;

/** The lines that tmux draws of output, as another emulator. */
async function drawnByTmux(server, output, { cols, rows }) {
  const file = path.join(server.dir, 'drawn');
  await fs.writeFile(file, output);
  const socket = path.join(server.dir, 'tmux');
  const tmux = async (...args) => (await run('tmux', ['-f', '/dev/null', '-S', socket, ...args])).stdout;
  try {
    await tmux('start-server', ';', 'set', '-g', 'status', 'off', ';', 'new-session', '-d', '-x', `${cols}`, '-y', `${rows}`,
      'bash', '-c', String.raw`stty raw -echo; cat '${file}'; printf '\e[5n'; IFS= read -rsd n; tmux -S '${socket}' wait-for -S drawn; exec sleep 1000`);
    // It answers the query when it has drawn what came before.
    await tmux('wait-for', 'drawn');
    const lines = (await tmux('capture-pane', '-p')).split('\n').map((line) => line.trimEnd());
    return lines.slice(0, rows);
  } finally {
    await tmux('kill-server').catch(() => {}); // before its folder goes
  }
}

shellTest('queries in replayed output are not answered, those in live output are, by one of two tabs', async ({ server, visitor, page, id }) => {
  const other = await visitor.open(`${server.url}#${id}`);
  await see(other, prompt);
  await page.bringToFront();
  await page.keyboard.press('Enter'); // with which it becomes its turn
  await page.waitForFunction(() => window.holdfast.answers);

  // Device attributes and cursor position; the answer ends with R.
  const ask = String.raw`printf 'asked\e[c\e[6n'; IFS= read -rsd R -t 10 answer; printf '\r\n%q\r\n' "$answer"; IFS= read -rsn1 -t 1 more; echo "more=$more."`;
  await page.keyboard.type(`${ask}\n`);
  await see(page, /^\$'\\E\[\?1;2c\\E\[\d+;\d+'$/);
  await see(page, /^more=\.$/);
  assert.equal(typed(other), 0, 'the tab that is only seen types');

  const { cursor } = await server.get(id);
  for (const one of [page, other]) {
    const before = typed(one);
    await one.reload();
    await see(one, /^more=\.$/);
    await one.waitForFunction(() => window.holdfast?.screen?.pending === 0);
    assert.equal(typed(one), before, 'requests to type after a reload');
  }
  assert.equal((await server.get(id)).cursor, cursor, 'the log grew by a reload');
});

pageTest('what a program set long ago holds, and a paste does not run line by line', async ({ server, visitor }) => {
  const set = String.raw`\e[?1h\e[?2004h\e[?1002h\e[?1006h\e[3;9r\e[1;34m`; // keys, paste, mouse, region, colours
  const { id } = await server.session('bash', '-c', String.raw`stty raw -echo; printf '${set}'; head -c 600000 /dev/zero | tr '\0' x; printf '\e[3;1Hready'; exec cat -v`);
  const page = await visitor.open(server.login);
  await see(page, /^ready/);
  const modes = () => page.evaluate(() => {
    const { terminal: { modes, buffer, _core: core } } = window.holdfast.screen;
    const cell = buffer.active.getLine(buffer.active.baseY + 2).getCell(0);
    return { keys: modes.applicationCursorKeysMode, paste: modes.bracketedPasteMode, mouse: modes.mouseTrackingMode,
      region: [core.buffer.scrollTop, core.buffer.scrollBottom], bold: cell.isBold() > 0, colour: cell.getFgColor() };
  });
  const set256 = { keys: true, paste: true, mouse: 'drag', region: [2, 8], bold: true, colour: 4 };
  assert.deepEqual(await modes(), set256);
  assert.ok((await assertExact(page, server, id)) <= 256 << 10);
  assert.equal(new URL(page.requests.map((request) => request.url()).find((url) => url.includes(`${id}/events`))).searchParams.get('from'), null);

  await page.evaluate(() => (window.given = []));
  await choose(page, 'earlier');
  await page.waitForFunction(() => window.holdfast.phase === 'live' && window.given.length && window.given[0][0] === 0);
  await see(page, /^ready/);
  assert.deepEqual(await modes(), set256);
  await assertExact(page, server, id);

  await page.reload();
  await see(page, /^ready/);
  await page.evaluate(() => window.holdfast.screen.paste('one\ntwo'));
  await see(page, /\^\[\[200~one\^Mtwo\^\[\[201~/);
});

pageTest('in the alternate screen a reload stays there', async ({ server, visitor }) => {
  await server.session('bash', '-c', String.raw`printf 'below\r\n\e[?1049h\e[2J'; for ((i = 0; i < 20000; i++)); do printf '\e[5;5H%d of many lines' $i; done; printf '\e[2J\e[5;5Hlast\e[1;1Hdone'; exec cat`);
  const page = await visitor.open(server.login);
  await see(page, /^done/);
  for (const _ of ['at first', 'again']) {
    assert.equal(await page.evaluate(() => window.holdfast.screen.terminal.buffer.active.type), 'alternate');
    await seeLines(page, ['done', '', '', '', '    last']);
    await page.reload();
    await see(page, /^done/);
  }
});

shellTest('a program is answered by the page that is seen, or else by the server, and each time once', async ({ server, page, id }) => {
  await fs.writeFile(path.join(server.dir, 'ask'), String.raw`printf 'asked\e[6n'; IFS= read -rsd R -t 10 answer; IFS= read -rsn1 -t 0.3 more; printf '\r\n%q more=%s.\r\n' "$answer" "$more"`);
  const ask = async () => {
    const { cursor } = await server.get(id);
    await server.request('POST', `sessions/${id}/input`, { text: '. ./ask', enter: true });
    let text;
    do {
      text = (await server.output(id, cursor, (await server.get(id)).cursor)).toString();
    } while (!text.includes('more='));
    return /'(.*)' more=(.*)\./.exec(text).slice(1);
  };
  const [place] = await ask();
  assert.match(place, /^\\E\[\d+;6$/); // where it is
  await hide(page, true);
  await server.streams(0); // a query that a page takes with it has no answer
  assert.deepEqual(await ask(), [String.raw`\E[1;1`, '']); // the server has no screen
  await hide(page, false);
  await see(page, /1;1/);
  assert.deepEqual((await ask())[1], '');
  await page.reload();
  await see(page, prompt);
  assert.match((await ask())[0], /^\\E\[\d+;6$/);
});

for (const [program, ready] of [['vim -u NONE -n -c "syntax on" -c "set number hlsearch" -c "/end" -c vsplit page.js', /lines, \d+ bytes/], ['htop -d 1000', /F1Help.*F10Quit/]]) {
  shellTest(`${program.split(' ')[0]} is drawn as another emulator draws it, also after a reload`, async ({ server, page, id }) => {
    await fs.copyFile('web/stream.js', path.join(server.dir, 'page.js'));
    await page.keyboard.type(`${program}\n`);
    await see(page, ready);
    const caughtUp = ({ cursor }) =>
      page.waitForFunction((end) => window.holdfast?.phase === 'live' && window.holdfast.cursor >= end && window.holdfast.screen.pending === 0, cursor);
    const drawn = async () => (await screen(page)).map((line) => line.trimEnd());
    let session;
    let want;
    let got;
    do { // anew if the program was still drawing
      session = await server.get(id);
      await caughtUp(session);
      want = await drawnByTmux(server, await server.output(id, 0, session.cursor), session);
      got = await drawn();
    } while ((await server.get(id)).cursor !== session.cursor);
    assert.deepEqual(got, want);
    await page.reload();
    await caughtUp(session);
    assert.deepEqual(await drawn(), want);
  });
}
