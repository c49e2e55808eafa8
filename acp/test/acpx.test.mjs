// The agent driven by acpx, a client for the command line.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { agent, connect, folder, holdfast } from './harness.mjs';

const packaged = createRequire(import.meta.url).resolve('acpx/package.json');
const acpx = join(dirname(packaged), createRequire(import.meta.url)(packaged).bin.acpx);

// client returns what runs acpx with an agent of the store. acpx keeps an agent
// for ttl seconds after a prompt.
function client(t, store, cwd, program = 'cat', { ttl = 1, quiet = '300ms' } = {}) {
  const home = folder(t);
  const script = `${holdfast} acp --store ${store} --quiet ${quiet} --log-level warn -- ${program}`;
  const run = (...args) => new Promise((resolve) => {
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
    const child = execFile(process.execPath, [acpx, '--agent', script, '--cwd', cwd, '--approve-all', '--ttl', `${ttl}`, ...args], { env }, (err, stdout, stderr) => {
      resolve({ status: err ? err.code : 0, stdout, stderr });
    });
    run.stdout = child.stdout;
  });
  return run;
}

test('one prompt', async (t) => {
  const run = client(t, folder(t), folder(t));
  const r = await run('--format', 'quiet', 'exec', 'hello from acpx');
  assert.equal(r.status, 0, r.stderr);
  assert.ok(r.stdout.includes('hello from acpx'), r.stdout);
});

test('a session that stays', async (t) => {
  const store = folder(t);
  const cwd = folder(t);
  const run = client(t, store, cwd, 'cat', { ttl: 60 }); // acpx refuses a prompt just when it lets the agent go
  for (const args of [['sessions', 'new'], ['--format', 'quiet', 'prompt', 'first'], ['--format', 'quiet', 'prompt', 'second']]) {
    const r = await run(...args);
    assert.equal(r.status, 0, `${args}: ${r.stderr}${r.stdout}`);
    if (args.includes('prompt')) {
      assert.ok(r.stdout.includes(args.at(-1)), r.stdout);
    }
  }
  const closed = await run('sessions', 'close');
  assert.equal(closed.status, 0, closed.stderr);
});

test('a cancel', async (t) => {
  const run = client(t, folder(t), folder(t), 'sh', { quiet: '2s' });
  await run('sessions', 'new');
  const running = run('prompt', 'while sleep 0.1; do echo on and on; done');
  let text = '';
  for await (const piece of run.stdout) { // up to its end
    text += piece;
    if (text.includes('\non and on')) {
      run('cancel');
    }
  }
  const r = await running;
  assert.ok(r.stdout.includes('cancelled'), r.stdout + r.stderr);
});

test('a session that another process has', async (t) => {
  const store = folder(t);
  const cwd = folder(t);
  const run = client(t, store, cwd);
  await run('sessions', 'new');
  assert.equal((await run('prompt', 'first')).status, 0);
  await connect(store, ['cat'], async (e) => {
    const { sessions: [{ sessionId }] } = await e.ask(agent.session.list, {});
    const load = () => e.ask(agent.session.load, { sessionId, cwd, mcpServers: [] });
    while (!await load().then(() => true, (err) => err.code !== -32010 && assert.fail(err.message))) {
      // acpx leaves its agent running for a second
    }
    const r = await run('prompt', 'second');
    assert.notEqual(r.status, 0);
    assert.ok((r.stdout + r.stderr).includes(`session is in use by pid ${e.pid} on `), r.stdout + r.stderr);
    assert.equal((await e.ask(agent.session.list, {})).sessions.length, 1, 'acpx has begun another session');
  });
});
