/** The shapes of icons on a grid of 24, drawn with strokes. */
const SHAPES = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 4v3h6V4z",
  servers: "M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01",
  apis: "M8 5l-5 7 5 7M16 5l5 7-5 7M13.500 4l-3 16",
  accounts: "M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 20c0-3.500 3.600-5 8-5s8 1.500 8 5",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM20 20l-4-4",
  methods: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  playground: "M7 5l11 7-11 7z",
  automations: "M4 11a8 8 0 0 1 14-4l2 2M20 4v5h-5M20 13a8 8 0 0 1-14 4l-2-2M4 20v-5h5",
  runs: "M12 4a8 8 0 1 1-8 8M4 4v4h4M12 8v4l3 2",
  refusals: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM6.400 6.400l11.200 11.200",
  approvals: "M5 12l4 4L19 6",
  audit: "M6 3h9l4 4v14H6zM9 11h7M9 15h7",
  keys: "M14 10a4 4 0 1 0-3.5 4L13 16.500h2v2h2v2h3v-3.500L14 11z",
  connect: "M9 3v6M15 3v6M6 9h12v3a6 6 0 0 1-12 0zM12 18v3",
  policy: "M12 3l8 3v6c0 4.500-3.200 7.700-8 9-4.800-1.300-8-4.500-8-9V6z",
  chat: "M4 5h16v11H9l-5 4z",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4",
  store:
    "M4 6c0-1.500 3.600-3 8-3s8 1.500 8 3-3.600 3-8 3-8-1.500-8-3zM4 6v12c0 1.500 3.600 3 8 3s8-1.500 8-3V6M4 12c0 1.500 3.600 3 8 3s8-1.500 8-3",
  machines: "M3 5h12v9H3zM6 18h6M9 14v4M18 8h3v11h-6",
  log: "M5 4h14v16H5zM8 8h8M8 12h8M8 16h5",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.400 1.400M17.600 17.600L19 19M19 5l-1.400 1.400M6.400 17.600L5 19",
  moon: "M20 14a8 8 0 1 1-10-10 6.500 6.500 0 0 0 10 10z",
  contrast: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM12 4v16M15 5.500v13M18 8v8",
  logout: "M10 4H5v16h5M14 8l4 4-4 4M8 12h10",
  chevron: "M9 6l6 6-6 6",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
} as const;

export type IconName = keyof typeof SHAPES;

/** A decorative icon; its text stands beside it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={SHAPES[name]} />
    </svg>
  );
}
