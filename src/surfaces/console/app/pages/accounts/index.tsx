import type { AccountsAnswer, AccountSummary } from "../../../messages.ts";
import { Card, EmptyState } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Text, Time } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { AccountDrawer, ConnectionState } from "./account-drawer.tsx";
import { ServerLogins } from "./server-logins.tsx";

/** The accounts of the settings with the connections that the reader may see, and what the reader may do with them. */
export function AccountsPage({ info, segments: [name, owner] }: PageProps) {
  return (
    <Card title="Accounts">
      <Load<AccountsAnswer> path="/accounts" reloadOn={["accounts", "servers", "catalog"]} lines={3}>
        {({ accounts, logins }) => {
          const account = accounts.find((each) => each.name === name && (each.owner ?? undefined) === owner);
          return (
            <>
              <AccountList accounts={accounts} />
              {logins.length > 0 && <ServerLogins logins={logins} />}
              {account !== undefined && (
                <AccountDrawer
                  key={`${name} ${owner}`}
                  account={account}
                  mayConnectOthers={info.admin.includes("ManageServers")}
                  onClose={() => navigate(formatLink(["accounts"]))}
                />
              )}
            </>
          );
        }}
      </Load>
    </Card>
  );
}

function AccountList({ accounts }: { readonly accounts: readonly AccountSummary[] }) {
  if (accounts.length === 0)
    return (
      <EmptyState icon="accounts" title="No accounts">
        APIs, MCP servers and skills make requests with an account, whose credential no program sees. The owner adds
        one: <code>skillgate account add notes --type bearer</code>
      </EmptyState>
    );
  return (
    <ul class="list">
      {accounts.map((account) => {
        const { name, owner, ownerName, type, label, skills, lastUsed } = account;
        const facts = [type ?? "not in the settings", label ?? "", skills.join(", ")].filter((each) => each !== "");
        return (
          <li key={`${name} ${owner}`} class="list-row">
            <span class="list-main">
              <Text
                href={formatLink(["accounts", name, ...(owner === null ? [] : [owner])])}
                value={`${name} (${ownerName})`}
                limit={100}
              />
              <Text in="span" class="muted wide-only" value={facts.join(" · ")} limit={200} />
              {account.reason !== null && <Text in="span" class="muted line" value={account.reason} limit={300} />}
            </span>
            {lastUsed !== null && (
              <span class="muted wide-only">
                used <Time at={lastUsed} />
              </span>
            )}
            <ConnectionState account={account} />
          </li>
        );
      })}
    </ul>
  );
}
