/** Lets a debugger attach to the processes of skills. While it is on, skills have no time limits. */
export interface SkillInspector {
  /** Receives the URL of the inspector of each process, as `ws://127.0.0.1:port/id`. */
  readonly onListening: (url: string) => void;
  /** Processes wait for a debugger before they import skills. Off by default. */
  readonly wait?: boolean;
}

/** The flags of Node for a process that listens on a free port of this machine. */
export function getInspectorFlags(inspector: SkillInspector | undefined): readonly string[] {
  if (inspector === undefined) return [];
  return [`--inspect${inspector.wait === true ? "-wait" : ""}=127.0.0.1:0`];
}

const NOTICES =
  /^(?:For help, see: https:\/\/nodejs\.org|Debugger attached\.|Debugger ending on|Waiting for the debugger )/;

/** Takes the lines that Node prints about the inspector. Returns false for any other line. */
export function takeInspectorLine(line: string, inspector: SkillInspector | undefined): boolean {
  if (inspector === undefined) return false;
  const [, url] = /^Debugger listening on (ws:\/\/127\.0\.0\.1:\d+\/[\w-]+)$/.exec(line) ?? [];
  if (url !== undefined) inspector.onListening(url);
  return url !== undefined || NOTICES.test(line);
}
