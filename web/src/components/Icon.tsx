const paths = {
  menu: "M4 7h16M4 12h16M4 17h10",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  trash: "M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12M10.5 11v5M13.5 11v5",
  doc: "M7 4h7l4 4v12H7zM14 4v4h4M10 13h5M10 16h5",
  docs: "M9 4h6l4 4v9H9zM15 4v4h4M15 17v3H5V8h4",
  up: "M12 19V6M6 12l6-6 6 6",
  stop: "M7 7h10v10H7z",
  at: "M15.5 12a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0Zm0 0v1.2c0 1.5 1 2.3 2.1 2.3 1.6 0 2.4-1.6 2.4-3.5a8 8 0 1 0-3.2 6.4",
  globe: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16ZM4.5 9.5h15M4.5 14.5h15M12 4c-5 5-5 11 0 16M12 4c5 5 5 11 0 16",
  upload: "M12 16V5M7.5 9.5L12 5l4.5 4.5M5 15v4h14v-4",
  set: "M4 8l8-4 8 4-8 4zM4 12l8 4 8-4M4 16l8 4 8-4",
  spark: "M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8z",
  link: "M10 6H6v12h12v-4M13 5h6v6M19 5l-8 8",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, className = "size-5" }: { name: IconName; className?: string }) {
  return (
    <svg viewBox="0 0 24 24" className={`${className} shrink-0`} fill={name === "stop" ? "currentColor" : "none"} stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
