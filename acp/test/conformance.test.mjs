// The agent against the protocol's own library, which checks what it gets by
// the protocol's schema.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, connect, folder, refused, repl, textOf } from './harness.mjs';

test('initialize', async (t) => {
  await connect(folder(t), ['cat'], async (e) => {
    assert.equal(e.info.protocolVersion, 1);
    assert.equal(e.info.agentCapabilities.loadSession, true);
    for (const name of ['list', 'resume', 'close', 'delete']) {
      assert.deepEqual(e.info.agentCapabilities.sessionCapabilities[name], {}, name);
    }
    await refused(e.ask('session/nonesuch', {}), -32601);
    await refused(e.ask(agent.session.load, { sessionId: 'x', cwd: '/', mcpServers: [] }), -32002);
  });
});

test('new, prompt, load, resume, list, close, delete', async (t) => {
  const store = folder(t);
  const cwd = folder(t);
  let id;
  await connect(store, ['sh', '-c', repl], async (e) => {
    id = await e.open(cwd);
    assert.deepEqual(await e.prompt(id, 'one'), { stopReason: 'end_turn', text: '> \nyou said: one\n> ' });
    assert.deepEqual(await e.prompt(id, 'two'), { stopReason: 'end_turn', text: 'you said: two\n> ' });
    assert.equal((await e.prompt(id, 'bye')).stopReason, 'end_turn');
    await refused(e.prompt(id, 'three'), -32600);
  });
  await connect(store, ['cat'], async (e) => {
    const { sessions } = await e.ask(agent.session.list, { cwd });
    assert.deepEqual(sessions.map((s) => [s.sessionId, s.cwd]), [[id, cwd]]);
    assert.ok(sessions[0].title.startsWith('sh -c'));
    assert.ok(!Number.isNaN(Date.parse(sessions[0].updatedAt)));

    const loaded = await e.ask(agent.session.load, { sessionId: id, cwd, mcpServers: [] });
    assert.equal(loaded.configOptions[0].currentValue, '(none)');
    const told = e.told(id);
    assert.deepEqual(told.filter((u) => u.sessionUpdate === 'user_message_chunk').map((u) => u.content.text), ['one', 'two', 'bye']);
    assert.equal(textOf(told), '> you said: one\n> you said: two\n> ');
    assert.ok((await e.prompt(id, 'three')).text.endsWith('you said: three\n> '));

    await e.ask(agent.session.close, { sessionId: id });
    await refused(e.prompt(id, 'four'), -32600);
    await e.ask(agent.session.resume, { sessionId: id, cwd, mcpServers: [] });
    assert.deepEqual(e.told(id), []);
    assert.ok((await e.prompt(id, 'four')).text.endsWith('you said: four\n> '));

    const set = await e.ask(agent.session.setConfigOption, { sessionId: id, configId: 'profile', value: 'shell' });
    assert.equal(set.configOptions[0].currentValue, 'shell');
    assert.ok((await e.prompt(id, 'echo $((6*7))')).text.includes('42'));

    const fork = await e.ask('session/fork', { sessionId: id, cwd, mcpServers: [] });
    assert.ok((await e.prompt(fork.sessionId, 'echo $((6*8))')).text.includes('48'));
    await e.ask(agent.session.delete, { sessionId: id });
    await e.ask(agent.session.delete, { sessionId: id });
    await refused(e.ask(agent.session.load, { sessionId: id, cwd, mcpServers: [] }), -32002);
    assert.deepEqual((await e.ask(agent.session.list, {})).sessions.map((s) => s.sessionId), [fork.sessionId]);
  });
});

test('no cancel is lost that closely follows its prompt', async (t) => {
  await connect(folder(t), ['sh', '-c', repl], async (e) => {
    const sessionId = await e.open(folder(t));
    for (let i = 0; i < 200; i++) {
      const prompt = e.ask(agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: `prompt ${i}` }] });
      await e.ctx.notify(agent.session.cancel, { sessionId });
      assert.deepEqual(await prompt, { stopReason: 'cancelled' }, `prompt ${i}`);
    }
    assert.equal((await e.prompt(sessionId, 'still here')).stopReason, 'end_turn');
  });
});

test('a cancel interrupts what runs', async (t) => {
  await connect(folder(t), ['sh'], async (e) => {
    const sessionId = await e.open(folder(t));
    await e.prompt(sessionId, 'true');
    for (const command of ['sleep 1000', 'yes']) {
      for (const byRequest of [false, true]) {
        const stop = new AbortController();
        e.told(sessionId);
        const running = e.ask(agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: `echo beg""un; ${command}` }] }, { cancellationSignal: stop.signal });
        await e.shows(sessionId, /begun/);
        if (byRequest) {
          stop.abort();
        } else {
          await e.ctx.notify(agent.session.cancel, { sessionId });
        }
        assert.deepEqual(await running, { stopReason: 'cancelled' }, command);
      }
    }
    assert.ok((await e.prompt(sessionId, 'echo $((6*7))')).text.includes('42'));
  });
});

test('a session is held in the one connection and refused in the other', async (t) => {
  const store = folder(t);
  const cwd = folder(t);
  await connect(store, ['sh', '-c', repl], async (mine) => {
    const sessionId = await mine.open(cwd);
    await mine.prompt(sessionId, 'one');
    await connect(store, ['cat'], async (other) => {
      for (const method of [agent.session.load, agent.session.resume, agent.session.delete]) {
        const err = await refused(other.ask(method, { sessionId, cwd, mcpServers: [] }), -32010);
        assert.equal(err.data.holder.pid, mine.pid);
        assert.ok(err.message.startsWith(`session is in use by pid ${mine.pid} on `), err.message);
      }
      await mine.ask(agent.session.close, { sessionId });
      await other.ask(agent.session.load, { sessionId, cwd, mcpServers: [] });
      const err = await refused(mine.ask(agent.session.load, { sessionId, cwd, mcpServers: [] }), -32010);
      assert.equal(err.data.holder.pid, other.pid);
    });
    await mine.ask(agent.session.resume, { sessionId, cwd, mcpServers: [] });
    assert.ok((await mine.prompt(sessionId, 'back')).text.endsWith('you said: back\n> '));
  });
});
