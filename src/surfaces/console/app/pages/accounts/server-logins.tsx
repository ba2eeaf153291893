import type { ServerLoginSummary } from "../../../messages.ts";
import { request } from "../../api.ts";
import { askToConfirm } from "../../components/dialog.tsx";
import { Button } from "../../components/elements.tsx";
import { Text } from "../../components/text.tsx";
import { announceChange } from "../../state/announce-change.ts";

/** The logins at MCP servers that the reader may see. A login is made with `skillgate mcp login`. */
export function ServerLogins({ logins }: { readonly logins: readonly ServerLoginSummary[] }) {
  return (
    <>
      <h3>Logins at MCP servers</h3>
      <ul class="list">
        {logins.map((login) => (
          <li key={`${login.server} ${login.owner}`} class="list-row">
            <span class="list-main">
              <Text value={`${login.server} (${login.ownerName})`} limit={200} />
              {login.kind !== "server" && <Text in="span" class="muted" value={login.kind} limit={100} />}
            </span>
            <Button
              label="Remove"
              tone="danger"
              title={`Remove the login at ${login.server}`}
              onClick={() => remove(login)}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

async function remove({ server, owner, ownerName }: ServerLoginSummary): Promise<void> {
  const text = `The login at ${server} for ${ownerName} is deleted here. Its tokens may still be valid there until they end.`;
  if (!(await askToConfirm({ title: "Remove the login?", text, confirm: "Remove" }))) return;
  await request("/logins/remove", { method: "POST", body: { server, owner } });
  announceChange(`The login at ${server} is removed`, "accounts");
}
