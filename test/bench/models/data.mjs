// The data behind the tools of the tasks. Servers and expected answers are made from it.

export const ORDERS = Array.from({ length: 90 }, (_, n) => ({
  id: `o${n + 1}`,
  status: ["completed", "open", "cancelled"][n % 3],
  total: 10 + ((n * 7) % 40),
}));

export const ACCOUNTS = ["a1", "a2", "a3", "a4"].map((id, n) => ({
  id,
  plan_details: { seats_licensed: 10 * (n + 1), seats_in_use: 6 + 4 * n },
  contact: { email: `${id}@example.com` },
}));

export const TICKETS = Array.from({ length: 12 }, (_, n) => ({
  key: `T-${n + 1}`,
  assignee: n % 2 === 0 ? "mara" : "joel",
  hours_spent: 1 + (n % 5),
}));

export const LOG = Array.from({ length: 1_500 }, (_, n) => ({
  time: new Date(Date.UTC(2026, 0, 5, 0, 0, n * 20)).toISOString(),
  level: n % 50 === 7 ? "error" : "info",
  text: `request ${n} took ${5 + ((n * 13) % 90)} ms`,
}));

export const PRICES = new Map(Array.from({ length: 100 }, (_, n) => [`sku-${n + 1}`, 3 + ((n * 11) % 17)]));

export const EVENTS = Array.from({ length: 40 }, (_, n) => ({
  day: `202601${String(1 + (n % 28)).padStart(2, "0")}`,
  minutes: 15 * (1 + (n % 4)),
}));

export const CSV = [
  "city,visits",
  ...["Rome", "Oslo", "Lima", "Cairo"].map((city, n) => `${city},${12 * (n + 2)}`),
].join("\n");

export const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
