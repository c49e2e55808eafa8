// What the tests of real clients share: the agent as a process, and a client on
// the protocol's own library.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';

export const holdfast = process.env.HOLDFAST;

// repl answers each line; "bye" ends it.
export const repl = 'while printf "> " && read -r l; do [ "$l" = bye ] && exit 3; echo "you said: $l"; done';

export const agent = methods.agent;

export function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'hfa'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

// connect starts an agent and calls use with what a client has of it. It ends
// as an editor ends it: by closing its standard input.
export async function connect(store, argv, use) {
  const child = spawn(holdfast, ['acp', '--store', store, '--quiet', '300ms', '--log-level', 'warn', '--', ...argv], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, SHELL: '/bin/sh', PS1: '$ ' },
  });
  const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })));
  const updates = [];
  const news = new EventEmitter();
  const app = client({ name: 'test' }).onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params);
    news.emit('update');
  });
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  await app.connectWith(stream, async (ctx) => {
    const info = await ctx.request(agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const editor = {
      ctx, info, pid: child.pid,
      ask: (method, params, options) => ctx.request(method, params, options),
      open: async (cwd) => (await ctx.request(agent.session.new, { cwd, mcpServers: [] })).sessionId,
      // told is what was sent of a session since the last call.
      told: (sessionId) => {
        const mine = updates.filter((u) => u.sessionId === sessionId).map((u) => u.update);
        updates.length = 0;
        return mine;
      },
      // shows waits until the text of a session has what a pattern matches.
      shows: async (sessionId, pattern) => {
        while (!pattern.test(textOf(updates.filter((u) => u.sessionId === sessionId).map((u) => u.update)))) {
          await once(news, 'update');
        }
      },
      prompt: async (sessionId, text) => {
        const { stopReason } = await ctx.request(agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
        return { stopReason, text: textOf(editor.told(sessionId)) };
      },
    };
    await use(editor);
  });
  child.stdin.end();
  assert.deepEqual(await ended, { code: 0, signal: null }, 'the agent ends well');
}

export function textOf(updates) {
  return updates.filter((u) => u.sessionUpdate === 'agent_message_chunk').map((u) => u.content.text).join('');
}

// refused awaits a refusal and returns it.
export async function refused(promise, code) {
  const err = await promise.then((r) => assert.fail(`not refused: ${JSON.stringify(r)}`), (e) => e);
  assert.equal(err.code, code, err.message);
  return err;
}
