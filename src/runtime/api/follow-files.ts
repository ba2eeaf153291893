import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";

import { POLICY_FILES, trustFile } from "../../config/index.ts";
import { getMessage } from "../../errors.ts";
import { describeHeld } from "../../model/provider.ts";
import { watchFile } from "../../shared/watch-file.ts";
import { reloadSettings, watchSettings } from "../skill-admin.ts";
import type { RuntimeParts } from "./parts.ts";
import { reloadServers } from "./servers.ts";

/** Follows changes of the settings and the policy, if the runtime watches its files. */
export function followFiles(parts: RuntimeParts): () => void {
  const { settings, policy, log } = parts;
  if (settings.watch)
    policy.watch({
      onApplied: () => log("info", "The changed policy is in force"),
      onBroken: (why) => log("warn", `Cannot use the changed policy: ${why}`),
      whyHeld: () => whyPolicyHeld(parts),
    });
  const stops = [watchSettings(parts), watchServers(parts), watchTrust(parts)];
  return () => {
    for (const stop of stops) stop();
    policy.close();
  };
}

async function whyPolicyHeld({ trust }: RuntimeParts): Promise<string | undefined> {
  for (const file of POLICY_FILES) {
    const why = await trust.whyHeld(file);
    if (why !== undefined) return describeHeld(file, why);
  }
  return undefined;
}

/** Starts, stops and holds the servers of a project as its files say now. */
function watchServers(parts: RuntimeParts): () => void {
  const { options, settings, log } = parts;
  if (!settings.watch || options.discover !== true) return () => {};
  const warn = (error: unknown): void => log("warn", `Cannot take up the MCP servers: ${getMessage(error)}`);
  const files = [".mcp.json", "mcp.json"].map((name) => resolve(options.cwd ?? ".", name));
  const stops = files.map((file) => watchFile(file, () => void reloadServers(parts).catch(warn), warn));
  return () => {
    for (const stop of stops) stop();
  };
}

/** Uses what was held as soon as the user trusts it, with a command beside this process. */
function watchTrust(parts: RuntimeParts): () => void {
  const { watch, trust, env } = parts.settings;
  if (!watch || trust === undefined) return () => {};
  const warn = (error: unknown): void => parts.log("warn", `Cannot follow the trust of projects: ${getMessage(error)}`);
  const file = trustFile(env, env["HOME"] ?? homedir());
  const reload = async (): Promise<void> => {
    await reloadSettings(parts);
    parts.policy.reload();
    await parts.providers.reloadSkills();
    await reloadServers(parts);
  };
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  } catch (error) {
    warn(error);
    return () => {};
  }
  return watchFile(file, () => void reload().catch(warn), warn);
}
