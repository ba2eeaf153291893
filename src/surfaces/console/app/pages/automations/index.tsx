import type { ComponentChildren } from "preact";

import { Card } from "../../components/elements.tsx";
import { formatLink } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { AutomationCalendarView } from "./calendar.tsx";
import { AutomationDetailView } from "./detail.tsx";
import { AutomationListView } from "./list.tsx";

/** The automations as a list or as a calendar of the week, or one of them. */
export function AutomationsPage({ info, segments: [name], query }: PageProps) {
  const mayChange = info.admin.includes("ManageServers");
  if (name !== undefined) return <AutomationDetailView key={name} name={name} mayChange={mayChange} />;
  const isCalendar = query.get("view") === "calendar";
  return (
    <Card title={isCalendar ? "Calendar" : "Automations"} actions={<Views isCalendar={isCalendar} />}>
      {isCalendar ? <AutomationCalendarView /> : <AutomationListView />}
    </Card>
  );
}

function Views({ isCalendar }: { readonly isCalendar: boolean }) {
  return (
    <nav class="row" aria-label="Views of the automations">
      <View href={formatLink(["automations"])} isCurrent={!isCalendar}>
        List
      </View>
      <View href={formatLink(["automations"], { view: "calendar" })} isCurrent={isCalendar}>
        Calendar
      </View>
    </nav>
  );
}

interface ViewProps {
  readonly href: string;
  readonly isCurrent: boolean;
  readonly children: ComponentChildren;
}

function View({ href, isCurrent, children }: ViewProps) {
  return (
    <a class="button button-small" href={href} aria-current={isCurrent ? "page" : undefined}>
      {children}
    </a>
  );
}
