import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { SearchResults, SessionInfo } from "../messages.ts";
import { request } from "./api.ts";
import { type Command, CommandPalette } from "./components/command-palette.tsx";
import { Confirmation } from "./components/dialog.tsx";
import { Button, EmptyState, StatusBadge } from "./components/elements.tsx";
import { Icon, type IconName } from "./components/icon.tsx";
import { Text } from "./components/text.tsx";
import { Toasts } from "./components/toasts.tsx";
import { type Page, PAGES } from "./pages/index.ts";
import { formatLink, navigate, route } from "./router.ts";
import { questions } from "./state/questions.ts";
import { connection, type StreamState } from "./state/events.ts";
import { logOut } from "./state/session.ts";
import { pageTitle } from "./state/title.ts";
import { selectTheme, type Theme, theme, THEMES } from "./state/theme.ts";
import { showError } from "./state/toasts.ts";

const isPaletteOpen = signal(false);

/** True on a narrow window while the navigation is shown. */
const isMenuOpen = signal(false);

/** The frame of all pages: navigation, command palette, messages, and the page that the address names. */
export function Layout({ info }: { readonly info: SessionInfo }) {
  const pages = PAGES.filter(({ isVisible }) => isVisible?.(info) ?? true);
  const { segments, query } = route.value;
  const [path = "", ...rest] = segments;
  const page = pages.find((each) => each.path === path);
  const title = page?.title ?? "Unknown page";
  const hasOwnHeading = page?.hasOwnHeading === true && rest.length > 0;

  useEffect(() => {
    if (!hasOwnHeading) pageTitle.value = title;
    isMenuOpen.value = false;
  }, [title, route.value]);
  useShortcut("k", () => (isPaletteOpen.value = true));

  return (
    <div class="frame">
      <Bar info={info} />
      <Navigation pages={pages} path={path} />
      <main id="content" class="content" tabIndex={-1}>
        {!hasOwnHeading && <h1>{title}</h1>}
        {page === undefined ? (
          <EmptyState icon="warning" title="This page does not exist">
            <a href="#/">Go to the overview</a>
          </EmptyState>
        ) : (
          <page.component key={page.path} info={info} segments={rest} query={query} />
        )}
      </main>
      <Toasts />
      <Confirmation />
      {isPaletteOpen.value && (
        <CommandPalette
          commands={[...pages.map(toCommand), ...createActions(info)]}
          find={findMethodCommands}
          onClose={() => (isPaletteOpen.value = false)}
        />
      )}
    </div>
  );
}

function Bar({ info }: { readonly info: SessionInfo }) {
  const skip = (event: Event): void => {
    event.preventDefault(); // the address names the page, not the element
    document.querySelector<HTMLElement>("#content")?.focus();
  };
  return (
    <>
      <a class="button button-primary skip-link" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <header class="bar">
        <button
          type="button"
          class="button button-quiet"
          aria-label="Menu"
          aria-expanded={isMenuOpen.value}
          aria-controls="navigation"
          onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
        >
          <Icon name="menu" />
        </button>
        <a class="brand" href="#/">
          <Logo />
          Skillgate
        </a>
        <button type="button" class="palette-button" onClick={() => (isPaletteOpen.value = true)}>
          <Icon name="search" />
          <span>Find</span>
          <kbd>Ctrl K</kbd>
        </button>
        <span role="status" aria-label="Connection to the server">
          {CONNECTION_BADGES[connection.value]}
        </span>
        <Account info={info} />
      </header>
    </>
  );
}

/** The drawing of icon.svg. */
function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M8 24V14a8 8 0 0 1 16 0v10M16 24V13" />
    </svg>
  );
}

/** The links to the pages; `path` is that of the page that is open. */
function Navigation({ pages, path }: { readonly pages: readonly Page[]; readonly path: string }) {
  return (
    <nav id="navigation" class={isMenuOpen.value ? "navigation navigation-open" : "navigation"} aria-label="Pages">
      <ul>
        {pages.map((page) => (
          <li key={page.path}>
            <a href={getPageLink(page)} aria-current={page.path === path ? "page" : undefined}>
              <Icon name={page.icon} />
              {page.title}
              {page.path === "approvals" && <QuestionCount />}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The number of calls that wait for an answer. */
function QuestionCount() {
  const count = questions.value.length;
  if (count === 0) return null;
  return (
    <span class="count">
      {count}
      <span class="visually-hidden"> waiting</span>
    </span>
  );
}

const CONNECTION_BADGES = {
  connecting: <StatusBadge tone="busy" label="Connecting" />,
  open: <StatusBadge tone="ok" label="Live" />,
  lost: <StatusBadge tone="bad" label="Reconnecting" />,
} as const satisfies Record<StreamState, unknown>;

const THEME_TITLES: Readonly<Record<Theme, string>> = { auto: "as the system", light: "light", dark: "dark" };
const THEME_ICONS: Readonly<Record<Theme, IconName>> = { auto: "contrast", light: "sun", dark: "moon" };

function getNextTheme(): Theme {
  return THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "auto";
}

function Account({ info }: { readonly info: SessionInfo }) {
  return (
    <div class="account">
      <Text in="span" class="account-name muted clip" value={info.caller} limit={40} />
      <Button
        label={`Colours: ${THEME_TITLES[theme.value]}`}
        tone="quiet"
        icon={THEME_ICONS[theme.value]}
        title={`Colours: ${THEME_TITLES[theme.value]}`}
        onClick={() => selectTheme(getNextTheme())}
      />
      {info.hasLogin && <Button label="Log out" tone="quiet" icon="logout" title="Log out" onClick={logOut} />}
    </div>
  );
}

/** Calls `run` at Ctrl or Command with a letter. */
function useShortcut(letter: string, run: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
      if (key.toLowerCase() !== letter || !(ctrlKey || metaKey) || shiftKey || altKey) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function getPageLink({ path }: Page): string {
  return formatLink(path === "" ? [] : [path]);
}

function toCommand(page: Page): Command {
  return { id: `page ${page.path}`, title: page.title, icon: page.icon, run: () => navigate(getPageLink(page)) };
}

function createActions({ hasLogin }: SessionInfo): readonly Command[] {
  const themes = THEMES.map((each): Command => ({
    id: `theme ${each}`,
    title: `Colours: ${THEME_TITLES[each]}`,
    icon: THEME_ICONS[each],
    run: () => selectTheme(each),
  }));
  const out: Command = { id: "logout", title: "Log out", icon: "logout", run: () => void logOut().catch(showError) };
  return hasLogin ? [...themes, out] : themes;
}

/** Finds methods for the command palette. An error finds none. */
async function findMethodCommands(text: string): Promise<readonly Command[]> {
  try {
    const { results } = await request<SearchResults>(`/search?limit=8&q=${encodeURIComponent(text)}`);
    return results.map(({ path }) => ({
      id: `method ${path}`,
      title: path,
      icon: "methods",
      run: () => navigate(formatLink(["methods", path])),
    }));
  } catch {
    return []; // the pages remain
  }
}
