// What the terminal shows, and what comes of what is typed into it.

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { assertExact, launch, pageTest, prompt, says, screen, see, seeLines, Server, shell, shellTest, start, titled, Visitor } from './harness.mjs';

const typed = (page) => page.requests.filter((request) => request.url().endsWith('/input')).length;

shellTest('a shell runs what is typed and shows what it prints', async ({ server, page, id }) => {
  await page.keyboard.type('echo "sum: $((6 * 7))  漢字 é"\n');
  await see(page, /^sum: 42  漢字 é$/);
  await titled(page, /^● bash: running/);
  await assertExact(page, server, id);
  const icon = () => page.getAttribute('link[rel=icon]', 'href');
  const running = await icon();
  await server.request('POST', `sessions/${id}/stop`);
  await page.waitForFunction(() => /^■ bash: stopped/.test(document.title));
  assert.notEqual(await icon(), running);
});

shellTest('vim and less are drawn as their files are, and follow the size of the window', async ({ server, page, id }) => {
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i + 1} ${'·'.repeat(i % 50)} end`);
  await fs.writeFile(path.join(server.dir, 'lines.txt'), lines.join('\n') + '\n');

  await page.keyboard.type('vim -u NONE -n lines.txt\n');
  await see(page, /^line 1 {2}end$/);
  const seeFile = async (first) => {
    await page.waitForFunction(() => window.holdfast?.session?.rows === window.holdfast?.screen?.text().length);
    const rows = (await server.get(id)).rows;
    await seeLines(page, lines.slice(first - 1, first + rows - 2)); // all but the last row
    return rows;
  };
  await page.keyboard.type('150Gzt');
  const rows = await seeFile(150);

  await page.setViewportSize({ width: 900, height: 500 });
  await page.waitForFunction((before) => window.holdfast?.session?.rows < before, rows);
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

shellTest('what is typed when the program has just gone, or another process has just taken the session, is told with a way on', async ({ page }) => {
  for (const [kind, detail, action] of [['not-live', 'the session has no program here', 'Resume'], ['held', 'session is in use by another process', 'Fork']]) {
    await page.route('**/input', (route) => route.fulfill({ status: 409, contentType: 'application/problem+json',
      body: JSON.stringify({ type: `tag:holdfast,2026:${kind}`, detail }) }), { times: 1 });
    await page.keyboard.type('x');
    const notice = page.locator('.notice[data-key=input]', { hasText: `Not typed: ${detail}` });
    await notice.locator(`button:has-text("${action}")`).waitFor();
  }
  await page.keyboard.type('echo on\n');
  await see(page, /^on$/);
});

shellTest('a line that the kernel would cut is refused with the reason', async ({ server, page, id }) => {
  await page.keyboard.type('echo ready; cat > taken\n');
  await see(page, /^ready$/); // and the shell reads no more
  await page.waitForFunction(() => window.holdfast?.screen?.pending === 0);
  await page.evaluate(() => window.holdfast.screen.paste('x'.repeat(5000)));
  await page.waitForSelector('.notice');
  await says(page, '.notice p', /^Not typed: .*line/);
  await page.keyboard.type('next\n');
  await see(page, /^next$/);
  await assertExact(page, server, id);
});

pageTest('inverse text has the colour of the ground, in light and in dark', async ({ server, visitor }) => {
  await server.session('bash', '-c', String.raw`printf '\e[7minverse\e[0m\r\n\e[31;7mred\e[0m\r\n'; exec cat`);
  const page = await visitor.open(server.login);
  for (const [colorScheme, ground, ink] of [['light', 'rgb(255, 255, 255)', 'rgb(31, 36, 43)'], ['dark', 'rgb(17, 20, 24)', 'rgb(214, 218, 224)']]) {
    await page.emulateMedia({ colorScheme });
    await see(page, /^inverse$/);
    await page.waitForFunction(([ground, ink]) => {
      const of = (text) => getComputedStyle([...document.querySelectorAll('.xterm-rows span')].find((span) => span.textContent === text));
      return of('inverse').color === ground && of('inverse').backgroundColor === ink && of('red').color === ground;
    }, [ground, ink]);
  }
});

test('where there is WebGL it draws, and when the card is lost the page goes on', async (t) => {
  const withCard = await launch('--use-angle=swiftshader', '--enable-unsafe-swiftshader');
  t.after(() => withCard.close());
  const server = await Server.start(t);
  const visitor = await Visitor.come(t, server, {}, withCard);
  const page = await visitor.open(server.login);
  await start(page, shell, prompt);
  const canvases = () => page.evaluate(() => document.querySelectorAll('#pane canvas').length);
  await page.waitForSelector('#pane canvas');
  await page.keyboard.type('echo drawn\n');
  await see(page, /^drawn$/);
  await page.evaluate(() => {
    for (const canvas of document.querySelectorAll('#pane canvas')) {
      canvas.getContext('webgl2')?.getExtension('WEBGL_lose_context').loseContext();
    }
  });
  await page.waitForFunction(() => document.querySelector('.xterm-rows')?.textContent.includes('drawn'));
  assert.equal(await canvases(), 0);
  await page.keyboard.type('echo by elements\n');
  await see(page, /^by elements$/);
  visitor.check();
});

pageTest('characters are as wide as programs count them', async ({ server, visitor }) => {
  await server.session('bash', '-c', String.raw`printf '😀|漢字|é|e\u0301|\r\n'; exec cat`);
  const page = await visitor.open(server.login);
  await see(page, /^😀/u);
  const columns = await page.evaluate(() => {
    const line = window.holdfast.screen.terminal.buffer.active.getLine(0);
    return Array.from({ length: line.length }, (_, x) => x).filter((x) => line.getCell(x).getChars() === '|');
  });
  assert.deepEqual(columns, [2, 7, 9, 11]); // as wcwidth() has it
});

pageTest('another run of a program finds nothing that the last one has set', async ({ server, visitor }) => {
  const left = [
    'before\\r\\n\\e7', // and a place that is not to be gone back to
    'second\\r\\nthird',
    '\\e[?1000h\\e[?1003h\\e[?1006h\\e[?2004h\\e[?1004h\\e[?1h\\e=\\e[4h', // mouse, paste, focus, keys, insert
    '\\e[?25l\\e[3;6r\\e[?6h\\e[?7l\\e(0\\e[31;7m', // cursor, region, origin, wrap, characters, attributes
  ].join('');
  const script = `case $(wc -l < runs) in
    1) printf '${left}left\\e[3';;
    2) printf 'clean\\r\\n\\e[?1049h\\e[?2004h\\e[Halternate';;
    *) echo main;;
  esac; exec cat`;
  const { id } = await server.session('bash', '-c', `echo >> runs; ${script}`);
  const page = await visitor.open(server.login);
  const again = async () => {
    await page.waitForFunction(() => window.holdfast?.screen?.pending === 0);
    await server.request('POST', `sessions/${id}/stop`);
    await server.request('POST', `sessions/${id}/start`);
  };
  const modes = () => page.evaluate(() => {
    const { buffer, modes, _core: core } = window.holdfast.screen.terminal;
    return { ...modes, buffer: buffer.active.type, hidden: core.coreService.isCursorHidden, region: [core.buffer.scrollTop, core.buffer.scrollBottom - core.rows] };
  });

  await page.waitForFunction(() => window.holdfast?.screen?.terminal.modes.insertMode);
  await again();
  await see(page, /^alternate$/);
  assert.equal((await modes()).mouseTrackingMode, 'none');
  await again();
  await see(page, /^main$/);
  assert.deepEqual(await modes(), {
    applicationCursorKeysMode: false, applicationKeypadMode: false, bracketedPasteMode: false, insertMode: false, mouseTrackingMode: 'none',
    originMode: false, reverseWraparoundMode: false, sendFocusMode: false, synchronizedOutputMode: false, wraparoundMode: true,
    buffer: 'normal', hidden: false, region: [0, -1],
  });
  await seeLines(page, ['before', 'second', '┌␊°├third', 'clean', 'main', '']);
  const before = typed(page);
  await page.click('#pane');
  await page.click('#filter');
  await page.click('#pane');
  assert.equal(typed(page), before);
  await page.keyboard.type('keys\n');
  await see(page, /^keys$/);
  await assertExact(page, server, id);
});

pageTest('without the emulator output is plain text, and lines can be typed', async ({ server, visitor }) => {
  await visitor.context.route('**/vendor/**', (route) => route.fulfill({ status: 404 }));
  const page = await visitor.open(server.login);
  const id = await start(page, shell, prompt);
  await says(page, '#pane p', /built without the terminal emulator/);
  await page.click('#pane input');
  await page.keyboard.type(String.raw`printf '\e[31mred\e[0m \e]0;title\a%s\n' text`);
  await page.keyboard.press('Enter');
  await see(page, /^red text$/);
  await assertExact(page, server, id);
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

shellTest('a window that is too small shows the whole session in smaller letters', async ({ server, page, id }) => {
  await page.setViewportSize({ width: 600, height: 400 });
  for (const [cols, rows] of [[97, 35], [100, 46], [200, 60]]) {
    await server.request('POST', `sessions/${id}/resize`, { cols, rows });
    await page.waitForFunction(([cols, rows]) => {
      const { columns, terminal } = window.holdfast.screen;
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const [screen, pane, bar] = ['.xterm-screen', '#pane', '.scrollbar.vertical'].map(box);
      return columns === cols && terminal.rows === rows && screen.bottom <= pane.bottom && bar.right <= pane.right && bar.left - screen.right < 2;
    }, [cols, rows]);
  }
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
  await page.waitForFunction((was) => window.holdfast?.screen?.columns < was, cols);
  for (const one of [page, other]) {
    await assertExact(one, server, id);
  }
});
