import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { pageTitle } from "../state/title.ts";
import { Text } from "./text.tsx";

interface HeadingProps {
  readonly title: string;
  /** The page that this one belongs to. */
  readonly back: { readonly title: string; readonly href: string };
  /** Links and buttons beside the title. */
  readonly children?: ComponentChildren;
}

/** The heading of a part of a page, with the way back. */
export function Heading({ title, back, children }: HeadingProps) {
  useEffect(() => void (pageTitle.value = title));
  return (
    <header class="row heading">
      <div>
        <a class="small" href={back.href}>
          ← {back.title}
        </a>
        <h1>
          <Text value={title} limit={200} />
        </h1>
      </div>
      {children}
    </header>
  );
}
