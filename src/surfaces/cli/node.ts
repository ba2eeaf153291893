import type { CliCommand, CommandResult } from "./command.ts";
import { writeNewFile } from "./input/write-files.ts";
import { openNetwork } from "./commands/open-network.ts";
import type { CliSession } from "./session.ts";
import { waitForInterruption } from "./terminal/interruption.ts";
import { shownPath } from "./text/layout.ts";
import { withoutGaps } from "../../shared/json/without-gaps.ts";

interface JoinFlags {
  readonly name?: string;
  readonly credentials?: string;
  readonly key?: string;
  readonly offer?: readonly string[];
}

export function addNode(program: CliCommand): void {
  const node = program.command("node").description("offer the skills of this machine to others, over NATS");
  node
    .command("join")
    .description("offer skills to a network until Ctrl-C; others call them as devices.name.Skill.method()")
    .argument("[url]", "the NATS server, nats://host:4222 (default: nodes.url of the settings)")
    .option("--name <name>", "the name of this machine (default: nodes.name of the settings, else the host name)")
    .option("--credentials <file>", "a file of NATS credentials")
    .option("--key <file>", "the private key of this machine, from skillgate node key")
    .option("--offer <patterns...>", "methods to offer, as Skill.* (default: all skills, no MCP servers)")
    .addHelpText("after", JOIN_HELP)
    .run(join);
  node
    .command("key")
    .description("create the key of a machine, and show its public part")
    .argument("<file>", "a new file that only you can read")
    .run((_, file: string) => createKey(file));
}

const JOIN_HELP = `
Examples:
  skillgate node join nats://hub:4222 --name "Kitchen PC"
  skillgate node join nats://hub:4222 --offer MusicSkill.* FilesystemMCP.read_text_file`;

async function join(session: CliSession, url: string | undefined, flags: JoinFlags): Promise<CommandResult> {
  const { settings, log, runtime } = await openNetwork(session, "nodes", withoutGaps({ ...flags, url }));
  const { joinNetwork } = await import("../../providers/nodes/index.ts");
  const membership = await joinNetwork({
    settings,
    runtime,
    warn: (text) => log.listener("warn", text),
    onState: (text) => log.say(`${settings.title}: ${text}`),
  });
  await waitForInterruption(session.signal);
  await membership.leave();
  return { json: {}, text: "" };
}

async function createKey(file: string): Promise<CommandResult> {
  const { generateKeyPairSync } = await import("node:crypto");
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  await writeNewFile(file, privateKey.export({ format: "pem", type: "pkcs8" }).toString(), { isPrivate: true });
  const text = publicKey.export({ format: "der", type: "spki" }).toString("base64url");
  return {
    json: { file, publicKey: text },
    text: `Wrote the private key to ${shownPath(file)}\nPublic key, for nodes.peers on other machines: ${text}`,
  };
}
