// A chat on any page:
//
//   <script src="https://chat.example.com/embed.js" data-agent="assistant" data-token="getToken" async></script>
//
// A button and a panel, with a frame of the installation that is made when the panel is first
// opened. docs/clients.md lists the data-… properties. window.palaver has open() and close().
(() => {
  const script = document.currentScript;
  const home = new URL(script.src).origin;
  const { token, agent, set, accent, theme, language, title = "Chat", side } = script.dataset;

  const styles = new CSSStyleSheet();
  styles.replaceSync(`
    :host { all: initial; --accent: #1c625c; color-scheme: light dark }
    button { position: fixed; bottom: 20px; inset-inline-end: 20px; z-index: 2147483000; width: 56px; height: 56px; padding: 0; border: 0; border-radius: 28px; background: var(--accent); color: #fff; cursor: pointer; box-shadow: 0 4px 16px rgb(0 0 0 / .25) }
    button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
    svg { width: 26px; height: 26px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
    div { position: fixed; bottom: 88px; inset-inline-end: 20px; z-index: 2147483000; width: min(400px, calc(100vw - 40px)); height: min(640px, calc(100dvh - 108px)); border-radius: 16px; overflow: hidden; background: Canvas; box-shadow: 0 8px 40px rgb(0 0 0 / .3) }
    div[hidden] { display: none }
    :host([data-side=start]) :is(button, div) { inset-inline: 20px auto }
    iframe { width: 100%; height: 100%; border: 0 }
    @media (max-width: 480px) { div { inset: 0; width: 100%; height: 100%; border-radius: 0 } }`);

  const host = document.createElement("palaver-chat");
  host.setAttribute("role", "region");
  host.setAttribute("aria-label", title);
  if (side === "start") host.dataset.side = side;
  if (CSS.supports("color", accent ?? "")) host.style.setProperty("--accent", accent);
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [styles];

  const panel = document.createElement("div");
  panel.id = "panel";
  panel.hidden = true;
  const button = document.createElement("button");
  button.type = "button";
  button.ariaLabel = title;
  button.ariaExpanded = "false";
  button.setAttribute("aria-controls", panel.id);
  const shape = (name, values) => Object.entries(values).reduce((made, [key, value]) => (made.setAttribute(key, value), made), document.createElementNS("http://www.w3.org/2000/svg", name));
  const glyph = shape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  glyph.append(shape("path", { d: "M21 12a8 8 0 0 1-8 8H4l1.6-3.2A8 8 0 1 1 21 12z" }));
  button.append(glyph);
  root.append(panel, button);

  let frame;
  /** Only our frame, and only while it shows a page of the installation, gets a message. */
  const tell = (message) => frame?.contentWindow?.postMessage({ palaver: 1, ...message }, home);

  function makeFrame() {
    frame = document.createElement("iframe");
    frame.title = title;
    frame.allow = "clipboard-write";
    frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads");
    frame.referrerPolicy = "origin";
    const look = Object.entries({ origin: location.origin, agent, set, accent, theme, language, title, token: token && "1" }).filter(([, value]) => value);
    frame.src = `${home}/embed?${new URLSearchParams(look)}`;
    panel.append(frame);
  }

  function show(open) {
    if (open && !frame) makeFrame();
    panel.hidden = !open;
    button.ariaExpanded = String(open);
    if (!open) return button.focus();
    frame.focus();
    tell({ type: "focus" });
  }

  async function giveToken(id) {
    let given;
    try {
      given = await window[token]();
    } catch {
      // The page cannot give one now: the frame asks again with its next request.
    }
    tell({ type: "token", id, token: typeof given === "string" ? given : undefined });
  }

  addEventListener("message", ({ source, origin, data }) => {
    if (!frame || source !== frame.contentWindow || origin !== home || data?.palaver !== 1) return;
    if (data.type === "close") show(false);
    if (data.type === "token" && token) giveToken(data.id);
  });
  button.addEventListener("click", () => show(panel.hidden));
  window.palaver = { open: () => show(true), close: () => show(false) };

  const place = () => document.body.append(host);
  if (document.body) place();
  else addEventListener("DOMContentLoaded", place);
})();
