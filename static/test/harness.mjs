// A real server and a real browser for the tests of the page.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const binary = process.env.HOLDFAST; // built by the Go test that runs this
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
const limit = Number(process.env.PATIENCE ?? 60_000); // ms that anything may take on a machine with other work

const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

/** Starts a browser with more flags. */
export const launch = (...flags) => chromium.launch({ executablePath, args: [...args, ...flags] });

let browser;
before(async () => (browser = await launch('--disable-3d-apis'))); // which are slow without a graphics card
after(() => browser.close());

/** A device as Playwright describes it. */
export const phone = { viewport: { width: 390, height: 700 }, isMobile: true, hasTouch: true };

export const shell = 'bash --norc --noprofile';
export const prompt = /^\$ $/;

/** A test of the page with a server and somebody who visits it, on a device as Playwright describes it. */
export const pageTest = (name, body, device = {}) =>
  test(name, { timeout: 3 * limit }, async (t) => {
    const server = await Server.start(t);
    const visitor = await Visitor.come(t, server, device);
    await body({ t, server, visitor });
    visitor.check();
  });

/** A test that begins in a tab with a shell. */
export const shellTest = (name, body) =>
  pageTest(name, async ({ t, server, visitor }) => {
    const page = await visitor.open(server.login);
    const id = await start(page, shell, prompt);
    await body({ t, server, visitor, page, id });
  });

async function freePort() {
  const listener = net.createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address();
  listener.close();
  await once(listener, 'close');
  return port;
}

/** A server on a port and a store that outlive it. */
export class Server {
  static async start(t) {
    const server = new Server();
    server.dir = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-page-'));
    server.port = await freePort();
    server.url = `http://127.0.0.1:${server.port}/`;
    t.after(async () => {
      await server.end('SIGTERM');
      await fs.rm(server.dir, { recursive: true, force: true });
    });
    await server.again();
    return server;
  }

  /** Starts it, for the first time or after end(). */
  async again(...flags) {
    const env = { ...process.env, PS1: '$ ', HISTFILE: '/dev/null', LANG: 'C.UTF-8', PATH: `${this.dir}/bin:${process.env.PATH}` };
    this.process = spawn(binary, ['serve', '--store', path.join(this.dir, 'store'), '--listen', `127.0.0.1:${this.port}`, '--log-level', 'error', ...flags],
      { stdio: ['ignore', 'pipe', 'inherit'], cwd: this.dir, env });
    for await (const line of createInterface({ input: this.process.stdout })) {
      this.login = line.replace(/^listening on /, '');
      break;
    }
    assert.match(this.login ?? '', /#token=/, 'the line that the server prints');
    this.token = new URL(this.login).hash.slice('#token='.length);
  }

  async end(signal) {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill(signal);
      await once(this.process, 'exit');
    }
  }

  async request(method, route, value) {
    const response = await fetch(this.url + route, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      body: value === undefined ? undefined : JSON.stringify(value),
    });
    assert.ok(response.ok, `${method} ${route}: ${response.status}`);
    return response;
  }

  /** Starts a session, as curl would. */
  async session(...argv) {
    return (await this.request('POST', 'new', { argv, cols: 80, rows: 24 })).json();
  }

  /** streams waits until as many streams are open. */
  async streams(n) {
    while ((await (await this.request('GET', 'status')).json()).streams !== n) {
      await sleep(10);
    }
  }

  async get(id) {
    return (await this.request('GET', `sessions/${id}`)).json();
  }

  async output(id, from, to) {
    return Buffer.from(await (await this.request('GET', `sessions/${id}/output?from=${from}&to=${to}`)).arrayBuffer());
  }
}

/**
 * A person with a browser profile of their own (on() is the same person with
 * another device), and what the tests look at:
 * the bytes that the terminal was given, requests, errors, violations of the
 * policy. At the end it is checked that no page broke a rule.
 */
export class Visitor {
  pages = [];
  errors = [];
  requests = [];

  static async come(t, server, device, inBrowser = browser) {
    const visitor = new Visitor();
    visitor.server = server;
    visitor.on = (other) => Visitor.come(t, server, other);
    visitor.context = await inBrowser.newContext({ viewport: { width: 1100, height: 720 }, ...device });
    visitor.context.setDefaultTimeout(limit);
    t.after(() => visitor.context.close());
    await visitor.context.exposeBinding('violated', (_, text) => visitor.errors.push(text));
    await visitor.context.addInitScript(() => {
      window.given = [];
      document.addEventListener('holdfast:output', ({ detail }) => window.given.push([detail.cursor - detail.bytes.length, detail.bytes.slice()]));
      document.addEventListener('securitypolicyviolation', (event) => window.violated(`${event.violatedDirective}: ${event.blockedURI}`));
    });
    return visitor;
  }

  /** Opens a tab at an address, logged in by it or from before. */
  async open(address) {
    const page = await this.tab();
    await page.goto(address);
    await page.waitForSelector('body[data-view=main]');
    return page;
  }

  /** Opens an empty tab. */
  async tab() {
    const page = await this.context.newPage();
    page.requests = [];
    page.on('request', (request) => page.requests.push(request));
    page.on('request', (request) => this.requests.push(request.url()));
    page.on('pageerror', (error) => this.errors.push(error.stack));
    return page;
  }

