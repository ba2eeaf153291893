import { useSignal } from "@preact/signals";

import type { AuditCheck } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Button } from "../../components/elements.tsx";
import { countOf, formatCount, Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";

/** The check of the chain, and the downloads of the records that the filter selects. */
export function AuditTools({ parameters }: { readonly parameters: string }) {
  const check = useSignal<AuditCheck | undefined>(undefined);
  const isBusy = useSignal(false);
  const verify = async (): Promise<void> => {
    isBusy.value = true;
    try {
      check.value = await request<AuditCheck>("/audit/verify", { method: "POST", body: {} });
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <div class="row">
        <Button label="Verify" disabled={isBusy.value} onClick={verify} />
        <a class="button" href={createAddress("jsonl", parameters)} download>
          Export JSON lines
        </a>
        <a class="button" href={createAddress("csv", parameters)} download>
          Export CSV
        </a>
      </div>
      {check.value !== undefined && <CheckNotice check={check.value} />}
    </>
  );
}

function createAddress(format: "csv" | "jsonl", parameters: string): string {
  const query = new URLSearchParams(parameters);
  query.set("format", format);
  return `/console/api/audit/export?${query}`;
}

function CheckNotice({ check }: { readonly check: AuditCheck }) {
  if (check.kind === "broken")
    return (
      <div class="notice notice-error" role="alert">
        <Text in="p" class="notice-title" value={check.says} />
        <p>
          The records before it are as they were written.{" "}
          <a href={formatLink(["audit", String(check.seq)])}>Open record {formatCount(check.seq)}</a>
        </p>
      </div>
    );
  return (
    <p class="notice" role="status">
      {check.records === 0
        ? "The audit log has no records."
        : `All is well: ${countOf(check.records, "record")}, each in its place, and ${countOf(check.heads, "signed head")}.`}
    </p>
  );
}
