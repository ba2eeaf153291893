import type { ComponentType } from "preact";

import type { SessionInfo } from "../../messages.ts";
import type { IconName } from "../components/icon.tsx";
import { AccountsPage } from "./accounts/index.tsx";
import { ApisPage } from "./apis/index.tsx";
import { AuditPage } from "./audit/index.tsx";
import { AutomationsPage } from "./automations/index.tsx";
import { ConnectPage } from "./connect.tsx";
import { KeysPage } from "./keys/index.tsx";
import { createLazyPage } from "./lazy-page.tsx";
import { ApprovalsPage } from "./approvals/index.tsx";
import { MethodsPage } from "./methods/index.tsx";
import { OverviewPage } from "./overview.tsx";
import { PolicyPage } from "./policy/index.tsx";
import { RefusalsPage } from "./refusals.tsx";
import { RunsPage } from "./runs/index.tsx";
import { SearchPage } from "./search.tsx";
import { ServersPage } from "./servers/index.tsx";
import { LogPage } from "./system/log.tsx";
import { MachinesPage } from "./system/machines.tsx";
import { SettingsPage } from "./system/settings.tsx";
import { StorePage } from "./system/store.tsx";

/** Properties of every page. */
export interface PageProps {
  readonly info: SessionInfo;
  /** The segments of the address behind the path of the page: `["filesystem"]` of `#/servers/filesystem`. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** A page of the console. */
export interface Page {
  /** The first segment of its address; empty for the first page. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly component: ComponentType<PageProps>;
  /** True if the page has a heading of its own where the address names more than the page. */
  readonly hasOwnHeading?: true;
  /** Hides the page from callers that may not use it; default: shown to all. */
  readonly isVisible?: (info: SessionInfo) => boolean;
}

/** These two have large libraries: the editor, and the reader of Markdown. */
const PlaygroundPage = createLazyPage(async () => (await import("./playground/index.tsx")).PlaygroundPage);
const ChatPage = createLazyPage(async () => (await import("./chat/index.tsx")).ChatPage);

const isAdmin = ({ admin }: SessionInfo): boolean => admin.length > 0;

/** The pages in the order of the navigation. A new page needs one entry here. */
export const PAGES: readonly Page[] = [
  { path: "", title: "Overview", icon: "overview", component: OverviewPage },
  { path: "servers", title: "Skills and servers", icon: "servers", component: ServersPage },
  { path: "apis", title: "APIs", icon: "apis", component: ApisPage, isVisible: isAdmin },
  { path: "accounts", title: "Accounts", icon: "accounts", component: AccountsPage },
  { path: "connect", title: "Connect", icon: "connect", component: ConnectPage },
  { path: "search", title: "Search", icon: "search", component: SearchPage },
  { path: "methods", title: "Methods", icon: "methods", component: MethodsPage },
  { path: "playground", title: "Playground", icon: "playground", component: PlaygroundPage },
  { path: "runs", title: "Runs", icon: "runs", component: RunsPage, hasOwnHeading: true },
  {
    path: "automations",
    title: "Automations",
    icon: "automations",
    component: AutomationsPage,
    hasOwnHeading: true,
    isVisible: isAdmin,
  },
  { path: "refusals", title: "Refusals", icon: "refusals", component: RefusalsPage },
  { path: "approvals", title: "Approvals", icon: "approvals", component: ApprovalsPage },
  {
    path: "chat",
    title: "Chat",
    icon: "chat",
    component: ChatPage,
    isVisible: ({ admin }) => admin.includes("ManageRuns"),
  },
  { path: "audit", title: "Audit", icon: "audit", component: AuditPage, isVisible: isAdmin },
  { path: "keys", title: "Keys", icon: "keys", component: KeysPage, isVisible: isAdmin },
  {
    path: "policy",
    title: "Policy",
    icon: "policy",
    component: PolicyPage,
    isVisible: isAdmin,
  },
  { path: "settings", title: "Settings", icon: "settings", component: SettingsPage, isVisible: isAdmin },
  { path: "store", title: "Store", icon: "store", component: StorePage, isVisible: isAdmin },
  { path: "machines", title: "Machines", icon: "machines", component: MachinesPage, isVisible: isAdmin },
  { path: "log", title: "Server log", icon: "log", component: LogPage, isVisible: isAdmin },
];
