// What a session looks like in words: shared by the list, the head and the title.

/** Text in which characters that do something to others, or hide, are shown by their code. */
export const visible = (text) => text.replace(/(?!\u200d)\p{C}/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

/** The name that people gave it, or the program's. */
export function title(session) {
  return visible(session.name || program(session));
}

/** The program without its folder. */
export function program(session) {
  return (session.argv?.[0] ?? '').split('/').at(-1) || 'session';
}

/** The command line as one would type it. */
export function commandLine(session) {
  return visible((session.argv ?? []).map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`)).join(' '));
}

/** Live here or in another process: its program runs. */
export function isLive(session) {
  return Boolean(session.live || session.holder);
}

/** The state, with what is worth knowing beside it. */
export function stateText(session) {
  switch (session.state) {
    case 'ended':
      if (session.signal) return `ended by SIG${session.signal.replace(/^SIG/, '')}`;
      return session.exit_code ? `ended with exit code ${session.exit_code}` : 'ended';
    case 'interrupted':
      if (session.cause === 'gateway_crash') return 'interrupted: what had it crashed';
      return session.cause === 'gateway_shutdown' ? 'interrupted: what had it was closed' : 'interrupted';
    case 'unreadable':
      return visible(`unreadable: ${session.reason}`);
    default:
      return session.state;
  }
}

/** The kind of its state, for colours: running, idle, off, failed or attention. */
export function tone(session) {
  switch (session.state) {
    case 'running':
    case 'idle':
      return session.state;
    case 'pending':
    case 'interrupted':
      return 'attention';
    case 'stopped':
      return 'off';
    case 'ended':
      return session.exit_code || session.signal ? 'failed' : 'off';
    default:
      return 'failed';
  }
}

/** Who has it, if another process does, and since when. */
export function holderLine({ holder }) {
  if (!holder) {
    return '';
  }
  if (!holder.pid) {
    return 'in use by another process';
  }
  const pad = (n) => String(n).padStart(2, '0');
  const at = new Date(holder.since);
  const day = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())].join('-');
  const time = [pad(at.getHours()), pad(at.getMinutes()), pad(at.getSeconds())].join(':');
  return `in use by pid ${holder.pid} on ${holder.host} since ${day} ${time}`;
}

/** How long ago, short. */
export function ago(time) {
  const seconds = (Date.now() - Date.parse(time)) / 1000;
  if (!(seconds >= 10)) return 'now'; // also for a clock that is ahead
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

/** A number of bytes. */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1024 * 1000) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** How many turns it has, if any. */
export const turnCount = ({ turns }) => (turns ? `${turns} ${turns === 1 ? 'turn' : 'turns'}` : '');