  /** Fails if a page had an error, broke its policy, or asked another host. */
  check() {
    assert.deepEqual(this.errors, [], 'errors and violations of the policy');
    const others = this.requests.filter((url) => !url.startsWith(this.server.url) && !url.startsWith('data:') && url !== 'about:blank');
    assert.deepEqual(others, [], 'requests to other hosts');
  }
}

/** Presses one of the buttons of the session that is shown. */
export async function choose(page, name) {
  if (!(await page.locator(`#head [data-do=${name}]`).isVisible())) {
    await page.click('#more');
  }
  await page.locator(`:is(#head, #menu) [data-do=${name}]:visible`).click();
}

/** Makes a tab hidden or seen; in a browser without windows all are seen. */
export const hide = (page, hidden) =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);

/** Another process that runs cat in a session of a server's store. line(text) types a line into it. */
export async function holdElsewhere(t, server) {
  const holder = spawn(binary, ['run', '--store', path.join(server.dir, 'store'), '--name', 'deploy', '--', 'cat'],
    { stdio: ['pipe', 'ignore', 'inherit'], cwd: '/srv' });
  const ended = once(holder, 'exit');
  t.after(() => {
    holder.kill('SIGKILL');
    return ended;
  });
  let held;
  while (!held) {
    const { sessions } = await (await server.request('GET', 'sessions')).json();
    held = sessions.find((session) => session.holder?.pid === holder.pid);
  }
  return { id: held.id, pid: holder.pid, line: (text) => holder.stdin.write(`${text}\n`), end: () => holder.stdin.end() };
}

/** Waits until the screen has a line that matches. */
export const see = (page, pattern) =>
  page.waitForFunction(([source, flags]) => {
    const line = new RegExp(source, flags);
    return window.holdfast?.phase === 'live' && window.holdfast.screen.text().some((text) => line.test(text));
  }, [pattern.source, pattern.flags]).catch(async (error) => {
    const state = await page.evaluate(() => {
      const { phase, cursor, session, screen } = window.holdfast;
      return JSON.stringify({ phase, cursor, session, lines: screen?.text().filter(Boolean) }, null, 1);
    });
    throw new Error(`no line like ${pattern} on the screen: ${state}`, { cause: error });
  });

/** Waits until an element has this text, or one that matches. */
export const says = (page, selector, text) => {
  const pattern = text instanceof RegExp ? [text.source, text.flags] : null;
  return page.waitForFunction(([at, exact, pattern]) => {
    const got = document.querySelector(at)?.textContent;
    return got !== undefined && (pattern ? new RegExp(...pattern).test(got) : got === exact);
  }, [selector, pattern ? '' : text, pattern]).catch(async () => {
    const got = await page.locator(selector).first().textContent({ timeout: 1 });
    (pattern ? assert.match : assert.equal)(got, text, selector);
  });
};

/** Waits until so many elements match. */
export const counts = (page, selector, n) =>
  page.waitForFunction(([selector, n]) => document.querySelectorAll(selector).length === n, [selector, n])
    .catch(async () => assert.equal(await page.locator(selector).count(), n, selector));

/** Waits until the title of the page matches. */
export const titled = (page, pattern) =>
  page.waitForFunction(([source, flags]) => new RegExp(source, flags).test(document.title), [pattern.source, pattern.flags])
    .catch(async () => assert.match(await page.title(), pattern));

export const screen = (page) => page.evaluate(() => window.holdfast.screen.text());

/** Waits until the screen begins with these lines. */
export const seeLines = (page, lines) =>
  page.waitForFunction((want) => want.every((line, i) => window.holdfast?.screen?.text()[i] === line), lines)
    .catch(async () => assert.deepEqual((await screen(page)).slice(0, lines.length), lines));

/** Starts a program with the dialog, and waits for its first line. */
export async function start(page, command, first) {
  await page.click('.top [data-do=new]');
  await page.fill('#command', command);
  const before = await page.evaluate(() => window.holdfast.session?.id);
  await page.click('#create .primary');
  await page.waitForFunction((id) => window.holdfast?.session && window.holdfast?.session?.id !== id, before).catch(async (error) => {
    const state = await page.evaluate(() => [location.hash, ...['#create .error', '#notices', '#side', '#empty'].map((part) => document.querySelector(part).textContent)]);
    throw new Error(`the session is not shown: ${JSON.stringify(state)}`, { cause: error });
  });
  await see(page, first);
  return page.evaluate(() => window.holdfast.session.id);
}

/** Checks that the terminal was given the log's bytes, each once, from where it began. */
export async function assertExact(page, server, id) {
  const { from, base64 } = await page.evaluate(() => {
    const from = window.given[0][0];
    let at = from;
    let binary = '';
    for (const [start, bytes] of window.given) {
      if (start !== at) {
        throw new Error(`bytes at ${start} were given after ${at}`);
      }
      at += bytes.length;
      for (let i = 0; i < bytes.length; i += 4096) {
        binary += String.fromCharCode(...bytes.subarray(i, i + 4096));
      }
    }
    return { from, base64: btoa(binary) };
  });
  const given = Buffer.from(base64, 'base64');
  const logged = await server.output(id, from, from + given.length);
  assert.ok(given.equals(logged), `${given.length} bytes from ${from} on are not the log's`);
  return given.length;
}
